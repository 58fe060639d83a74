"""Ratings equal those of other tools where they compute the same, by figures stored from them.

The figures are of the battles below, with the peers' own tolerances tightened: arena-rank 0.1.1
(``BradleyTerry`` and ``ContextualBradleyTerry`` without a penalty), evalica 0.4.2
(``bradley_terry``) and arenakit 0.1.1 (``fit_rao_kupper`` without a prior, triads), on 2026-11-28.
Differences that remain by choice: arena-rank centers features and penalizes their coefficients;
arenakit adds virtual battles to every model; both have other origins than the weighted mean.
"""

from math import exp
from typing import Any

import pytest

from agon.app.arena.audit import audit
from agon.app.arena.rating import RatingTable, rate

PLAIN = [1083.7267, 1033.0147, 1039.2938, 1011.7121, 938.6701, 893.5826]
"""Of arena-rank and of evalica, alike to every digit."""
WITH_LENGTH = [1088.1402, 1035.6378, 1038.0896, 1004.2805, 938.8625, 894.9893]
"""Of arena-rank, with the relative difference of lengths divided by its standard deviation."""
RAO_KUPPER = [1087.7399, 1034.4654, 1041.8002, 1012.7871, 934.9818, 888.2256]
"""Of arenakit, on the Elo scale around 1000."""


def battles() -> list[dict[str, Any]]:
    """Return 600 battles of six models, in which long answers win more, from a fixed sequence."""
    state, rows = 20261128, []

    def draw(below: int) -> int:
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % below

    for _ in range(600):
        a = draw(6)
        b = (a + 1 + draw(5)) % 6
        long_a, long_b = 50 + draw(400), 50 + draw(400)
        share = draw(1000) / 1000
        lean = 0.5 + 0.06 * (b - a) + 0.0006 * (long_a - long_b)
        winner = "tie" if draw(10) < 2 else "model_a" if share < lean else "model_b"
        rows.append(
            {
                "model_a": f"m{a}", "model_b": f"m{b}", "winner": winner,
                "length_a": long_a, "length_b": long_b,
            }
        )  # fmt: skip
    return rows


def rated(*, control: tuple[str, ...] = (), **rules: Any) -> RatingTable:
    """Rate the battles around their plain mean, as the peers do."""
    rules = {"center": "mean", **rules}
    return rate(
        battles(), method="bradley-terry", interval=True, control=control, overrides=rules
    )  # fmt: skip


def ratings(made: RatingTable) -> list[float]:
    """Return the ratings by name."""
    return [row["score"] for row in sorted(made.rows(), key=lambda row: str(row["id"]))]


def test_plain_ratings_equal_those_of_arena_rank_and_evalica() -> None:
    """One likelihood has one maximum."""
    assert ratings(rated()) == pytest.approx(PLAIN, abs=1e-3)


def test_ratings_with_a_control_equal_the_contextual_model_of_arena_rank() -> None:
    """The specification asks for 0.01 Elo."""
    made = rated(control=("length",))
    assert ratings(made) == pytest.approx(WITH_LENGTH, abs=1e-3)
    [length] = made.board.context["model"]["parameters"]
    assert length["value"] == pytest.approx(0.25961, abs=1e-5)


def test_rao_kupper_equals_that_of_arenakit() -> None:
    """Its tie parameter is e^τ."""
    made = rated(ties="rao-kupper")
    assert ratings(made) == pytest.approx(RAO_KUPPER, abs=1e-3)
    [tie] = made.board.context["model"]["parameters"]
    assert exp(tie["value"]) == pytest.approx(1.6293034618, abs=1e-4)


@pytest.mark.exhaustive
def test_as_many_triads_are_cyclic_as_arenakit_counts() -> None:
    """One of twenty."""
    probe = audit(battles())["cycles"]
    assert probe.figure == pytest.approx(0.05)
    assert probe.sentence.startswith("1 of 20 triads are cyclic")
