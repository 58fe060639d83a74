"""Checks of who evaluates and who is paid: each fires where it should, and not just before."""

from typing import Any

import pytest

from agon.disciplines.challenge.integrity import find
from agon.disciplines.challenge.rules import ChallengeRules
from disciplines.challenge.networks import Tables, records_of, tables_of

WHO = ("v1", "v2", "v3")


def by(validators: tuple[str, ...], score: float, *epochs: int) -> dict[tuple[str, int], float]:
    """Return the same score by validators in epochs."""
    return {(validator, epoch): score for validator in validators for epoch in epochs}


def seated(tables: Tables, *seats: tuple[int, str, int]) -> Tables:
    """Register hotkeys, of which each submission has that of its own name."""
    for row in tables["submissions"]:
        row["miner_hotkey"] = row["id"]
    rows = [dict(zip(("uid", "hotkey", "from_epoch"), seat, strict=True)) for seat in seats]
    return {**tables, "registrations": rows}


def stopped(idle: int) -> Tables:
    """Return a network of which one validator is silent for some epochs."""
    return tables_of({"a": (1, by(WHO, 0.5, 0) | by(WHO[:2], 0.5, *range(1, idle + 1)))})


def left_out(epoch: int) -> Tables:
    """Return a network whose second miner was first evaluated in an epoch, by two of three."""
    return tables_of({"a": (1, by(WHO, 0.5, 0, 3)), "b": (2, by(WHO[:2], 0.5, epoch))})


def small(score: float) -> Tables:
    """Return a network with two large miners and a small one."""
    return tables_of({"a": (1, [1.0] * 3), "b": (2, [1.0] * 3), "c": (3, [score] * 3)})


def departed(last: int) -> Tables:
    """Return a network whose best hotkey leaves in epoch 2; a second one was evaluated last."""
    tables = tables_of({"a": (1, by(WHO, 0.9, 0)), "b": (2, by(WHO, 0.5, last))})
    return seated(tables, (1, "a", 0), (2, "b", 0), (1, "c", 2))


def unbacked(**stakes: float) -> Tables:
    """Return a network in which validators have these stakes."""
    return tables_of({"a": (1, [0.5] * len(stakes))}, stakes=stakes)


PLANTED: list[tuple[str, Tables, Tables, dict[str, Any], str]] = [
    (
        "stopped-validator", stopped(10), stopped(9), {},
        "v3 has not evaluated since epoch 0, for 10 epochs in which others did",
    ),
    (
        "zero-stake", unbacked(v1=0, v2=0), unbacked(v1=1, v2=1), {},
        "no validator has stake at epoch 0, so nothing has a score",
    ),
    ("partial-validator", left_out(2), left_out(3), {}, "v3 has never evaluated 1 miner"),
    ("dust", small(7e-6), small(8e-6), {}, "the weight of 3 (0.000003) is above 0"),
    (
        "carried-top", departed(2), seated(departed(2), (1, "a", 0), (2, "b", 0)),
        {"top_of_departed": "keep"}, "is that of a in epoch 0, whose hotkey holds no uid now",
    ),
    (
        "carried-top", departed(1), departed(2), {"evaluation_window": 3, "epoch": 4},
        "0.5, is that of b in epoch 2, which has no score now; the best that is left is 0",
    ),
]  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("code", "planted", "clean", "rules", "message"), PLANTED, ids=[one[0] for one in PLANTED]
)
def test_a_planted_case_is_found_and_the_nearest_clean_one_is_not(
    code: str, planted: Tables, clean: Tables, rules: dict[str, Any], message: str
) -> None:
    """A check that never fires, or always, is none."""
    chosen = ChallengeRules().override(rules)
    (found,) = [one for one in find(records_of(planted), chosen) if one.code == code]
    assert message in found.message
    assert code not in {one.code for one in find(records_of(clean), chosen)}
