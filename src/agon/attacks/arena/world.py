"""The honest arena that an attacker enters."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import score
from agon.records import Records

DAYS = 14
"""Days of a season."""

ROUNDS = 12
"""Rounds a day: one every two hours."""

_SPREAD = 150  # standard deviation of strengths, as in the simulation of records
_MATCHES_PER_BOT = DAYS * ROUNDS // 2
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


def simulated_world(size: int, seed: int) -> World:
    """Return an arena that plays about ``size`` matches in a season.

    Raises:
        ValueError: the size is below 1.
    """
    if size < 1:
        raise ValueError(f"expected a number of matches from 1 on, got {size}")
    bots = max(_FEWEST, round(size / _MATCHES_PER_BOT))
    rng = np.random.default_rng(seed)
    return World(rng.normal(1000, _SPREAD, bots), rng.beta(32, 8, bots), seed)


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
