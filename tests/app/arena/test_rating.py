"""Test ratings of bots by a named method, with intervals on request."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from agon.app.analysis.score import score
from agon.app.analysis.simulate import simulate, write_simulation
from agon.app.arena.rating import rate
from agon.app.importers import import_records
from agon.errors import Conflict, NotFound, NotScorable, Unreadable
from agon.records import InvalidRecords
from cli.command import arena_folder


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a simulated arena."""
    folder = tmp_path_factory.mktemp("arena") / "records"
    write_simulation(simulate("arena", size=400, seed=8), folder)
    return folder


@pytest.mark.exhaustive
def test_elo_is_the_board_of_bots(simulated: Path) -> None:
    """All commands give the same numbers."""
    ratings = rate(simulated)
    assert ratings.board.table.equals(ratings.result.board("bots").table)


@pytest.mark.exhaustive
def test_elo_intervals_include_their_ratings(simulated: Path) -> None:
    """Percentiles of resampled arenas include the rating; equal seeds give equal ends."""
    board = rate(simulated, interval=True, overrides={"bootstrap_rounds": 60})
    assert board.board.table.column_names[:5] == ["rank", "id", "score", "low", "high"]
    assert all(row["low"] <= row["high"] for row in board.rows())
    held = sum(row["low"] <= row["score"] <= row["high"] for row in board.rows())
    assert held >= 0.8 * len(board)
    again = rate(simulated, interval=True, overrides={"bootstrap_rounds": 60})
    assert again.board.table.equals(board.board.table)
    other = rate(simulated, interval=True, overrides={"bootstrap_rounds": 60, "bootstrap_seed": 9})
    assert not other.board.table.equals(board.board.table)


@pytest.mark.exhaustive
def test_bradley_terry_has_intervals_only_on_request(simulated: Path) -> None:
    """A point estimate has one column."""
    bare = rate(simulated, method="bradley-terry")
    full = rate(simulated, method="bradley-terry", interval=True)
    assert set(full.board.table.column_names) - set(bare.board.table.column_names) == {
        "low",
        "high",
        "rank_low",
        "rank_high",
        "tier",
        "gap",
        "gap_low",
        "gap_high",
        "apart",
        "votes_needed",
    }
    assert bare.board.table["score"].equals(full.board.table["score"])


@pytest.mark.exhaustive
def test_without_a_finite_optimum_there_is_no_rating(tmp_path: Path) -> None:
    """Ann never loses here; the error names the rule that would help."""
    only = "id,played_at,bot_a,bot_b,kind,winner\n1,2026-01-01,ann,bob,rated,a\n"
    folder = arena_folder(tmp_path / "a", matches=only)
    with pytest.raises(NotScorable, match="bradley_terry_regularisation"):
        rate(folder, method="bradley-terry")
    board = rate(folder, method="bradley-terry", overrides={"bradley_terry_regularisation": 1})
    assert [row["id"] for row in board.rows()] == ["ann", "bob"]


