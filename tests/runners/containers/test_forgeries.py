"""No agent passes without solving the task, and nothing of it is left inside or outside."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agon.app.containers import RewardSource
from runners.containers.course import Course, limits, sleeping
from runners.containers.forgeries import FORGERIES, combinations, part_of
from runners.containers.forgery import SOLVED, Kind, script_of
from sizes import ALL

EVERY = combinations()
CHOSEN = EVERY if ALL else part_of(EVERY)
JUDGES = sorted({(FORGERIES[name].judge, kind, source) for name, kind, source in EVERY})


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "kind", "source"), CHOSEN)
def test_a_forged_pass_fails(
    courses: Callable[[Kind], Course], name: str, kind: Kind, source: RewardSource
) -> None:
    """Each agent is verified by the tests that it wants to pass, in real containers."""
    forgery = FORGERIES[name]
    begin = time.monotonic()
    course = courses(kind)
    tests = script_of(forgery.judge, source)
    run = course.agent(forgery.agent, bounds=forgery.bounds, outputs=course.image.outputs)
    for _ in range(forgery.tries):
        result = course.judged(run, tests, source=source, bounds=forgery.bounds)
        assert result.outcome in forgery.outcomes, result
        assert result.outcome != "unscored" or result.reason
    assert time.monotonic() - begin < (1 + forgery.tries) * (forgery.bounds.timeout_s + 10)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("judge", "kind", "source"), JUDGES if ALL else JUDGES[::5])
def test_an_honest_agent_passes_the_same_tests(
    courses: Callable[[Kind], Course], judge: str, kind: Kind, source: RewardSource
) -> None:
    """Tests that fail everything would show nothing."""
    course = courses(kind)
    tests = script_of(judge, source)
    result = course.both(SOLVED, tests, source=source, outputs=course.image.outputs)
    assert (result.outcome, result.reason) == ("passed", "")


@pytest.mark.exhaustive
def test_a_reward_written_while_something_still_runs_does_not_count(course: Course) -> None:
    """Such a process could have written it; the message says what the tests' author must do."""
    run = course.agent(":")
    tests = "sleep 30 & echo 1 > /logs/verifier/reward.txt; exit 0"
    verification = course.verify(run, tests, source="both")
    assert (verification.outcome, verification.reward) == ("failed", 1.0)
    assert "1 processes of the tests were still running" in verification.reason
    assert course.verify(run, tests, source="exit_code").outcome == "passed"


@pytest.mark.exhaustive
def test_limits_that_were_hit_are_recorded(course: Course) -> None:
    """A failure is recorded with its cause."""
    flood = course.agent("yes")
    assert (flood.outcome, flood.account.limits_hit) == ("failed", ("output",))
    assert flood.account.stdout.stored == 16 << 10
    many = course.agent("i=0; while [ $i -lt 2100 ]; do : > f$i; i=$((i+1)); done")
    assert (many.outcome, many.account.limits_hit) == ("failed", ("storage",))
    assert "2,000 entries" in many.reason
    bomb = course.agent("sleep 5 & s=$!; (f() { f | f & }; f); wait $s", bounds=limits(timeout_s=1))
    assert {"time", "processes"} <= set(bomb.account.limits_hit)


def test_what_an_agent_leaves_never_becomes_files_of_the_host(
    course: Course, tmp_path: Path
) -> None:
    """Links, devices and unusual names exist only inside one archive."""
    course.agent("mkdir -p a/b; ln -s /etc/passwd a/b/c; mkfifo p; touch \"$(printf 'x\\ny')\"")
    names = {path.name for path in tmp_path.rglob("*")}
    assert names == {"trial-0", "agent", "stdout.txt", "stderr.txt", "outputs.tar"}


@pytest.mark.exhaustive
def test_no_process_of_an_agent_outlives_its_container(course: Course) -> None:
    """The processes of the host show none of them."""
    number = 3 * 10**6 + os.getpid()
    course.agent(f"for i in 1 2 3; do setsid sleep {number} & done; (setsid sleep {number} &)")
    assert not sleeping(number)
