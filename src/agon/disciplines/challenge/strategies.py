"""Compute the miners' shares from the scores of one competition, by one of four strategies.

Every strategy takes one score per miner (each miner's best submission) and gives one share per
miner. Shares sum to 1; without a score above 0 none gets any, and the competition's share burns.
"""

import numpy as np

from agon.kernel.arrays import FloatArray, IntArray


def linear(scores: FloatArray) -> FloatArray:
    """Share in proportion to score: w = s / Σ s.

    Source: document 001, Linear (Default).

    Example:
        >>> linear(np.array([0.75, 0.25])).tolist()
        [0.75, 0.25]
    """
    total = scores.sum()
    return scores / total if total > 0 else np.zeros_like(scores)


def winner_takes_all(scores: FloatArray, ranks: IntArray, *, top_n: int) -> FloatArray:
    """Share equally among the first ``top_n``: w = 1/n for ranks 1 … n, else 0.

    Miners with score 0 get no share: with fewer than ``top_n`` scores above 0, those share.

    Args:
        scores: one per miner.
        ranks: 1 … N, a total order (score, then earlier submission, then id).
        top_n: how many may share.

    Source: document 001, Winner Takes All; challenge, step 7.

    Example:
        >>> winner_takes_all(np.array([0.9, 0.5, 0.0]), np.array([1, 2, 3]), top_n=3).tolist()
        [0.5, 0.5, 0.0]
    """
    wins = (ranks <= top_n) & (scores > 0)
    return wins / max(1, int(wins.sum()))


def quadratic(scores: FloatArray) -> FloatArray:
    """Share in proportion to the square of the score: w = s² / Σ s².

    Source: document 001, Quadratic.

    Example:
        >>> quadratic(np.array([0.75, 0.25])).tolist()  # 9 : 1
        [0.9, 0.1]
    """
    return linear(scores * scores)


def shares_by_rank(scores: FloatArray, ranks: IntArray) -> FloatArray:
    """Return shares by rank: w = (N - rank + 1) / (N (N + 1) / 2), for N miners with a score.

    Source: document 001, Ranked; challenge, step 7 (without a score above 0 no miner gets any).

    Example:
        >>> shares_by_rank(np.array([0.9, 0.5, 0.1]), np.array([1, 2, 3])).round(4).tolist()
        [0.5, 0.3333, 0.1667]
    """
    count = len(scores)
    if not (scores > 0).any():
        return np.zeros_like(scores)
    return (count - ranks + 1) / (count * (count + 1) / 2)


def shares(strategy: str, scores: FloatArray, ranks: IntArray, *, top_n: int) -> FloatArray:
    """Share by the strategy of that name (rule ``strategy``).

    Raises:
        ValueError: the strategy does not exist.

    Example:
        >>> shares("linear", np.array([3.0, 1.0]), np.array([1, 2]), top_n=1).tolist()
        [0.75, 0.25]
    """
    if strategy == "linear":
        return linear(scores)
    if strategy == "winner_takes_all":
        return winner_takes_all(scores, ranks, top_n=top_n)
    if strategy == "quadratic":
        return quadratic(scores)
    if strategy == "ranked":
        return shares_by_rank(scores, ranks)
    raise ValueError(f"there is no strategy {strategy!r}")
