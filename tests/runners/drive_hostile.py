"""Run one part of the hostile programs in one mode and print a report; a script of the tests.

A secret is where a program could search for it: in the environment, an inherited descriptor, a
file that every user may read, and the source of the previous submission. Left processes, files
and sockets are listed from outside. The supervisor has 2,000 descriptors open, so that those of its
workers have high numbers.

Arguments: the mode, the number of the part, the number of parts.
"""

import ctypes
import json
import os
import resource
import secrets
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agon.app.sandbox import Mode, RunRequest
from agon.runners.sandbox import open_sandbox
from runners.hostile_programs import hostile_programs, stratified

PR_SET_CHILD_SUBREAPER = 36
OPEN = 2000
MARK = "agon-hostile"
KEPT_FROM_COMPUTING = "the machine left it"
FIBONACCI = RunRequest(source=b"def solver():\n    return [1, 1, 2, 3, 5]\n", n_check=5)


def main(mode: Mode, part: int, parts: int) -> None:
    """Print one JSON object: the programs that were not contained, and what they left."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans become its children
    canary = f"canary-before-{secrets.token_hex(16)}"
    os.environ["AGON_CANARY"] = canary
    with tempfile.NamedTemporaryFile("w") as secret_file:
        secret_file.write(canary * 100)
        secret_file.flush()
        Path(secret_file.name).chmod(0o644)
        os.set_inheritable(secret_file.fileno(), True)
        open_files = [os.open("/dev/null", os.O_RDONLY) for _ in range(OPEN)]
        descriptors = open_descriptors()
        report = run_programs(mode, canary, part, parts)
        report["descriptors"] = open_descriptors() - descriptors
        for descriptor in open_files:
            os.close(descriptor)
    report["processes"] = left_processes()
    report["files"] = [
        str(path) for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run")  # noqa: S108  # read only
        for path in Path(folder).glob(f"{MARK}*")
    ]  # fmt: skip
    sockets = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    report["sockets"] = [line for line in sockets.splitlines() if MARK in line]
    print(json.dumps(report))  # noqa: T201  # the output of a script


def run_programs(mode: Mode, canary: str, part: int, parts: int) -> dict[str, object]:
    """Run the programs one by one on one worker, a correct program after each."""
    previous = RunRequest(
        source=f"known = {canary!r}\ndef solver():\n    return [0]\n".encode(), n_check=1
    )
    escaped, broken, leaks = [], [], []
    programs = stratified(hostile_programs(), part=part, parts=parts)
    with open_sandbox(mode, workers=1) as sandbox:
        for number, program in enumerate(programs):
            if program.name.startswith(("former", "frames", "descriptors")):
                sandbox.run(previous)
            run = sandbox.run(program.request)
            while run.reason.startswith(KEPT_FROM_COMPUTING):  # the machine is busy: no verdict
                run = sandbox.run(program.request)
            if not program.is_contained(run):
                escaped.append(f"{program.name}: {run.outcome} {run.terms[:5]} {run.reason}")
            if canary in repr(run) + " ".join(run.terms) or not run.reason.isprintable():
                leaks.append(program.name)
            if mode == "cold" and number % 10:
                continue  # the next program has a separate interpreter in any case
            if sandbox.run(FIBONACCI).terms != ("1", "1", "2", "3", "5"):
                broken.append(program.name)
        return {
            "user": os.geteuid(),
            "layers": sandbox.layers,
            "programs": [program.name for program in programs],
            "escaped": escaped,
            "worker broken after": broken,
            "secret in": leaks,
        }


def open_descriptors() -> int:
    """Count the open descriptors of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def left_processes() -> list[str]:
    """List the processes that descend from this one, after some seconds in which they may end."""
    for _ in range(200):
        left = [
            entry.name for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and _parent(entry) == os.getpid()
        ]  # fmt: skip
        for process in left:
            os.waitpid(int(process), os.WNOHANG)
        if not left:
            return []
        time.sleep(0.05)
    return left


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))  # type: ignore[arg-type]  # the sandbox checks the mode
