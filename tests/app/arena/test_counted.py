"""Battles of a large frame are counted, with the board that reading them row by row makes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from agon.app.arena import counted, rating
from agon.app.arena.rating import rate
from agon.errors import AgonError
from sizes import size

NAMES = ["m0", "m1", "m2", "bot x", "Bot X", "m1 ", "10", "9", "GPT‑4", "GPT-4", "left", "a"]
PLAIN = ["model_a", "model_b", "tie", "left", "Right", " draw ", "tie (bothbad)", "1-0"]
WORDS = [*PLAIN, "A>>B", "nope", "", None, "m0", "bot x", "m1"]
Outcome = tuple[Any, ...]


def outcome(frame: Any, monkeypatch: pytest.MonkeyPatch, *, count: bool, **stated: Any) -> Outcome:
    """Return the board and what is said with it, or the error; and whether battles were counted."""
    boards = []

    def counting(*table: Any, **how: Any) -> Any:
        boards.append(counted.counted_board(*table, **how) if count else None)
        return boards[-1]

    monkeypatch.setattr(counted, "COUNTED_FROM", 1)
    monkeypatch.setattr(rating, "counted_board", counting)
    try:
        made = rate(frame, method="bradley-terry", interval=True, **stated)
    except AgonError as error:
        return type(error), str(error)
    board = made.board
    return board.sha256, board.context, board.unscored, made.notes, made.rules_title


def drawn(dice: np.random.Generator) -> tuple[pd.DataFrame, Mapping[str, Any]]:
    """Draw battles, of which many are faulty, with a further column, and choices of the caller."""
    clean = dice.random() < 0.6
    names = dice.choice(NAMES[:4] if clean else NAMES, int(dice.integers(2, 5)), replace=False)
    words = dice.choice(np.array(PLAIN if clean else WORDS, object), 4, replace=False)
    rows = int(dice.choice([1, 5, 30, 120]))
    a = dice.integers(len(names), size=rows)
    b = (a + dice.integers(1, len(names), rows)) % len(names)
    frame = pd.DataFrame(
        {"model_a": names[a], "model_b": names[b], "winner": words[dice.integers(4, size=rows)]}
    )
    more: dict[str, Any] = {
        "judge": dice.choice(["j1", "j2"], rows),
        "tstamp": dice.choice([1.7e9, 1.6e9, 5.0] if clean else [1.7e9, np.nan, -1.0], rows),
        "timestamp": pd.Timestamp("2026-01-01"),
        "prompt_id": dice.choice(["p", "q"], rows),
        "language": dice.choice(np.array(["en", None], object), rows),
        "turn": 1.5,
        "weight": 2.0,
        "promt_id": "p",
        "white": "w",
        "rest": 1,
    }
    if dice.random() < 0.5:
        name = str(dice.choice(list(more)))
        frame[name] = more[name]
    other_names: list[dict[str, str]] = [
        {"model_a": "Model A"},
        {"model_a": "white", "model_b": "black", "winner": "result"},
        {"model_a": "left"},
    ]
    if dice.random() < 0.2:
        frame = frame.rename(columns=other_names[int(dice.integers(3))])
    stated: dict[str, Any] = {}
    if dice.random() < 0.3:
        stated["overrides"] = {"bradley_terry_regularisation": 0.5}
    if dice.random() < 0.1:
        stated["columns"] = {"model_a": "left"}
    return frame, stated


def test_counted_battles_have_the_board_and_the_errors_of_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two readings of one frame must not differ: neither in ratings nor in what is refused."""
    dice = np.random.default_rng(33)
    for _ in range(size(120, dear=True)):
        frame, stated = drawn(dice)
        ours = outcome(frame, monkeypatch, count=True, **stated)
        assert ours == outcome(frame, monkeypatch, count=False, **stated), frame


