"""A run that was kept from computing is repeated alone."""

import threading

import pytest

from agon.app.sandbox import RunLimits, RunRequest
from agon.runners.sandbox import pool
from agon.runners.sandbox.inside.wire import Report, WireRequest
from agon.runners.sandbox.isolation import isolation_of
from agon.runners.sandbox.pool import Pool
from agon.runners.sandbox.turns import Turns
from agon.runners.sandbox.zygote import Zygote

WAIT_S = 60
"""How long a condition may take on a busy machine."""


def test_one_alone_waits_for_all_others_and_keeps_later_ones_out() -> None:
    """Else a repeated run would have the same neighbors again, or wait for ever."""
    turns = Turns()
    order: list[str] = []
    first_runs, first_may_end = threading.Event(), threading.Event()

    def first() -> None:
        with turns.share():
            first_runs.set()
            assert first_may_end.wait(WAIT_S)
            order.append("first")

    def alone() -> None:
        with turns.alone():
            order.append("alone")

    def later() -> None:
        with turns.share():
            order.append("later")

    threads = [threading.Thread(target=each) for each in (first, alone, later)]
    threads[0].start()
    assert first_runs.wait(WAIT_S)
    threads[1].start()
    while not turns.waiting:
        assert threads[1].is_alive()
    threads[2].start()
    first_may_end.set()
    for thread in threads:
        thread.join(WAIT_S)
    assert order == ["first", "alone", "later"]


@pytest.fixture
def starving(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let the program "slow" look starved once; return how many others ran, each time."""
    others: list[int] = []
    running: set[int] = set()
    lock = threading.Lock()
    slow_runs = 0

    class Counted(Zygote):
        def run(self, request: WireRequest, source: bytes) -> tuple[Report, bytes]:
            nonlocal slow_runs
            with lock:
                running.add(id(self))
                if b"slow" in source:
                    slow_runs += 1
                    others.append(len(running) - 1)
            try:
                report, answer = super().run(request, source)
            finally:
                with lock:
                    running.discard(id(self))
            if b"slow" in source and slow_runs == 1:
                report = report._replace(expired=True, cpu_us=1000, waits=1)
            return report, answer

    monkeypatch.setattr(pool, "Zygote", Counted)
    return others


def test_a_run_that_was_kept_from_computing_is_repeated_while_no_other_runs(
    starving: list[int],
) -> None:
    """It gets the verdict of the run that was fair, and its neighbors get theirs."""
    limits = RunLimits(wall_s=WAIT_S)
    slow = RunRequest(source=b"slow = 1\nsolver = lambda: [7]", limits=limits, name="slow")
    quick = [
        RunRequest(source=b"solver = lambda: [sum(range(10**6)) * 0]", limits=limits, name=str(at))
        for at in range(8)
    ]
    with Pool(isolation_of("degraded"), workers=3, tested=False) as sandbox:
        runs = {job.name: run for job, run in sandbox.run_many([quick[0], slow, *quick[1:]])}
    assert (runs["slow"].outcome, runs["slow"].terms, runs["slow"].attempts) == ("ok", ("7",), 2)
    assert len(starving) == 2
    assert starving[1] == 0
    assert all(runs[job.name].outcome == "ok" for job in quick)
