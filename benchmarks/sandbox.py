"""The dojo's sandbox: judged submissions a second, and what the wall costs over a bare fork."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import report  # type: ignore[import-not-found]  # of this folder

from agon.app.sandbox import RunRequest, Sandbox
from agon.runners.sandbox import open_sandbox

WORKERS = 2
FLOOR_PER_S = 300
TRIVIAL = RunRequest(source=b"def solver():\n    return [n * n for n in range(200)]\n")
WITH_SYMPY = RunRequest(source=b"from sympy import prime\n" + TRIVIAL.source)

BARE_FORK = """
import fractions, itertools, math, os, sys, unicodedata
source = {source!r}
for line in sys.stdin:
    for _ in range(int(line)):
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            names = {{}}
            exec(compile(source, "x", "exec"), names)
            os.write(writing, "".join(f"{{term}}\\n" for term in names["solver"]()).encode())
            os._exit(0)
        os.close(writing)
        answer = os.read(reading, 65536)
        os.wait4(process, 0)
        os.close(reading)
    print("done", flush=True)
"""


def main() -> None:
    """Check that everything is judged ok, then time it against what has no wall."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=500, help="submissions in one timed round")
    parser.add_argument("--in-one-go", type=int, default=10_000, help="submissions without a stop")
    options = parser.parse_args()
    report.header("sympy")
    size = options.size
    with open_sandbox("bwrap", workers=WORKERS) as sandbox:
        with forking(size) as fork:
            judged, bare = report.medians(judging(sandbox, TRIVIAL, size), fork)
        report.compare(
            f"{size / judged:.0f} trivial solvers a second on {WORKERS} workers, {size:,} of them",
            judged, f"a budget of {FLOOR_PER_S} a second", size / FLOOR_PER_S, floor=1, aim=2,
        )  # fmt: skip
        report.compare(
            f"{size:,} trivial solvers", judged, "a bare fork of a warm interpreter", bare,
            floor=1 / 3, aim=1 / 2,
        )  # fmt: skip
        one, cold = report.medians(lambda: sandbox.run(TRIVIAL), start_python, repeat=101)
        report.compare(
            "one submission from call to verdict", one, "python -I -S -c pass", cold,
            floor=1, aim=2,
        )  # fmt: skip
        with_sympy, _ = report.medians(judging(sandbox, WITH_SYMPY, size), lambda: None)
        print(f"solvers that import sympy: {size / with_sympy:.0f} a second")
        print_memory()
        print_endurance(sandbox, options.in_one_go)
    for mode in ("degraded", "cold"):
        few = size if mode == "degraded" else size // 25
        with open_sandbox(mode, workers=WORKERS) as sandbox:
            (seconds,) = report.medians(judging(sandbox, TRIVIAL, few), repeat=3)
        print(f"{mode}: {few / seconds:.0f} trivial solvers a second")


def judging(sandbox: Sandbox, job: RunRequest, count: int) -> Callable[[], None]:
    """Judge a job many times on all workers."""

    def judge() -> None:
        assert all(run.outcome == "ok" for _, run in sandbox.run_many([job] * count))

    return judge


@contextmanager
def forking(count: int) -> Iterator[Callable[[], None]]:
    """Do the same work in bare forks, in as many warm interpreters as the sandbox has workers."""
    command = [sys.executable, "-s", "-S", "-P", "-c", BARE_FORK.format(source=TRIVIAL.source)]
    warm = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(WORKERS)
    ]

    def fork() -> None:
        for one in warm:
            assert one.stdin
            print(count // WORKERS, file=one.stdin, flush=True)
        for one in warm:
            assert one.stdout
            assert one.stdout.readline() == "done\n"

    yield fork
    for one in warm:
        one.communicate()


def start_python() -> None:
    """Start the smallest interpreter there is."""
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)


def print_memory() -> None:
    """Print what each process of the sandbox takes."""
    for process in sorted(workers()):
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
        kib = {name: int(value.split()[0]) for name, value in (
            line.split(":", 1) for line in rollup.splitlines()[1:])}  # fmt: skip
        name = Path(f"/proc/{process}/comm").read_text(encoding="ascii").strip()
        print(f"memory of {name} {process}: {kib['Pss'] / 1024:.1f} MiB "
              f"({kib['Rss'] / 1024:.1f} MiB resident, shared pages counted in full)")  # fmt: skip


def print_endurance(sandbox: Sandbox, count: int) -> None:
    """Judge thousands in one go and print what grew."""
    judging(sandbox, TRIVIAL, 200)()
    before, running = {one: resident(one) for one in [os.getpid(), *workers()]}, workers()
    begin = time.perf_counter()
    judging(sandbox, TRIVIAL, count)()
    seconds = time.perf_counter() - begin
    assert workers() == running, "a process was lost or left over"
    growth = {one: resident(one) - kib for one, kib in before.items()}
    print(f"{count:,} in one go: {count / seconds:.0f} a second; supervisor grew by "
          f"{growth.pop(os.getpid())} KiB, workers by {max(growth.values())} KiB at most, "
          f"{len(running)} processes before and after")  # fmt: skip


def workers() -> set[int]:
    """List the processes that descend from this one."""
    found: set[int] = set()
    coming = {os.getpid()}
    while coming:
        coming = {child for one in coming for child in children(one)} - found
        found |= coming
    return found


def children(process: int) -> Iterator[int]:
    """List the children of a process."""
    for thread in Path(f"/proc/{process}/task").iterdir():
        yield from map(int, (thread / "children").read_text(encoding="ascii").split())


def resident(process: int) -> int:
    """Measure resident memory in KiB."""
    text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(text.partition("VmRSS:")[2].split()[0])


if __name__ == "__main__":
    main()
