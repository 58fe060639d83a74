"""Best of N clones: entering one model N times and keeping the best rating.

Equal bots wander by chance alone
(:func:`agon.disciplines.arena.ratings.robustness.noise_floors`): with K = 16 by 37 points. The
best of N clones is therefore above its strength by the expected maximum of N such ratings.

Source: Singh et al. (2025), The Leaderboard Illusion, arXiv 2504.20879; +22, 44, 59 and 76 points
of Elo with K = 16 for 2, 5, 10 and 27 private variants (27 is how many one provider tested).
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from benchmarks.published.figures import Figure, Sources

from agon.kernel.ratings.elo import EloState, fold

SOURCE = "Best of N clones (arXiv 2504.20879)"

_PUBLISHED = ((2, 22), (5, 44), (10, 59), (27, 76))
_BOTS, _MATCHES, _ROUNDS, _SEED = 2_000, 200_000, 6, 0
_K, _START = 16.0, 1000.0


def wandering_ratings() -> npt.NDArray[np.float64]:
    """Return Elo ratings of bots of equal strength, less their start, at several times."""
    generator = np.random.default_rng(_SEED)
    state = EloState.fresh(_BOTS, start=_START)
    ratings = []
    for _ in range(_ROUNDS):
        a = generator.integers(0, _BOTS, _MATCHES)
        b = (a + generator.integers(1, _BOTS, _MATCHES)) % _BOTS
        state = fold(
            state, a, b, generator.integers(0, 2, _MATCHES).astype(float),
            k_new=_K, k_established=_K, games_established=0, scale=400, start=_START,
            round_changes=False,
        ).state  # fmt: skip
        ratings.append(state.ratings - _START)
    return np.concatenate(ratings[1:])


def expected_best(ratings: npt.NDArray[np.float64], clones: int) -> float:
    """Return the mean of the best of as many ratings drawn at random.

    The i-th smallest of M is the best of N with probability (i / M)^N − ((i − 1) / M)^N.

    Example:
        >>> expected_best(np.array([0.0, 1.0]), 2)  # three of four draws have a 1
        0.75
    """
    quantiles = np.linspace(0.0, 1.0, len(ratings) + 1) ** clones
    return float(np.diff(quantiles) @ np.sort(ratings))


def figures(_: Sources) -> Iterator[Figure]:
    """Yield the advantage of the best of 2, 5, 10 and 27 clones."""
    ratings = wandering_ratings()
    for clones, theirs in _PUBLISHED:
        yield Figure(
            name=f"best of {clones} clones, K = 16",
            theirs=theirs,
            ours=round(expected_best(ratings, clones)),
            comparison="within",
            tolerance=3,
            unit="points",
        )
