"""Decide what reward is a pass: the one rule of runs and of imports."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from agon.app.containers.values import RewardSource

_MAX_SHOWN_CHARACTERS = 60

REWARD = "reward"
"""The key that counts where a task names none and the tests wrote it."""


@dataclass(frozen=True, kw_only=True)
class PassRule:
    """The rule that makes a pass or a fail of a task's rewards.

    Attributes:
        source: what makes a pass: the exit code of the tests, their rewards, or both.
        threshold: the least reward that passes; of 0 every reward above 0 does.
        key: the reward that counts; empty: ``reward``, else the smallest of all.
    """

    source: RewardSource = "exit_code"
    threshold: float = 1.0
    key: str = ""

    def choose(self, rewards: Mapping[str, float]) -> tuple[str, float | None]:
        """Return the reward that counts, with its key; None where there is none.

        Example:
            >>> PassRule().choose({"correctness": 1.0, "style": 0.0})
            ('style', 0.0)
            >>> PassRule(key="correctness").choose({"correctness": 1.0, "style": 0.0})
            ('correctness', 1.0)
        """
        wanted = self.key or REWARD
        if wanted in rewards or self.key:
            return wanted, rewards.get(wanted)
        return min(rewards.items(), key=lambda item: item[1], default=("", None))

    def passes(self, reward: float) -> bool:
        """Return whether a reward is a pass.

        Example:
            >>> [PassRule().passes(x) for x in (1, 1.5, 0.05)], PassRule(threshold=0).passes(0.05)
            ([True, True, False], True)
        """
        return reward > 0 and reward >= self.threshold

    def failure(self, rewards: Mapping[str, float]) -> str:
        """Return why rewards are no pass; empty when they are one."""
        key, value = self.choose(rewards)
        if value is None:
            return (
                f"the tests left no reward {_key_text(key)}" if key else "the tests left no reward"
            )
        if self.passes(value):
            return ""
        least = f"; {self.threshold:g} or more passes (pass_threshold)" if value > 0 else ""
        return f"{reward_name(key)} is {value:g}{least}"


def reward_name(key: str) -> str:
    """Return what a reward is called.

    Example:
        >>> reward_name("reward"), reward_name("style")
        ('the reward', 'the reward style')
    """
    return "the reward" if key == REWARD else f"the reward {_key_text(key)}"


def _key_text(key: str) -> str:
    """Return a key as it may stand in one printable line; programs choose it."""
    text = key if key.isprintable() else ascii(key)
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[:_MAX_SHOWN_CHARACTERS]}…"


def plain_reward(value: object) -> float:
    """Return one reward as a finite number; true and false are 1 and 0.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(value, int):  # true and false are
        return float(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"{value!r} is no finite number")


BY_EXIT_CODE = PassRule()
"""The source document's rule: the tests pass when they exit with 0."""
