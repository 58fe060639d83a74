"""A pass cannot be forged from inside; nothing of a forger's stays, inside or outside."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agon.app.containers import RewardSource
from runners.containers.course import Course, limits, sleeping
from runners.containers.forgeries import (
    FORGERIES,
    SOLVED,
    Kind,
    combinations,
    part_of,
    script_of,
)
from sizes import ALL

EVERY = combinations()
CHOSEN = EVERY if ALL else part_of(EVERY)
JUDGES = sorted({(FORGERIES[name].judge, kind, source) for name, kind, source in EVERY})


@pytest.mark.parametrize(("name", "kind", "source"), CHOSEN)
def test_a_forged_pass_fails(
    courses: Callable[[Kind], Course], name: str, kind: Kind, source: RewardSource
) -> None:
    """Each agent is judged by the tests it wants to fool, in real containers."""
    forgery = FORGERIES[name]
    begin = time.monotonic()
    course = courses(kind)
    result = course.both(
        forgery.agent, script_of(forgery.judge, source), source=source, bounds=forgery.bounds,
        outputs=course.image.outputs,
    )  # fmt: skip
    assert result.outcome in forgery.outcomes, result
    assert result.outcome != "unscored" or result.reason
    assert time.monotonic() - begin < 2 * (forgery.bounds.timeout_s + 10)


@pytest.mark.parametrize(("judge", "kind", "source"), JUDGES if ALL else JUDGES[::5])
def test_those_who_solve_pass_the_same_tests(
    courses: Callable[[Kind], Course], judge: str, kind: Kind, source: RewardSource
) -> None:
    """The control: every forgery's tests pass an honest agent, on the same images."""
    course = courses(kind)
    tests = script_of(judge, source)
    result = course.both(SOLVED, tests, source=source, outputs=course.image.outputs)
    assert (result.outcome, result.reason) == ("passed", "")


def test_a_reward_written_while_something_still_runs_does_not_count(course: Course) -> None:
    """What still runs could have written it; the message says what the tests' author must do."""
    run = course.agent(":")
    tests = "sleep 30 & echo 1 > /logs/verifier/reward.txt; exit 0"
    refused = course.verify(run, tests, source="both")
    assert (refused.outcome, refused.reward) == ("failed", 1.0)
    assert "1 processes of the tests were still running" in refused.reason
    assert course.verify(run, tests, source="exit_code").outcome == "passed"


def test_limits_that_were_hit_are_recorded(course: Course) -> None:
    """A fail has its cause beside it."""
    flood = course.agent("yes")
    assert (flood.outcome, flood.account.limits_hit) == ("failed", ("output",))
    assert flood.account.stdout.stored == 16 << 10
    many = course.agent("i=0; while [ $i -lt 2100 ]; do : > f$i; i=$((i+1)); done")
    assert (many.outcome, many.account.limits_hit) == ("failed", ("storage",))
    assert "2,000 entries" in many.reason
    bomb = course.agent("sleep 5 & s=$!; f() { f | f & }; f; wait $s", bounds=limits(timeout_s=1))
    assert {"time", "processes"} <= set(bomb.account.limits_hit)


def test_what_an_agent_leaves_never_becomes_files_of_the_host(
    course: Course, tmp_path: Path
) -> None:
    """Links, devices and names of any kind stay inside one archive."""
    course.agent("mkdir -p a/b; ln -s /etc/passwd a/b/c; mkfifo p; touch \"$(printf 'x\\ny')\"")
    found = {path.name for path in tmp_path.rglob("*")}
    assert found == {"trial-0", "agent", "stdout.txt", "stderr.txt", "outputs.tar"}


def test_no_process_of_an_agent_outlives_its_container(course: Course) -> None:
    """Seen from the host, by a number nobody else sleeps for."""
    number = 3 * 10**6 + os.getpid()
    course.agent(f"for i in 1 2 3; do setsid sleep {number} & done; (setsid sleep {number} &)")
    assert not sleeping(number)
