"""An operator's variables reach agents and tests by name; their values are recorded nowhere."""

from pathlib import Path

import pytest

from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.formats.variables import VariableNames, with_variables
from agon.app.tasks.overrides import Overrides, with_overrides
from agon.app.tasks.task import Task
from agon.errors import InvalidRule
from app.tasks.folders import harbor, write

SECRET = "s3cr3t-value"  # noqa: S105  # a value to look for

VALUE_ON_COMMAND_LINE = (
    "KEY=… has a value; set the variable and give its name alone, since all users of a machine "
    "see command lines"
)


def task_with(folder: Path, settings: str) -> Task:
    """Read a task with further settings."""
    return read_task(harbor(folder / "task", toml=settings))


def test_each_side_gets_what_it_is_handed_and_nothing_else(tmp_path: Path) -> None:
    """A key of the judge's model is not the agent's."""
    task = task_with(
        tmp_path,
        '[environment.env]\nMODE = "${MODE:-slow}"\n[verifier.env]\nKEY = "k-${JUDGE_KEY}"\n'
        '[solution.env]\nTOKEN = "${OWN}"\n',
    )
    names = VariableNames(both=("MODE",), agent=("OWN",), verifier=("JUDGE_KEY",))
    environment = {"MODE": "fast", "OWN": "own", "JUDGE_KEY": SECRET, "HOME": "/root"}
    (filled,) = with_variables((task,), names, environment=environment)
    assert filled.settings.agent_env == {"MODE": "fast", "OWN": "own"}
    assert filled.settings.verifier_env == {
        "MODE": "fast", "KEY": f"k-{SECRET}", "JUDGE_KEY": SECRET,
    }  # fmt: skip
    assert filled.settings.solution_env == {"TOKEN": "own"}
    assert SECRET not in repr(filled)
    assert names.to_dict() == {"agent": ["MODE", "OWN"], "verifier": ["JUDGE_KEY", "MODE"]}


def test_everything_that_is_missing_is_one_error(tmp_path: Path) -> None:
    """One attempt must be enough to see what to set."""
    task = task_with(
        tmp_path, '[environment.env]\nA = "${HOME}"\n[verifier.env]\nB = "${JUDGE}-${DEEP:-1}"\n'
    )
    names = VariableNames(agent=("UNSET", "LINES"), verifier=("KEY=secret", "1x"))
    environment = {"HOME": "/root", "LINES": "a\nb"}
    with pytest.raises(InvalidRule) as refused:
        with_variables((task,), names, environment=environment)
    assert str(refused.value).splitlines() == [
        "the variable UNSET is not set; set it, or leave the option out",
        "the variable LINES has several lines or control characters; give one line",
        VALUE_ON_COMMAND_LINE,
        "'1x' is not the name of a variable; give letters, digits and _",
        "task: the task needs the variable HOME; set it and hand it in with --env HOME",
        "task: the task needs the variable JUDGE; set it and hand it in with --verifier-env JUDGE",
    ]


def test_a_solution_that_does_not_run_needs_no_variable(tmp_path: Path) -> None:
    """An agent's run does not need the oracle's key."""
    task = task_with(tmp_path, '[solution.env]\nTOKEN = "${OWN}"\n')
    (filled,) = with_variables((task,), VariableNames(), environment={}, solutions=False)
    assert filled.settings.solution_env == {}
    with pytest.raises(InvalidRule, match="--agent-env OWN"):
        with_variables((task,), VariableNames(), environment={"OWN": "x"})


def test_a_dollar_that_compose_escapes_stays_a_dollar(tmp_path: Path) -> None:
    """``$$`` is compose's own way to write one; it asks for nothing."""
    folder = harbor(tmp_path / "task")
    compose = 'services:\n  main:\n    environment: {A: "$${X}"}\n'
    write(folder, {"environment/docker-compose.yaml": compose})
    (filled,) = with_variables((read_task(folder),), VariableNames(), environment={"X": SECRET})
    assert filled.settings.agent_env == {"A": "${X}"}


def test_a_value_that_looks_like_a_template_is_not_filled_again(tmp_path: Path) -> None:
    """Else a variable could ask for another one that was not handed in."""
    task = task_with(tmp_path, '[environment.env]\nA = "${A}"\n')
    (filled,) = with_variables(
        (task,), VariableNames(both=("A",)), environment={"A": "${B}", "B": SECRET}
    )
    assert filled.settings.agent_env == {"A": "${B}"}


def test_limits_of_a_run_replace_those_of_tasks(tmp_path: Path) -> None:
    """The factor holds for all times, also for those that the run states."""
    task = read_task(harbor(tmp_path / "task"))
    bounds = with_overrides(
        task, Overrides(timeout_multiplier=2, agent_timeout=7, cpus=3, memory_mb=99)
    ).settings.bounds
    assert (bounds.agent_s, bounds.verifier_s, bounds.build_s) == (14, 40, 200)
    assert (bounds.cpus, bounds.memory_mb, bounds.storage_mb) == (3, 99, 16)
    longest = with_overrides(task, Overrides(timeout_multiplier=1000, agent_timeout=86_400))
    assert longest.settings.bounds.agent_s == 86_400
    assert with_overrides(task, Overrides()) == task