def styled(dice: np.random.Generator) -> tuple[pd.DataFrame, Mapping[str, Any]]:
    """Draw battles with columns of styles, of which many are faulty, and models of them."""
    rows = int(dice.choice([30, 120]))
    a = dice.integers(3, size=rows)
    b = (a + dice.integers(1, 3, rows)) % 3
    words = np.array(PLAIN[:3], object)
    frame = pd.DataFrame(
        {"model_a": np.array(NAMES)[a], "model_b": np.array(NAMES)[b],
         "winner": words[dice.integers(3, size=rows)],
         "length_a": dice.integers(1, 90, rows), "length_b": dice.integers(1, 90, rows),
         "cost": dice.normal(0, 1, rows), "turn": dice.integers(1, 4, rows)}
    )  # fmt: skip
    number = dice.normal(5, 1, rows)
    faults: list[dict[str, Any]] = [
        {"cost": np.where(dice.random(rows) < 0.1, np.nan, number)},
        {"cost": np.where(dice.random(rows) < 0.1, np.inf, number)},
        {"cost": number.astype(str)},
        {"cost": number > 5},
        {"cost": number.astype(np.float32)},
        {"cost": 1.0},
        {"Cost": number},
        {"cost_a": number},
        {"length": number},
        {"length_b": 1 << 60},
        {"length_b": None},
        {"response_a": "# one", "response_b": "two"},
        {"prompt_id": "p"},
    ]
    if dice.random() < 0.5:
        frame = frame.assign(**faults[int(dice.integers(len(faults)))])
    control = ["cost", "length", "turn", "headers", "cost,length", "length,length", "", "cots"]
    overrides = {
        "ties": str(dice.choice(["half", "davidson", "rao-kupper"])),
        "control": control[int(dice.choice(8, p=[0.25, 0.25, 0.05, 0.05, 0.2, 0.05, 0.1, 0.05]))],
        "control_form": str(dice.choice(["relative", "difference"])),
        "bradley_terry_regularisation": float(dice.choice([0.0, 0.5])),
        "position": str(dice.choice(["ignored", "fitted"], p=[0.9, 0.1])),
    }
    return frame, {"overrides": overrides}


@pytest.mark.exhaustive
def test_models_of_styles_and_ties_have_the_board_and_the_errors_of_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Columns of numbers that are read at once mean what the same columns mean row by row."""
    dice = np.random.default_rng(34)
    for _ in range(size(120, dear=True)):
        frame, stated = styled(dice)
        ours = outcome(frame, monkeypatch, count=True, **stated)
        assert ours == outcome(frame, monkeypatch, count=False, **stated), (frame, stated)


BATTLES = {
    "model_a": ["ann", "bob", "cy", "ann"], "model_b": ["bob", "cy", "ann", "bob"],
    "winner": ["left", "model_a", "model_a", "tie"],
}  # fmt: skip


def test_sound_columns_of_styles_are_not_read_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame with styles is as large as one without; reading it by row took most of the time."""
    monkeypatch.setattr(counted, "COUNTED_FROM", 1)
    frame = pd.DataFrame(BATTLES).assign(length_a=[3, 1, 2, 5], length_b=[1.5, 2, 2, 4])
    rules = {"bradley_terry_regularisation": 0.5}
    made = rate(frame, method="bradley-terry", control=["length"], overrides=rules)
    assert made.board.context["model"]["control"] == ["length"]
    assert "result" not in vars(made)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(BATTLES),
        pd.DataFrame(BATTLES).assign(judge="j", tstamp=1.7e9, rest=[[1], [2], [3], [4]]),
        pl.DataFrame(BATTLES),
        pa.table(BATTLES),
        pd.DataFrame(BATTLES).rename(columns={"model_a": "Model A", "winner": "outcome"}),
    ],
    ids=["pandas", "judge and time", "polars", "arrow", "other names"],
)
def test_plain_battles_are_counted(frame: Any) -> None:
    """What is slow without counting is what people have: frames of names and winners."""
    from agon.app.importers.counted_battles import count_battles
    from agon.records.names.mapping import NO_MAPPING

    made = count_battles(pa.table(frame), mapping=NO_MAPPING)
    assert made is not None
    assert made.names.to_pylist() == ["ann", "bob", "cy"]
    assert made.pairs.matches.tolist() == [2, 1, 1]


def test_records_behind_counted_ratings_are_read_when_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Explanations, notes and findings need rows."""
    monkeypatch.setattr(counted, "COUNTED_FROM", 1)
    made = rate(pd.DataFrame(BATTLES), method="bradley-terry", interval=True)
    assert "result" not in vars(made)
    assert made.explain("ann").score == made.board.row("ann")["score"]
    assert "left" in "".join(made.notes)
    assert made.result.board("bradley-terry").sha256 == made.board.sha256
