"""Vote rigging: votes on every battle move a model further than votes on its own battles alone.

129 models, 1.5 million past votes, and new battles between two models drawn at random, as in the
publication. To raise its model by one rank, the target-only attacker votes for it where it plays
and abstains otherwise; the omnipresent attacker votes in every battle for the side that brings the
model closer to the next one above it. Both know the Bradley–Terry strengths θ and the curvature H
of their likelihood: a vote with score s on a battle of a and b changes them by
H⁻¹ (e_a − e_b) (s − p). The number of battles is the gap to the rival, divided by the mean change
of a battle, for the rival that takes the fewest.

How much cheaper the omnipresent attack is depends on the past votes on the model: with equal
numbers for every model it halves the battles; for a model with many past votes among models with
few it takes a tenth, because the others move more easily.

Source: Min et al. (2025), Improving Your Model Ranking on Chatbot Arena by Vote Rigging, arXiv
2501.17858: target-only rigging uses 1 % of the battles, omnipresent rigging all, and hundreds
of votes suffice where thousands did not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from benchmarks.published.figures import Figure, Sources

FloatArray = npt.NDArray[np.float64]

SOURCE = "Omnipresent and target-only vote rigging (arXiv 2501.17858)"

_MODELS, _VOTES, _SEED = 129, 1_500_000, 0
_STRENGTHS = 0.6  # deviation of θ, about 100 points of Elo
_POPULARITY = 1.2  # deviation of the logarithm of votes per model: most in 1,000 … 100,000
_RIVALS = 15  # nearest models above that are considered
_OFTEN = 0.9  # quantile of past votes above which a model is popular


@dataclass(frozen=True)
class Arena:
    """The strengths of models, and how votes move them.

    Attributes:
        strengths: θ, from the strongest down.
        moves: the inverse curvature of the likelihood: models × models.
        votes: number of past votes on each model.
    """

    strengths: FloatArray
    moves: FloatArray
    votes: FloatArray

    @classmethod
    def draw(cls, *, models: int, votes: float, popularity: float, seed: int) -> "Arena":
        """Draw an arena with as many models and past votes.

        Args:
            models: how many.
            votes: how many past votes in all.
            popularity: deviation of the logarithm of the votes per model; 0: all equal.
            seed: of the draws.
        """
        generator = np.random.default_rng(seed)
        strengths = np.sort(generator.normal(0.0, _STRENGTHS, models))[::-1]
        popular = np.exp(generator.normal(0.0, popularity, models))
        pairs = np.outer(popular, popular)
        np.fill_diagonal(pairs, 0.0)
        pairs *= 2 * votes / pairs.sum()
        wins = _wins(strengths)
        flows = pairs * wins * (1 - wins)
        curvature = np.diag(flows.sum(axis=1)) - flows
        moves = np.asarray(np.linalg.pinv(curvature, hermitian=True), dtype=np.float64)
        return cls(strengths, moves, pairs.sum(axis=1))

    def battles(self, target: int) -> tuple[float, float]:
        """Return the expected number of battles for one rank: target-only, then omnipresent."""
        models = len(self.strengths)
        wins = _wins(self.strengths)
        pairs = np.triu_indices(models, 1)
        fewest = [np.inf, np.inf]
        for rival in range(max(0, target - _RIVALS), target):
            approach = self.moves[target] - self.moves[rival]
            change = approach[:, None] - approach[None, :]
            gains = np.maximum(change * (1 - wins), -change * wins)
            own = np.delete(change[target] * (1 - wins[target]), target).sum() / len(pairs[0])
            gap = self.strengths[rival] - self.strengths[target]
            fewest = [
                min(least, gap / gain if gain > 0 else np.inf)
                for least, gain in zip(fewest, (own, gains[pairs].mean()), strict=True)
            ]
        return float(fewest[0]), float(fewest[1])


def _wins(strengths: FloatArray) -> FloatArray:
    """Return the probability that each model wins against each other one."""
    return np.asarray(1 / (1 + np.exp(strengths[None, :] - strengths[:, None])))


def ratios(arena: Arena, *, popular: bool) -> FloatArray:
    """Return how many times as many battles the target-only attack takes, one per target.

    Args:
        arena: the models.
        popular: only models with more past votes than nine in ten others.
    """
    targets = np.arange(_RIVALS, len(arena.strengths))
    if popular:
        targets = targets[arena.votes[targets] > np.quantile(arena.votes, _OFTEN)]
    battles = np.array([arena.battles(int(target)) for target in targets])
    return np.asarray(battles[:, 0] / battles[:, 1])


def figures(_: Sources) -> Iterator[Figure]:
    """Yield the median ratio for popular models, for all, and where all have equal votes."""
    arena = Arena.draw(models=_MODELS, votes=_VOTES, popularity=_POPULARITY, seed=_SEED)
    even = Arena.draw(models=_MODELS, votes=_VOTES, popularity=0.0, seed=_SEED)
    for name, theirs, values in (
        ("the tenth of models with most votes", 10.0, ratios(arena, popular=True)),
        ("all models", 1.0, ratios(arena, popular=False)),
        ("models with equal past votes", 1.0, ratios(even, popular=False)),
    ):
        yield Figure(
            name=f"battles for one rank, target-only to omnipresent, {name}",
            theirs=theirs,
            ours=round(float(np.median(values)), 1),
            comparison="at least",
            unit="×",
        )
