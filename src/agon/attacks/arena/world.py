"""The honest arena that an attacker enters."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import score
from agon.records import Records

DAYS = 14

ROUNDS = 12
"""Rounds a day: one every two hours."""

_LARGE = 1_000  # bots above which there are half as many rounds: 84 matches of each bot
_SPREAD = 150  # standard deviation of strengths, as in the simulation of records
_FEWEST = 12


@dataclass(frozen=True, eq=False)
class World:
    """Honest bots of known strength; each belongs to an owner and judges with its own accuracy.

    Attributes:
        strength: of each bot, in Elo.
        accuracy: how often each sees the better answer as a judge.
        seed: of all draws.
    """

    strength: npt.NDArray[np.float64]
    accuracy: npt.NDArray[np.float64]
    seed: int

    def __len__(self) -> int:
        return len(self.strength)

    @property
    def rounds(self) -> int:
        """Rounds a day.

        Many bots have half as many, so that a lab takes minutes: 84 matches still establish a
        rating, and each judge votes 126 times.
        """
        return ROUNDS if len(self) <= _LARGE else ROUNDS // 2


def simulated_world(size: int, seed: int) -> World:
    """Return an arena of ``size`` people; each has a bot and judges.

    Raises:
        ValueError: there are fewer than twelve.
    """
    if size < _FEWEST:
        raise ValueError(f"expected at least {_FEWEST} people with a bot each, got {size}")
    rng = np.random.default_rng(seed)
    return World(rng.normal(1000, _SPREAD, size), rng.beta(32, 8, size), seed)


def observed_world(records: Records, seed: int) -> World:
    """Return an arena whose bots are as strong as the ratings of real ones say.

    Raises:
        ValueError: fewer than twelve bots are rated.
    """
    scored = score(records, ArenaRules())
    strength = np.array([row["score"] for row in scored.board("bots").rows()])
    if len(strength) < _FEWEST:
        raise ValueError(f"expected at least {_FEWEST} rated bots, got {len(strength)}")
    rng = np.random.default_rng(seed)
    return World(strength, rng.beta(32, 8, len(strength)), seed)
