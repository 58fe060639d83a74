"""System calls that reach other processes, namespaces or the host are denied; others work."""

from collections.abc import Callable

from agon.runners.containers.system_calls import profile
from runners.containers.course import Course
from runners.containers.forgery import Kind

PROGRAM = """\
import ctypes, os, resource, socket, subprocess, threading
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, call):
    try:
        ended = call()
    except OSError:
        ended = -1
    print(name, "denied" if ended == -1 else "works")
child = subprocess.Popen(["sleep", "60"])
few = (3, 3)
tried("limits of others", lambda: resource.prlimit(child.pid, resource.RLIMIT_NOFILE, few) and 0)
tried("limits read", lambda: resource.prlimit(child.pid, resource.RLIMIT_NOFILE) and 0)
tried("own limits", lambda: resource.prlimit(0, resource.RLIMIT_NOFILE, (100, 100)) and 0)
tried("vsock", lambda: socket.socket(40, socket.SOCK_STREAM).close())
tried("inet", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close())
tried("unshare", lambda: libc.unshare(0x10000000))
tried("mount", lambda: libc.mount(b"t", b"/tmp", b"tmpfs", 0, None))
tried("threads", lambda: threading.Thread(target=print).start())
tried("memory of others", lambda: libc.process_vm_readv(child.pid, None, 0, None, 0, 0))
child.kill()
child.wait()
tried("ptrace", lambda: libc.ptrace(0, 0, None, None))
"""
DENIED = {"limits of others", "vsock", "unshare", "mount"}
OF_OTHERS = {"memory of others", "ptrace"}
WORKS = {"limits read", "own limits", "inet", "threads"}


def denied(printed: str) -> set[str]:
    """Return which calls were denied; every one was tried."""
    results = dict(line.rsplit(" ", 1) for line in printed.splitlines() if line)
    assert set(results) == DENIED | OF_OTHERS | WORKS
    return {name for name, result in results.items() if result == "denied"}


def test_calls_that_forge_verdicts_are_denied(courses: Callable[[Kind], Course]) -> None:
    """Agents may debug their own processes; what the tests run may not debug the tests."""
    course = courses("coreutils")
    run = course.agent(f"cat > calls.py <<'E'\n{PROGRAM}E\npython3 calls.py")
    assert denied(run.account.stdout.path.read_text()) == DENIED
    verification = course.verify(run, "python3 /app/calls.py")
    assert denied(verification.account.stdout.path.read_text()) == DENIED | OF_OTHERS


def test_no_call_is_both_allowed_and_denied() -> None:
    """Rules for calls without conditions on arguments would contradict each other."""
    for phase in ("agent", "verifier"):
        rules = [rule for rule in profile(phase)["syscalls"] if not rule["args"]]
        names = [name for rule in rules for name in rule["names"]]
        assert len(names) == len(set(names))