ROWS = [
    {"left": "ann", "right": "bob", "winner": "a"},
    {"left": "bob", "right": "cy", "winner": "left"},
    {"left": "cy", "right": "ann", "winner": "tie"},
    {"left": "bob", "right": "ann", "winner": "left"},
]
NAMES = {"model_a": "left", "model_b": "right"}
FRAMES = {
    "polars": pl.DataFrame,
    "pandas": pd.DataFrame,
    "pyarrow": pa.Table.from_pylist,
    "lazy polars": pl.LazyFrame,
    "dicts": list,
    "DuckDB": lambda rows: duckdb.from_arrow(pa.Table.from_pylist(rows)),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_battles_is_rated(kind: str) -> None:
    """Three lines give the table of a data frame of any library."""
    frame: Any = FRAMES[kind](ROWS)
    ratings = rate(frame, method="bradley-terry", interval=True, columns=NAMES)
    assert [row["id"] for row in ratings.rows()] == ["bob", "ann", "cy"]
    assert all(row["low"] < row["score"] < row["high"] for row in ratings.rows())
    assert pl.DataFrame(ratings)["id"].to_list() == ["bob", "ann", "cy"]
    assert pa.table(ratings).equals(ratings.to_arrow())


def test_invalid_battles_are_named_by_the_columns_of_the_frame() -> None:
    """A user does not know the names of the format."""
    wrong = [*ROWS, {"left": "ann", "right": "ann", "winner": "me"}]
    with pytest.raises(InvalidRecords) as caught:
        rate(wrong, columns=NAMES)
    issues = {(issue.row, issue.column) for issue in caught.value.issues}
    assert issues == {(5, "right"), (5, "winner")}
    with pytest.raises(Unreadable, match=r"'modela'.*model_a"):
        rate(ROWS, columns={"modela": "left"})
    with pytest.raises(NotFound, match="elo"):
        rate(ROWS, method="eol", columns=NAMES)  # type: ignore[arg-type]  # a typo


def test_ratings_are_short_in_a_console_and_drawn_in_a_notebook(tmp_path: Path) -> None:
    """At most ten rows; names are escaped; charts are SVG files that can be saved."""
    rows = [{"model_a": f"<b>{n}", "model_b": "x", "winner": "tie"} for n in range(30)]
    ratings = rate(rows, method="bradley-terry", interval=True)
    assert "… 21 more" in repr(ratings)
    assert len(repr(ratings)) < 2_000
    assert "95 % intervals (sandwich)" in repr(ratings)
    assert "<b>" not in ratings._repr_html_()
    assert "&lt;b&gt;0" in ratings._repr_html_()
    for kind in ("ratings", "wins"):
        chart = ratings.plot(kind)
        assert ET.fromstring(chart._repr_svg_()).tag.endswith("svg")  # noqa: S314 (ours)
        chart.save(tmp_path / f"{kind}.svg")
    with pytest.raises(Unreadable, match=r"chart\.svg"):
        ratings.plot().save(tmp_path / "chart.png")
    assert "x against &lt;b&gt;0: 50 % of 1" in rate(rows[:3]).plot("wins").svg


def test_imported_and_simulated_records_are_scored(simulated: Path) -> None:
    """No folder is needed."""
    made = simulate("arena", size=400, seed=8)
    assert score("arena", made).fingerprint == score("arena", simulated).fingerprint
    imported = import_records("arena-battles", ROWS, columns=NAMES)
    assert repr(imported) == "<ImportedRecords arena: bots: 3, matches: 4>"
    assert score("arena", imported).board().rows() == rate(ROWS, columns=NAMES).rows()
    with pytest.raises(Conflict, match="arena"):
        score("dojo", imported)
    with pytest.raises(Unreadable, match="problems, submissions"):
        score("dojo", ROWS)
    with pytest.raises(Unreadable, match="int"):
        score("arena", 5)  # type: ignore[arg-type]  # no source


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.Series(["a"]), "several columns"),
        (pd.DataFrame([["a", "b"]], columns=["model_a", "model_a"]), "name of its own"),
        (pa.table([["a"], ["b"]], names=["model_a", "model_a"]), "twice: model_a"),
    ],
)
def test_what_is_not_a_table_is_named(frame: Any, message: str) -> None:
    """An error of agon, not of the library below."""
    with pytest.raises(Unreadable, match=message):
        rate(frame)


def test_names_of_columns_are_a_mapping() -> None:
    """Text was an AttributeError."""
    with pytest.raises(Unreadable, match="'model_a': 'left'"):
        rate(ROWS, columns="left")  # type: ignore[arg-type]


@pytest.mark.exhaustive
def test_a_file_of_battles_is_rated(tmp_path: Path) -> None:
    """As a data frame is; a name without rows in it is a folder or database as before."""
    file = tmp_path / "battles.csv"
    pd.DataFrame(ROWS).to_csv(file, index=False)
    assert rate(file, columns=NAMES).rows() == rate(ROWS, columns=NAMES).rows()
    with pytest.raises(Unreadable, match="problems, submissions"):
        score("dojo", file)
    read = rate(file, columns=NAMES).result.records
    with pytest.raises(Conflict, match="read_records"):
        rate(read, where={"id": 1})
