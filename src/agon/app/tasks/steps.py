"""The steps of a task, and how what their tests say is combined.

Each step has its own instruction, tests and solution in ``steps/NAME``, and is run as a task of its
own that begins with what the step before left in the working folders. So an agent sees the tests of
no step, and what it leaves behind reaches no verdict but its own. A trial ends early at a step
without a reward, or below its ``min_reward``.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from agon.app.containers.pass_rule import reward_name

Strategy: TypeAlias = Literal["mean", "final"]
"""How the rewards of steps become those of a trial."""


def below_minimum(rewards: Mapping[str, float], least: Sequence[tuple[str, float]]) -> str:
    """Return which reward ends a trial after a step; empty: none does.

    Example:
        >>> below_minimum({"reward": 0.5}, [("reward", 0.8)])
        'the reward is 0.5; min_reward is 0.8'
        >>> below_minimum({"reward": 0.5}, [("style", 0)]), below_minimum({"a": 1}, [("a", 1)])
        ('there is no reward style; min_reward is 0', '')
    """
    for key, minimum in least:
        if key not in rewards:
            return f"there is no reward {key}; min_reward is {minimum:g}"
        if rewards[key] < minimum:
            return f"{reward_name(key)} is {rewards[key]:g}; min_reward is {minimum:g}"
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
