"""Draw the votes of honest and dishonest users, and measure tests of their likelihood."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Votes:
    """The votes of many users: users × votes.

    Attributes:
        a, b: numbers of the bots of each battle.
        won: whether the vote was for ``a``.
        chance: probability of a vote for ``a``, by the public ratings.
        bots: number of bots.
    """

    a: IntArray
    b: IntArray
    won: BoolArray
    chance: FloatArray
    bots: int


def honest_votes(
    generator: np.random.Generator, *, users: int, votes: int, bots: int, spread: float
) -> Votes:
    """Draw votes of honest users, by the Bradley–Terry strengths of the bots.

    Args:
        generator: the source of the draws.
        users: how many.
        votes: of each user.
        bots: how many there are; each battle is between two drawn at random.
        spread: deviation of the strengths; 1 is 174 points of Elo.
    """
    strengths = np.sort(generator.normal(0.0, spread, bots))
    a = generator.integers(0, bots, (users, votes))
    b = (a + generator.integers(1, bots, (users, votes))) % bots
    chance = 1 / (1 + np.exp(strengths[b] - strengths[a]))
    return Votes(a, b, generator.random((users, votes)) < chance, chance, bots)


def coin_flips(generator: np.random.Generator, votes: Votes) -> Votes:
    """Return the same battles with votes by coin."""
    won = generator.random(votes.won.shape) < 0.5
    return Votes(votes.a, votes.b, won, votes.chance, votes.bots)


def always_for(target: int, votes: Votes) -> Votes:
    """Return the same battles with every vote on the target's battles for the target."""
    won = np.where(votes.a == target, True, np.where(votes.b == target, False, votes.won))
    return Votes(votes.a, votes.b, won, votes.chance, votes.bots)


def unlikelihood(votes: Votes) -> FloatArray:
    """Return by how much each user's votes are less likely than those of honest users.

    The statistic −Σ ln p(vote), minus its mean and divided by its deviation for honest votes on the
    same battles; one per user.
    """
    likely = np.where(votes.won, votes.chance, 1 - votes.chance)
    entropy = -(votes.chance * np.log(votes.chance) + (1 - votes.chance) * np.log1p(-votes.chance))
    odds = np.log(votes.chance / (1 - votes.chance))
    variance = votes.chance * (1 - votes.chance) * odds**2
    excess = (-np.log(likely) - entropy).sum(axis=1)
    return np.asarray(excess / np.sqrt(variance.sum(axis=1)))


def power_at(false_alarms: float, *, honest: FloatArray, others: FloatArray) -> tuple[float, float]:
    """Return the part of others above the threshold, and of honest users above it.

    The threshold is the smallest value that at most the part ``false_alarms`` of the honest exceed.

    Example:
        >>> power_at(0.25, honest=np.array([1.0, 2.0, 3.0, 4.0]), others=np.array([3.5, 1.0]))
        (0.5, 0.25)
    """
    ordered = np.sort(honest)
    threshold = ordered[len(ordered) - 1 - int(false_alarms * len(ordered))]
    return float(np.mean(others > threshold)), float(np.mean(honest > threshold))
