"""Read the steps of a task, and combine what their tests say.

Each step has its own instruction, tests and solution in ``steps/NAME``, and is run as a task of its
own that begins with what the step before left in the working folders. So an agent sees the tests of
no step, and what it leaves behind reaches no verdict but its own. A trial ends early at a step
without a reward, or below its ``min_reward``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from agon.app.containers import HealthCheck
from agon.app.containers.pass_rule import REWARD
from agon.app.tasks.settings_reader import DAY_S, SettingsReader

Strategy: TypeAlias = Literal["mean", "final"]
"""How the rewards of steps become those of a trial."""

_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """A row of ``[[steps]]``; what it does not say is as in the whole task.

    Attributes:
        name: its folder in ``steps``.
        agent_s: seconds of the agent; None: as the task.
        verifier_s: seconds of the tests; None: as the task.
        verifier_user: the user that runs the tests; empty: as the task.
        verifier_env: further variables of the tests.
        min_reward: the least reward by key with which the trial goes on.
        health: what must work before its agent begins, besides the task's own check.
    """

    name: str
    agent_s: float | None = None
    verifier_s: float | None = None
    verifier_user: str = ""
    verifier_env: tuple[tuple[str, str], ...] = ()
    min_reward: tuple[tuple[str, float], ...] = ()
    health: HealthCheck | None = None


def check_step_name(keys: SettingsReader, taken: set[str]) -> str:
    """Return the name of a step, which names a folder; a wrong or second one is an error."""
    name = keys.text("name")
    if not _NAME.fullmatch(name) or name in taken:
        keys.add_issue("name", name, "give each step the name of its own folder in steps/")
    taken.add(name)
    return name


def min_rewards(keys: SettingsReader) -> tuple[tuple[str, float], ...]:
    """Return the least reward by key: of ``reward`` where a step gives one number."""
    value = keys.anything("min_reward")
    rows: Mapping[str, Any] = value if isinstance(value, Mapping) else {REWARD: value}
    if value is None:
        return ()
    if any(isinstance(x, bool) or not isinstance(x, int | float) for x in rows.values()):
        keys.add_issue("min_reward", value, "give a number, or a table with a number per key")
        return ()
    return tuple((key, float(number)) for key, number in rows.items())


def step_seconds(keys: SettingsReader) -> float | None:
    """Return a step's own time limit; None where it has none."""
    if "timeout_sec" not in keys:
        return None
    return keys.number("timeout_sec", default=600.0, low=0.1, high=DAY_S)


def below_minimum(rewards: Mapping[str, float], least: Sequence[tuple[str, float]]) -> str:
    """Return which reward ends a trial after a step; empty: none does.

    Example:
        >>> below_minimum({"reward": 0.5}, [("reward", 0.8)])
        'the reward reward is 0.5; min_reward is 0.8'
        >>> below_minimum({"reward": 0.5}, [("style", 0)]), below_minimum({"a": 1}, [("a", 1)])
        ('there is no reward style; min_reward is 0', '')
    """
    for key, minimum in least:
        if key not in rewards:
            return f"there is no reward {key}; min_reward is {minimum:g}"
        if rewards[key] < minimum:
            return f"the reward {key} is {rewards[key]:g}; min_reward is {minimum:g}"
    return ""


def combine(steps: Sequence[Mapping[str, float]], strategy: Strategy) -> dict[str, float]:
    """Return the rewards of a trial: the last step's, or the mean by key of the steps that ran.

    Example:
        >>> combine([{"reward": 1.0}, {"reward": 0.0, "style": 1.0}], "mean")
        {'reward': 0.5, 'style': 0.5}
        >>> combine([{"reward": 1.0}, {"reward": 0.0}], "final")
        {'reward': 0.0}
    """
    if not steps or strategy == "final":
        return dict(steps[-1]) if steps else {}
    keys = dict.fromkeys(key for rewards in steps for key in rewards)
    return {key: sum(rewards.get(key, 0.0) for rewards in steps) / len(steps) for key in keys}
