"""The Ladder: an attack without data climbs on a naive board and not on the Ladder.

The attacker submits random labels, keeps those that the board says are better than chance, and
submits their majority. A naive board shows the accuracy of each submission on its hidden labels;
the Ladder shows the best so far, and a new one only if it is better by a step η, rounded to η.

Source: Blum and Hardt (2015), The Ladder: A Reliable Leaderboard for Machine Learning Competitions,
arXiv 1502.04585, section 4 (boosting attack) and theorem 3.1: the error of the Ladder is of order
(ln(k n) / n)^⅓ for k submissions on n labels.
"""

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from benchmarks.published.figures import Figure, Sources

SOURCE = "The Ladder (arXiv 1502.04585)"

_LABELS, _SUBMISSIONS, _STEP, _SEED = 4_000, 1_000, 0.01, 0
_CHANCE = 0.5

BoolArray = npt.NDArray[np.bool_]


def shown_scores(scores: npt.NDArray[np.float64], *, step: float | None) -> list[float]:
    """Return what a board answers to each submission.

    Args:
        scores: accuracy of each submission, in order.
        step: η of the Ladder; None: a naive board.

    Example:
        >>> shown_scores(np.array([0.504, 0.512, 0.506, 0.531]), step=0.01)
        [0.5, 0.51, 0.51, 0.53]
        >>> shown_scores(np.array([0.504, 0.512]), step=None)
        [0.504, 0.512]
    """
    if step is None:
        return [float(score) for score in scores]
    shown, best = [], -math.inf
    for score in scores.tolist():
        if score > best + step:
            best = round(round(score / step) * step, 12)
        shown.append(best)
    return shown


def attack_gain(*, step: float | None) -> float:
    """Return by how much the board's final score exceeds one half, which is the true accuracy.

    Args:
        step: η of the Ladder; None: a naive board.
    """
    generator = np.random.default_rng(_SEED)
    hidden = generator.random(_LABELS) < _CHANCE
    guesses = generator.random((_SUBMISSIONS, _LABELS)) < _CHANCE
    shown = shown_scores((guesses == hidden).mean(axis=1), step=step)
    known = [_CHANCE, *shown[:-1]] if step else [_CHANCE] * _SUBMISSIONS
    better = [score > previous for score, previous in zip(shown, known, strict=True)]
    majority = guesses[np.array(better)].mean(axis=0) > _CHANCE
    final = np.append((guesses == hidden).mean(axis=1), (majority == hidden).mean())
    return shown_scores(final, step=step)[-1] - _CHANCE


def boosting_gain(*, labels: int, submissions: int) -> float:
    """Return the expected gain on a naive board, of order √(k / n): Φ(2 δ √(k / 2)) − ½.

    Half of the k submissions are kept, each better than chance by δ = √(2 / π) / (2 √n).

    Example:
        >>> round(boosting_gain(labels=4_000, submissions=1_000), 3)
        0.111
    """
    advantage = math.sqrt(2 / math.pi) / (2 * math.sqrt(labels))
    return NormalDist().cdf(2 * advantage * math.sqrt(submissions / 2)) - _CHANCE


def figures(_: Sources) -> Iterator[Figure]:
    """Yield the attacker's gain on both boards."""
    bound = (math.log(_LABELS * _SUBMISSIONS) / _LABELS) ** (1 / 3)
    yield Figure(
        name="gain of 1,000 random submissions on 4,000 labels, naive board",
        theirs=round(boosting_gain(labels=_LABELS, submissions=_SUBMISSIONS), 2),
        ours=round(attack_gain(step=None), 2),
        comparison="within",
        tolerance=0.02,
    )
    yield Figure(
        name="the same on the Ladder, η = .01; theirs is the order of its error",
        theirs=round(bound, 2),
        ours=round(attack_gain(step=_STEP), 2),
        comparison="at most",
    )
