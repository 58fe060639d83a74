"""The matches that an explanation names decide rank and tier: a board without them differs."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import agon

Row = dict[str, Any]
BOTS = ["ann", "bob", "cy", "dee", "eve"]


def drawn(seed: int, *, matches: int, **further: Any) -> list[Row]:
    """Draw matches of five bots; further columns are values by number, drawn by a function."""
    dice = np.random.default_rng(seed)
    strength = np.linspace(0.7, -0.7, len(BOTS))
    rows = []
    for number in range(matches):
        a = int(dice.integers(len(BOTS)))
        b = int((a + dice.integers(1, len(BOTS))) % len(BOTS))
        won = dice.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        winner = "tie" if dice.random() < 0.1 else "a" if won else "b"
        rows.append(
            {
                "id": number, "played_at": None, "bot_a": BOTS[a], "bot_b": BOTS[b],
                "kind": "rated", "winner": winner, **{k: v(dice) for k, v in further.items()},
            }
        )  # fmt: skip
    return rows


def share(rows: list[Row], seed: int) -> list[Row]:
    """Replace results by shares of the point on the winner's side."""
    dice = np.random.default_rng(seed)
    center = {"a": 0.85, "tie": 0.5, "b": 0.15}
    shares = [round(center[row["winner"]] + dice.uniform(-0.1, 0.1), 3) for row in rows]
    return [
        {**row, "score_a": s, "winner": "a" if s > 0.5 else "b" if s < 0.5 else "tie"}
        for row, s in zip(rows, shares, strict=True)
    ]


UNDEFEATED = [
    {
        "id": 900 + n, "played_at": None, "bot_a": "new", "bot_b": BOTS[n], "kind": "rated",
        "winner": "a",
    }
    for n in range(3)
]  # fmt: skip
DESIGNS: dict[str, tuple[list[Row], dict[str, Any]]] = {
    "plain": (drawn(1, matches=150), {}),
    "weights": (drawn(2, matches=150, weight=lambda dice: float(dice.choice([0.5, 1, 3]))), {}),
    "shares": (share(drawn(3, matches=150), 3), {}),
    "clusters": (
        drawn(4, matches=150, prompt_id=lambda dice: f"p{dice.integers(40)}"),
        {"cluster": "prompt"},
    ),
    "regularization": (drawn(5, matches=150), {"bradley_terry_regularisation": 0.5}),
    "partial": ([*drawn(6, matches=150), *UNDEFEATED], {}),
    "davidson": (drawn(7, matches=150), {"ties": "davidson"}),
}


def scored(rows: list[Row], rules: dict[str, Any], *, out: list[str] | None = None) -> Any:
    """Score matches without some."""
    names = sorted({row[side] for row in rows for side in ("bot_a", "bot_b")})
    bots = [{"id": name, "name": name, "owner_id": None} for name in names]
    rest = [row for row in rows if str(row["id"]) not in (out or [])]
    return agon.score("arena", {"bots": bots, "matches": rest}, overrides=rules)


@pytest.mark.exhaustive
@pytest.mark.parametrize("design", DESIGNS)
def test_without_the_named_matches_two_neighbors_change_places(design: str) -> None:
    """Without all but the last named, and without as many others, the order stays."""
    rows, rules = DESIGNS[design]
    result = scored(rows, rules)
    board = result.board("bradley-terry").rows()
    checked = 0
    for upper, lower in pairwise(board):
        explained = result.explain(upper["id"], board="bradley-terry")
        [compared] = [c for c in explained.context["comparisons"] if "next bot" in c["place"]]
        named = compared["order_matches"]
        if checked == 2 or named is None or named["number"] != len(named["ids"]):
            continue
        checked += 1
        assert compared["bot"] == lower["id"]
        assert f"{lower['id']} would be before it" in " ".join(explained.notes)
        others = [str(row["id"]) for row in rows if str(row["id"]) not in named["ids"]]
        is_before = []
        for out in (named["ids"], named["ids"][:-1], others[-named["number"] :]):
            rest = scored(rows, rules, out=out).board("bradley-terry")
            is_before.append(rest.row(upper["id"])["rank"] <= rest.row(lower["id"])["rank"])
        assert is_before == [False, True, True]
    assert checked == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("design", DESIGNS)
def test_without_the_named_matches_a_bot_is_not_apart_from_the_tier_before(design: str) -> None:
    """Without all but the last named it still is."""
    rows, rules = DESIGNS[design]
    result = scored(rows, rules)
    last = result.board("bradley-terry").rows()[-1]
    explained = result.explain(last["id"], board="bradley-terry")
    [head] = [c for c in explained.context["comparisons"] if "tier before" in c["place"]]
    named = head["tier_matches"]
    assert head["apart"]
    assert named["number"] == len(named["ids"])
    assert "the two would not be apart" in " ".join(explained.notes)
    is_apart = []
    for out in (None, named["ids"][:-1], named["ids"]):
        arena = scored(rows, rules, out=out).scored
        made = arena.strengths
        ids = arena.bots.ids.take(made.bots).to_pylist()
        upper, lower = ids.index(head["bot"]), ids.index(last["id"])
        gap = made.intervals.strength[upper] - made.intervals.strength[lower]
        error = np.sqrt(made.intervals.covariance.of_differences(upper, lower))
        is_apart.append(bool(gap > made.separation.critical * error))
    assert is_apart == [True, True, False]


def test_groups_that_never_met_have_no_deciding_matches() -> None:
    """No match says anything about their order."""
    rows = [
        row
        for row in drawn(8, matches=200)
        if (row["bot_a"] in BOTS[:2]) == (row["bot_b"] in BOTS[:2])
    ]
    result = scored(rows, {"bradley_terry_regularisation": 0.5})
    for bot in BOTS:
        for compared in result.explain(bot, board="bradley-terry").context["comparisons"]:
            if (bot in BOTS[:2]) != (compared["bot"] in BOTS[:2]):
                assert (compared["order_matches"], compared["tier_matches"]) == (None, None)
