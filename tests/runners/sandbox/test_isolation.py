"""A sandbox starts with all layers of its isolation or not at all; they are observed outside it."""

import os
import platform
import shutil
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agon.app.sandbox import RunLimits, RunRequest, SandboxEscape
from agon.errors import Unavailable
from agon.runners.sandbox import isolation, open_sandbox
from agon.runners.sandbox.isolation import Isolation, isolation_of
from agon.runners.sandbox.pool import Pool
from agon.runners.sandbox.self_test import HOSTILE_PROGRAMS, self_test
from agon.runners.sandbox.verdicts import Verdict
from runners.hostile_programs import hostile_programs
from runners.identities import command_as, identities
from runners.processes import descendants, eventually, status

LONG = RunRequest(
    source=b"def solver():\n    while True:\n        pass\n", limits=RunLimits(cpu_s=30, wall_s=30)
)


def test_the_error_of_a_missing_bwrap_names_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message ends with the remedy."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unavailable, match="Debian package bubblewrap"):
        open_sandbox("bwrap")


@pytest.mark.parametrize("mode", ["bwrap", "degraded", "cold"])
def test_another_processor_is_rejected(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """The numbers of system calls are those of x86-64."""
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(Unavailable, match="x86-64 only, this is linux on aarch64"):
        open_sandbox(mode)  # type: ignore[arg-type]  # the parameters are modes


def test_an_unknown_mode_is_rejected_with_a_suggestion() -> None:
    """A misspelled mode must not fall back to a weaker one."""
    with pytest.raises(ValueError, match="did you mean degraded"):
        open_sandbox("degradet")  # type: ignore[arg-type]  # invalid on purpose


def test_the_error_of_a_bwrap_without_namespaces_quotes_its_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a locked container the operator reads the reason and the alternative."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(Unavailable, match=r"No permissions to create.*degraded"):
        open_sandbox("bwrap")


def test_processes_left_by_a_killed_bwrap_are_ended_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A child process that hangs keeps the socket open; starting must not wait for it."""
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/left\nkill -9 $$\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    begin = time.monotonic()
    with pytest.raises(Unavailable, match="ended without a word"):
        open_sandbox("bwrap", workers=1)
    assert time.monotonic() - begin < 300
    left = int((tmp_path / "left").read_text())
    assert eventually(lambda: not Path(f"/proc/{left}/exe").exists())


def test_a_bwrap_that_cannot_be_run_is_rejected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A broken installation is an error with a message."""
    fake = tmp_path / "bwrap"
    fake.write_bytes(b"\x7fELF nothing")
    fake.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(fake))
    with pytest.raises(Unavailable, match="does not start"):
        open_sandbox("bwrap")


