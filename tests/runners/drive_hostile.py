"""Run every hostile program in one mode and print what became of each; a script of the tests.

A secret is planted where a program could look for it: the environment, an inherited descriptor, a
file everybody may read, and the source of the submission before. What is left behind is looked
for from outside. The supervisor has 2,000 descriptors open, so that those of its workers have high
numbers.
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
from runners.hostile_programs import hostile_programs

PR_SET_CHILD_SUBREAPER = 36
OPEN = 2000
MARK = "agon-hostile"
FIBONACCI = RunRequest(source=b"def solver():\n    return [1, 1, 2, 3, 5]\n", n_check=5)


def main(mode: Mode) -> None:
    """Print one JSON object: the programs that were not held, and what was left behind."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans become ours: seen
    canary = f"canary-before-{secrets.token_hex(16)}"
    os.environ["AGON_CANARY"] = canary
    with tempfile.NamedTemporaryFile("w") as planted:
        planted.write(canary * 100)
        planted.flush()
        Path(planted.name).chmod(0o644)
        os.set_inheritable(planted.fileno(), True)
        many = [os.open("/dev/null", os.O_RDONLY) for _ in range(OPEN)]
        descriptors = open_descriptors()
        report = judge(mode, canary)
        report["descriptors"] = open_descriptors() - descriptors
        for descriptor in many:
            os.close(descriptor)
    report["processes"] = left_processes()
    report["files"] = [
        str(path) for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run")  # noqa: S108  # looked at
        for path in Path(folder).glob(f"{MARK}*")
    ]  # fmt: skip
    sockets = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    report["sockets"] = [line for line in sockets.splitlines() if MARK in line]
    print(json.dumps(report))  # noqa: T201  # a script answers by printing


def judge(mode: Mode, canary: str) -> dict[str, object]:
    """Run them one after the other on one worker, a correct program after each."""
    before = RunRequest(
        source=f"known = {canary!r}\ndef solver():\n    return [0]\n".encode(), n_check=1
    )
    escaped, broken, told, families = [], [], [], set()
    with open_sandbox(mode, workers=1) as sandbox:
        for number, hostile in enumerate(hostile_programs()):
            if hostile.name.startswith(("former", "frames", "descriptors")):
                sandbox.run(before)
            run = sandbox.run(hostile.job)
            families.add(hostile.name.split("/")[0])
            if not hostile.held(run):
                escaped.append(f"{hostile.name}: {run.outcome} {run.terms[:5]} {run.reason}")
            if canary in repr(run) + " ".join(run.terms) or not run.reason.isprintable():
                told.append(hostile.name)
            if mode == "cold" and number % 10:
                continue  # the next program has an interpreter of its own anyway
            if sandbox.run(FIBONACCI).terms != ("1", "1", "2", "3", "5"):
                broken.append(hostile.name)
        return {
            "user": os.geteuid(),
            "layers": sandbox.layers,
            "families": len(families),
            "programs": len(hostile_programs()),
            "escaped": escaped,
            "worker broken after": broken,
            "secret told by": told,
        }


def open_descriptors() -> int:
    """Count what this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def left_processes() -> list[str]:
    """List the processes that descend from this one, once they had some seconds to end."""
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
    main(sys.argv[1])  # type: ignore[arg-type]  # the sandbox refuses any other
