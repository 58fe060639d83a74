"""Intervals of ratings and of differences cover the truth as often as they promise."""

from dataclasses import dataclass

import numpy as np
import pytest

from agon.kernel.ratings.bradley_terry import bradley_terry, rateable
from agon.kernel.ratings.clusters import Clusters
from agon.kernel.ratings.intervals import sandwich_intervals
from agon.kernel.ratings.pair_counts import count_pairs
from agon.kernel.ratings.separation import ComparisonRule, separate
from sizes import size


@dataclass(frozen=True)
class Design:
    """A contest that is drawn again and again.

    Attributes:
        judges: verdicts on each question, of which a share repeats the first one.
        panel: judges of as many matches each, who mostly repeat what they said of a pair; 0: none.
    """

    bots: int
    matches: int
    judges: int = 1
    panel: int = 0


@dataclass(frozen=True)
class Coverage:
    """Shares of drawn contests in which the truth was within."""

    ratings: float
    differences: float
    simultaneous: float


@dataclass(frozen=True)
class Drawn:
    """The matches of a contest, with the question or the judge of each; None: they are one each."""

    a: np.ndarray
    b: np.ndarray
    score: np.ndarray
    groups: np.ndarray | None


def draw(design: Design, truth: np.ndarray, dice: np.random.Generator) -> Drawn:
    """Draw a contest of known strengths."""
    questions = design.matches // design.judges
    a = dice.integers(0, design.bots, questions)
    b = (a + dice.integers(1, design.bots, questions)) % design.bots
    chance = 1 / (1 + np.exp(truth[b] - truth[a]))
    verdicts = dice.random((questions, design.judges)) < chance[:, None]
    repeats = dice.random((questions, design.judges)) < 0.8
    if design.panel:
        judge = np.repeat(np.arange(design.panel), questions // design.panel)
        low, high = np.minimum(a, b), np.maximum(a, b)
        alike = 1 / (1 + np.exp(truth[None, :] - truth[:, None]))
        habit = dice.random((design.panel, design.bots, design.bots)) < alike
        habitual = habit[judge, low, high] == (a == low)
        return Drawn(a, b, np.where(repeats[:, 0], habitual, verdicts[:, 0]).astype(float), judge)
    verdicts = np.where(repeats, verdicts[:, :1], verdicts).ravel().astype(float)
    of_match = np.repeat(np.arange(questions), design.judges)
    return Drawn(a[of_match], b[of_match], verdicts, of_match if design.judges > 1 else None)


def coverage(design: Design, *, boards: int, seed: int) -> Coverage:
    """Draw contests of known strengths and count what their intervals cover."""
    dice = np.random.default_rng(seed)
    truth = np.linspace(-1, 1, design.bots)
    ratings, differences, together = [], [], []
    for _ in range(boards):
        drawn = draw(design, truth, dice)
        counts = count_pairs(drawn.a, drawn.b, drawn.score, players=design.bots)
        rated = rateable(counts)
        if np.count_nonzero(rated) < 2:
            continue
        row = np.where(rated, np.cumsum(rated) - 1, -1)
        a, b = row[drawn.a], row[drawn.b]
        within = (a >= 0) & (b >= 0)
        counts = counts.select(rated)
        clusters = None
        if drawn.groups is not None:
            _, groups = np.unique(drawn.groups[within], return_inverse=True)
            clusters = Clusters(
                "group", counts.players, a[within], b[within], drawn.score[within], (groups,)
            )
        center = counts.of_players() / counts.of_players().sum()
        made = sandwich_intervals(
            counts, bradley_terry(counts, regularization=0.0), level=0.95, center=center,
            clusters=clusters,
        )  # fmt: skip
        known = truth[rated] - center @ truth[rated]
        ratings.append(((made.low <= known) & (known <= made.high)).mean())
        i, j = np.triu_indices(counts.players, 1)
        error = np.sqrt(made.covariance.of_differences(i, j))
        missed = np.abs((made.strength[i] - made.strength[j]) - (known[i] - known[j])) / error
        differences.append((missed <= 1.959964).mean())
        compared = separate(
            made.strength,
            made.covariance,
            order=np.argsort(-made.strength, kind="stable"),
            comparison=ComparisonRule(level=0.95, simultaneous="pairs", draws=2000, seed=1),
            matches=design.matches,
        )
        together.append(missed.max() <= compared.critical)
    return Coverage(*(float(np.mean(each)) for each in (ratings, differences, together)))


DESIGNS = [
    Design(6, 120), Design(6, 3000), Design(20, 600), Design(50, 3000), Design(20, 3000, 3),
    Design(6, 30), Design(6, 600, 3), Design(50, 1000),
    Design(6, 600, panel=30), Design(6, 3000, panel=30), Design(6, 2000, panel=100),
]  # fmt: skip


def check(design: Design, *, boards: int, slack: float) -> None:
    """Require the promised coverage, but for what chance leaves in so many boards."""
    made = coverage(design, boards=boards, seed=design.bots * design.matches)
    assert 0.93 - slack <= made.ratings <= 0.98 + slack, made
    assert 0.93 - slack <= made.differences <= 0.98 + slack, made
    assert made.simultaneous >= 0.94 - 2 * slack, made


@pytest.mark.sample(1)
@pytest.mark.parametrize("design", [Design(6, 120), Design(20, 3000, 3), Design(6, 600, panel=30)])
def test_intervals_of_few_boards_cover_the_truth(design: Design) -> None:
    """An interval that covers less is wrong; by independent matches, and by questions."""
    check(design, boards=size(320), slack=0.03)


@pytest.mark.exhaustive
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_intervals_of_a_thousand_boards_cover_the_truth(design: Design) -> None:
    """The designs of the specification, from 6 bots and 30 matches to 50 and 3,000."""
    check(design, boards=1000, slack=0.005)  # of chance, in a thousand boards