def test_a_missing_library_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs would fail for a reason that is not theirs."""
    isolation._library.cache_clear()
    monkeypatch.setattr(isolation, "find_spec", lambda _: None)
    with pytest.raises(Unavailable, match="sympy is missing"):
        isolation_of("degraded")
    isolation._library.cache_clear()


GAPS = {
    "no list of system calls": ("child.py", "    seccomp.install(filter_)\n"),
    "no limit on memory": ("child.py", "        (resource.RLIMIT_AS, memory, memory),\n"),
    "no limit on output": (
        "child.py",
        "        (resource.RLIMIT_FSIZE, request.output_bytes, request.output_bytes),\n",
    ),
    "descriptors stay open": ("child.py", "    system.close_from(READY + 1)\n"),
    "code may be mapped": ("seccomp.py", "        Instruction(_ANY_BIT, _PROT_EXEC, 5, 0),\n"),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("gap", GAPS)
def test_an_isolation_with_a_gap_is_not_opened(gap: str, tmp_path: Path) -> None:
    """The self-test runs when workers start; with one layer removed it must detect the gap."""
    inside = tmp_path / "inside"
    shutil.copytree(Path(isolation.__file__).parent / "inside", inside)
    file, line = GAPS[gap]
    text = (inside / file).read_text()
    assert line in text
    changed = line.replace("_PROT_EXEC, 5, 0", "_PROT_EXEC, 0, 0")
    (inside / file).write_text(text.replace(line, changed if changed != line else ""))
    complete = isolation_of("degraded")
    broken = replace(complete, paths=(str(tmp_path), *complete.paths[1:]))
    with pytest.raises(SandboxEscape, match="does not hold"):
        Pool(broken, workers=1)
    assert eventually(lambda: descendants() == set())


def test_the_self_test_rejects_a_sandbox_in_which_a_program_succeeds() -> None:
    """A program that returns what it tried to read has escaped."""
    assert len(HOSTILE_PROGRAMS) == 9
    with pytest.raises(Unavailable, match="reads a file"):
        self_test(lambda _: Verdict("ok", ("1",)))


def test_a_child_that_cannot_restrict_itself_is_a_sandbox_error(tmp_path: Path) -> None:
    """When a limit cannot be set, the source is not read."""
    inside = tmp_path / "inside"
    shutil.copytree(Path(isolation.__file__).parent / "inside", inside)
    text = (inside / "child.py").read_text()
    (inside / "child.py").write_text(
        text.replace("_STACK_BYTES = 8 << 20", "_STACK_BYTES = 1 << 70")
    )
    complete = isolation_of("degraded")
    broken = replace(complete, paths=(str(tmp_path), *complete.paths[1:]))
    with pytest.raises(Unavailable, match="could not isolate itself"):
        Pool(broken, workers=1)
    with Pool(broken, workers=1, tested=False) as sandbox:
        run = sandbox.run(RunRequest(source=b"solver = lambda: [1]"))
    assert (run.outcome, run.attempts) == ("sandbox_error", 2)
    assert "could not isolate itself" in run.reason


def test_the_degraded_isolation_contains_programs_without_landlock() -> None:
    """Older kernels have none; then the list of system calls suffices, and the layers show it."""
    complete = isolation_of("degraded")
    families = ("reading", "writing", "sockets", "proc", "signals", "classes")
    programs = [program for program in hostile_programs() if program.name.startswith(families)]
    with Pool(replace(complete, landlock=False), workers=2) as sandbox:
        assert not any("landlock" in layer for layer in sandbox.layers)
        by_name = {program.name: program for program in programs}
        runs = sandbox.run_many(program.request for program in programs)
        assert [
            request.name for request, run in runs if not by_name[request.name].is_contained(run)
        ] == []


def filtered() -> list[int]:
    """Return the processes of the test that have a system call filter."""
    return [process for process in descendants() if status(process)["Seccomp"] == "2"]


def busy_sandbox(isolation_: Isolation) -> Pool:
    """Open a sandbox with one worker and start a program that does not end."""
    sandbox = Pool(isolation_, workers=1)
    sandbox._executor.submit(sandbox._judge, LONG, 0)
    return sandbox


@pytest.mark.parametrize("mode", ["bwrap", "degraded"])
def test_a_running_program_has_no_privileges_and_a_system_call_filter(mode: str) -> None:
    """Observed from outside, in the status that the kernel reports."""
    with busy_sandbox(isolation_of(mode)):  # type: ignore[arg-type]  # the parameters are modes
        assert eventually(lambda: filtered() != [])
        program = filtered()[0]
        fields = status(program)
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        assert set(fields["Uid"].split()) == {str(user)}
        assert int(fields["CapEff"], 16) == int(fields["CapPrm"], 16) == 0
        assert fields["NoNewPrivs"] == "1"
        assert fields["Threads"] == "1"


OWNER = """
import os, sys, time
from agon.app.sandbox import RunLimits, RunRequest
from agon.runners.sandbox.isolation import isolation_of
from agon.runners.sandbox.pool import Pool
from runners.processes import descendants, eventually, status
source = b"def solver():\\n    while True:\\n        pass\\n"
long = RunRequest(source=source, limits=RunLimits(cpu_s=30, wall_s=30))
filtered = lambda: [process for process in descendants() if status(process)["Seccomp"] == "2"]
with Pool(isolation_of(sys.argv[1]), workers=1, tested=False) as sandbox:
    sandbox._executor.submit(sandbox._judge, long, 0)
    assert eventually(lambda: filtered() != [], within_s=30)
    for process in descendants():
        name = open(f"/proc/{process}/comm").read().strip()
        if name.startswith("python"):
            owner = os.stat(f"/proc/{process}/environ").st_uid
            print(str(owner) == status(process)["Uid"].split()[1])
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("identity", identities())
@pytest.mark.parametrize("mode", ["bwrap", "degraded"])
def test_no_process_of_the_sandbox_can_dump_its_memory(mode: str, identity: str) -> None:
    """A core may be piped to a program of the host; a process that cannot be dumped has owner 0."""
    tests = str(Path(__file__).parents[2])
    code = f"import sys; sys.path.insert(0, {tests!r})\n{OWNER}"
    command = command_as(identity, [sys.executable, "-c", code, mode])
    process = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert process.returncode == 0, process.stderr
    assert set(process.stdout.split()) == {"False"}


def test_a_program_shares_no_namespace_and_no_file_with_the_host() -> None:
    """Each of its namespaces is separate; its file system is read-only and small."""
    kinds = ("mnt", "pid", "net", "ipc", "uts", "user")
    with busy_sandbox(isolation_of("bwrap")):
        assert eventually(lambda: filtered() != [])
        program = filtered()[0]
        if os.geteuid() == 0:  # other users cannot read its links
            shared = [
                kind for kind in kinds
                if (Path(f"/proc/{program}/ns/{kind}").readlink()
                    == Path(f"/proc/self/ns/{kind}").readlink())
            ]  # fmt: skip
            assert shared == []
            root = Path(f"/proc/{program}/root")
            assert {entry.name for entry in root.iterdir()} <= {
                "agon", "lib", "lib64", "usr", *Path(sys.base_prefix).parts[1:2],
            }  # fmt: skip
            assert sorted(entry.name for entry in (root / "agon").iterdir()) == [
                "inside", "mpmath", "sympy",
            ]  # fmt: skip
            with pytest.raises(OSError, match="Read-only"):
                (root / "agon" / "new").touch()
        mounts = Path(f"/proc/{program}/mounts").read_text().splitlines()
        assert [line for line in mounts if "ro" not in line.split()[3].split(",")] == []


def test_a_zygote_inherits_no_environment_and_no_descriptor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Secrets of the host must not reach a program."""
    monkeypatch.setenv("AGON_SECRET", "secret")
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    with Pool(isolation_of("degraded"), workers=1):
        (zygote,) = descendants()
        environ = Path(f"/proc/{zygote}/environ")
        if os.access(environ, os.R_OK):
            names = {pair.split(b"=")[0] for pair in environ.read_bytes().split(b"\0") if pair}
            assert names == {
                b"PYTHONHASHSEED", b"LC_ALL", b"SYMPY_GROUND_TYPES", b"MPMATH_NOGMPY",
            }  # fmt: skip
        pipe = os.fstat(reading)
        for number in range(64):
            path = Path(f"/proc/{zygote}/fd/{number}")
            try:
                opened = path.stat()
            except OSError:
                continue
            assert not (stat.S_ISFIFO(opened.st_mode) and opened.st_ino == pipe.st_ino)
    os.close(reading)
    os.close(writing)
