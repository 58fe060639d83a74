"""Drivers run on the host and act in a container, command by command."""

import time

import pytest

from agon.app.containers import AgentStep, ContainerGone, Shell
from runners.containers.conftest import running
from runners.containers.course import Course, limits


def test_a_driver_solves_a_task_step_by_step(course: Course) -> None:
    """Each command sees the files of those before, the tests see all."""
    seen: list[AgentStep] = []

    def driver(shell: Shell) -> None:
        seen.append(shell.execute(("cat", "provided"), timeout_s=20))
        seen.append(
            shell.execute(("sh", "-c", "echo 42 > answer; echo e >&2; exit 3"), timeout_s=20)
        )
        seen.append(shell.execute(("cat", "answer"), timeout_s=20))

    run = course.driven(driver)
    assert [(step.exit_code, step.stdout, step.stderr) for step in seen] == [
        (0, b"provided\n", b""), (3, b"", b"e\n"), (0, b"42\n", b""),
    ]  # fmt: skip
    assert run.outcome == "finished"
    assert course.verify(run, "cmp /app/answer /tests/expected").outcome == "passed"


@pytest.mark.exhaustive
def test_a_command_has_its_own_limits(course: Course) -> None:
    """A step that hangs or prints too much ends alone."""
    seen: list[AgentStep] = []

    def driver(shell: Shell) -> None:
        seen.append(shell.execute(("sleep", "60"), timeout_s=1))
        seen.append(shell.execute(("head", "-c", "100000", "/dev/zero"), timeout_s=20))
        seen.append(shell.execute(("no such program",), timeout_s=20))

    run = course.driven(driver)
    hung, long, missing = seen
    assert (hung.timed_out, long.timed_out, missing.timed_out) == (True, False, False)
    assert (long.truncated, len(long.stdout)) == (True, 16 << 10)
    assert missing.exit_code in {126, 127}
    assert run.outcome == "finished"


@pytest.mark.exhaustive
def test_a_driver_gets_an_error_when_the_time_is_up(course: Course) -> None:
    """The container does not wait for the driver."""
    ended = []

    def driver(shell: Shell) -> None:
        try:
            while True:
                shell.execute(("sleep", "0.1"), timeout_s=20)
        except ContainerGone:
            ended.append(True)
            raise

    run = course.driven(driver, bounds=limits(timeout_s=1))
    assert (run.outcome, run.outputs, ended) == ("timeout", None, [True])


@pytest.mark.exhaustive
def test_an_error_of_the_driver_removes_the_container_and_is_raised(course: Course) -> None:
    """An internal error is not the agent's failure."""

    def driver(shell: Shell) -> None:
        shell.execute(("true",), timeout_s=20)
        raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError, match="ours"):
        course.driven(driver)
    assert running(course.run_name) == []


@pytest.mark.exhaustive
def test_a_driver_that_does_nothing_leaves_the_image_as_it_is(course: Course) -> None:
    """It ends at once."""
    run = course.driven(lambda _: None)
    assert run.outcome == "finished"
    assert course.verify(run, "grep -q provided /app/provided").outcome == "passed"


@pytest.mark.exhaustive
def test_what_a_step_left_running_ends_with_the_container(course: Course) -> None:
    """Also processes that ignore SIGTERM."""

    def driver(shell: Shell) -> None:
        shell.execute(
            ("sh", "-c", "trap '' TERM; setsid sleep 600 > /dev/null 2>&1 &"), timeout_s=20
        )

    begin = time.monotonic()
    assert course.driven(driver, bounds=limits(timeout_s=300)).outcome == "finished"
    assert time.monotonic() - begin < 200
