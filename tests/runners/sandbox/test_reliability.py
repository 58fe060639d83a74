"""Whatever dies, and whenever: every submission ends with exactly one verdict."""

import contextlib
import ctypes
import gc
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from agon.app.sandbox import Mode, RunLimits, RunRequest, RunResult
from agon.runners.sandbox.isolation import isolation_of
from agon.runners.sandbox.pool import Pool
from runners.processes import descendants, eventually, open_descriptors, resident_kib
from sizes import ALL, size

PR_SET_CHILD_SUBREAPER = 36
KILLS = size(250, dear=True)
"""Kills in each isolation mode."""


def busy(at: int) -> RunRequest:
    """Make a job that computes for some milliseconds, so that death can find it at work."""
    loop = f"for n in range({at % 7} * 20_000):\n        pass"
    source = f"def solver():\n    {loop}\n    return [{at}]\n"
    return RunRequest(source=source.encode(), name=str(at), limits=RunLimits(wall_s=30))


class Death:
    """Kill processes of a sandbox at random times, a given number of times."""

    def __init__(self, trials: int, seed: int) -> None:
        self.dice = random.Random(seed)  # a repeatable trial, no secret
        self.left = trials
        self.thread = threading.Thread(target=self._reap)

    def _reap(self) -> None:
        while self.left:
            time.sleep(self.dice.uniform(0, 0.1))
            victims = sorted(descendants())
            if not victims:
                continue
            try:
                os.kill(self.dice.choice(victims), signal.SIGKILL)
            except ProcessLookupError:
                continue
            self.left -= 1


@pytest.fixture
def orphans_seen() -> Iterator[None]:
    """Take in processes whose parent is killed, so that they are seen and killed like others."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    yield
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


@pytest.mark.sample(1)
@pytest.mark.usefixtures("orphans_seen")
@pytest.mark.parametrize("mode", ["bwrap", "degraded"])
def test_no_verdict_is_lost_or_given_twice_when_processes_are_killed(mode: Mode) -> None:
    """Wrappers, zygotes and children are killed at 250 random times (50 in `make test`)."""
    death = Death(KILLS, seed=2002)
    given: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    jobs = 0

    def coming() -> Iterator[RunRequest]:
        nonlocal jobs
        for at in itertools.count():
            if not death.left:
                return
            jobs += 1
            yield busy(at)

    with Pool(isolation_of(mode), workers=2, tested=False) as sandbox:
        death.thread.start()
        for job, run in sandbox.run_many(coming()):
            given[job.name] += 1
            outcomes[run.outcome] += 1
            assert run.terms == ((job.name,) if run.outcome == "ok" else ())
        death.thread.join()
        assert sandbox.run(busy(7)).terms == ("7",)
    assert given == Counter(map(str, range(jobs)))
    assert set(outcomes) <= {"ok", "sandbox_error"}
    assert outcomes["ok"] > outcomes["sandbox_error"]
    assert eventually(lambda: descendants() == set())


def test_a_run_lost_twice_is_our_fault_and_says_so() -> None:
    """Never a fail: the program did nothing wrong."""
    patient = RunRequest(
        source=b"def solver():\n    while True: pass\n", limits=RunLimits(cpu_s=30)
    )
    with Pool(isolation_of("degraded"), workers=1, tested=False) as sandbox:
        runs: list[RunResult] = []
        waiting = threading.Thread(target=lambda: runs.append(sandbox.run(patient)))
        waiting.start()
        for _ in range(2):
            assert eventually(lambda: len(descendants()) == 2)
            time.sleep(0.1)
            os.kill(max(descendants()), signal.SIGKILL)
            assert eventually(lambda: runs != [] or len(descendants()) == 2)
        waiting.join(timeout=100)
        assert [(run.outcome, run.attempts) for run in runs] == [("sandbox_error", 2)]
        assert "killed from outside" in runs[0].reason
        assert sandbox.run(busy(3)).outcome == "ok"


def test_a_silent_zygote_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The supervisor has a deadline of its own."""
    monkeypatch.setattr("agon.runners.sandbox.zygote.GRACE_S", 0.2)
    with Pool(isolation_of("degraded"), workers=1, tested=False) as sandbox:
        (zygote,) = descendants()
        os.kill(zygote, signal.SIGSTOP)
        run = sandbox.run(
            RunRequest(source=b"solver = lambda: [1]", limits=RunLimits(cpu_s=0.1, wall_s=0.2))
        )
        assert (run.outcome, run.attempts) == ("ok", 2)
        assert zygote not in descendants()


SUPERVISOR = """
import sys, threading
from agon.app.sandbox import RunLimits, RunRequest
from agon.runners.sandbox import open_sandbox
sandbox = open_sandbox(sys.argv[1], workers=2)
source = b"def solver():\\n    while True: pass\\n"
for _ in range(2):
    request = RunRequest(source=source, limits=RunLimits(cpu_s=60, wall_s=60))
    threading.Thread(target=sandbox.run, args=(request,)).start()
print("running", flush=True)
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", ["bwrap", "degraded", "cold"])
def test_nothing_outlives_a_supervisor_that_is_killed(mode: str) -> None:
    """Killed with no chance to clean up, while programs run."""
    with subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, mode], stdout=subprocess.PIPE, text=True
    ) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == "running\n"
        least = 4 if mode == "degraded" else 8  # wrapper, reaper, zygote, child: for each of two
        assert eventually(lambda: len(descendants(supervisor.pid)) >= least)
        left = descendants(supervisor.pid)
        supervisor.kill()
    assert eventually(lambda: not any(Path(f"/proc/{one}/exe").exists() for one in left))


def test_the_end_of_the_thread_that_opened_it_ends_nothing() -> None:
    """The kernel ends a child with the thread that made it; that thread is the pool's."""
    opened: list[Pool] = []
    opening = threading.Thread(
        target=lambda: opened.append(Pool(isolation_of("degraded"), workers=1))
    )
    opening.start()
    opening.join()
    with opened[0] as sandbox:
        time.sleep(0.1)
        run = sandbox.run(busy(5))
        assert (run.terms, run.attempts) == (("5",), 1)


def test_submissions_leave_nothing_behind() -> None:
    """Memory, descriptors and processes stay as they are (ten thousand: benchmarks/sandbox.py)."""
    with Pool(isolation_of("bwrap"), workers=2, tested=False) as sandbox:
        for _ in sandbox.run_many(busy(7) for _ in range(200)):
            pass  # until the allocators have what they want
        zygotes = descendants()
        gc.collect(1)  # not what other tests left
        before = resident_kib(), open_descriptors(), {one: resident_kib(one) for one in zygotes}
        for _ in sandbox.run_many(busy(7) for _ in range(1000 if ALL else 100)):
            pass
        assert eventually(lambda: descendants() == zygotes)
        gc.collect(1)
        assert open_descriptors() == before[1]
        assert resident_kib() - before[0] < 2048
        assert all(resident_kib(one) - before[2][one] < 256 for one in zygotes)
