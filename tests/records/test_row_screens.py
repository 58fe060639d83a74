"""Check that many rows are judged together as they are one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines import BUILT_IN, discipline
from agon.records import Column, Kind, Table
from agon.records.normal import normal_form
from agon.records.rows import row_checker
from records.test_rows import _ANYTHING, _rows, _values
from sizes import size

TIME = "2026-11-22T09:30:00"


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(row[name] for row in rows) for name in rows[0]}


@pytest.mark.sample(2)
@pytest.mark.parametrize("of", BUILT_IN)
@settings(max_examples=size(50), deadline=None)
@given(data=st.data())
def test_what_passes_together_passes_one_by_one(of: str, data: st.DataObject) -> None:
    """The quick check may pass valid rows to the slow one, and accepts no bad one."""
    table = data.draw(st.sampled_from(discipline(of).schema.tables))
    left_out = data.draw(st.sets(st.sampled_from([column.name for column in table.columns])))
    rows = [
        {name: value for name, value in row.items() if name not in left_out}
        for row in data.draw(_rows(table))[: data.draw(st.integers(1, 4))]
    ]
    checker = row_checker(table)
    if rows[0] and checker.accepts(_columns(rows), len(rows)):
        assert [checker.issues(row) for row in rows] == [[]] * len(rows)


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("kind", list(Kind))
@settings(max_examples=size(60), deadline=None)
@given(data=st.data())
def test_a_column_that_passes_holds_nothing_that_does_not(
    kind: Kind, empty: bool, data: st.DataObject  # noqa: FBT001 - pytest gives it
) -> None:  # fmt: skip
    """Kind by kind, so that valid values are frequent enough among the wrong ones."""
    choices = data.draw(st.sampled_from([(), ("a", "b")])) if kind is Kind.TEXT else ()
    column = Column("x", kind, nullable=empty, choices=choices)
    table = Table("any", (column,))
    values = data.draw(st.lists(_values(column) | _ANYTHING, min_size=1, max_size=3))
    if row_checker(table).accepts({"x": values}, len(values)):
        assert [row_checker(table).issues({"x": value}) for value in values] == [[]] * len(values)


@pytest.mark.parametrize(
    ("of", "table", "rows"),
    [
        ("arena", "matches", [{"id": "m", "played_at": f"{TIME}Z", "bot_a": "x", "bot_b": "y",
                               "kind": "rated"}]),
        ("arena", "votes", [{"match_id": "m", "judge_id": 7, "shown_first": "a", "vote": "tie",
                             "voted_at": None},
                            {"match_id": "m", "judge_id": "j", "shown_first": "b", "vote": "A",
                             "voted_at": f"{TIME}.25"}]),
        ("community", "quick_feedbacks", [{"id": 1, "user_id": "u", "prompt_id": "p",
                                           "response_id": None, "opinion": "positive"}]),
        ("challenge", "evaluations", [{"submission_id": "s", "validator_id": "v", "score": 0.5,
                                       "epoch": 3}]),
        ("dojo", "submissions", [{"id": "s", "problem_id": "p", "user_id": "u", "verdict": "ok",
                                  "created_at": TIME, "source": "1", "cpu_ms": 4}]),
    ],
)  # fmt: skip
def test_usual_rows_need_no_second_look(of: str, table: str, rows: list[dict[str, Any]]) -> None:
    """Otherwise the quick check would cost time."""
    assert row_checker(discipline(of).schema.table(table)).accepts(_columns(rows), len(rows))


@pytest.mark.sample(2)
@pytest.mark.parametrize("of", BUILT_IN)
@settings(max_examples=size(50), deadline=None)
@given(data=st.data())
def test_what_passes_as_normal_passes_one_by_one(of: str, data: st.DataObject) -> None:
    """What the normal form shows already is not looked at again, and nothing bad is let through."""
    table = data.draw(st.sampled_from(discipline(of).schema.tables))
    rows: Sequence[Mapping[str, Any]] = data.draw(_rows(table))
    names = [name for name in rows[0] if all(row.get(name) is not None for row in rows)]
    rows = normal_form(table).rows(
        {name: [row[name] for row in rows] for name in names},
        [{name: row[name] for name in names} for row in rows],
    )
    if not names or set(map(tuple, rows)) != {tuple(names)}:
        return
    columns = _columns(rows)
    again = normal_form(table).rows(columns, rows)
    if again is rows and row_checker(table).accepts(columns, len(rows), is_normal=True):
        assert not [issue for row in rows for issue in row_checker(table).issues(row)]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (Column("x", Kind.TIMESTAMP), "2026-02-30T00:00:00Z"),
        (Column("x", Kind.NUMBER, low=0, high=1), 1.5),
        (Column("x", Kind.NUMBER, above=0), 0.0),
        (Column("x", Kind.NUMBER), float("nan")),
        (Column("x", Kind.INTEGER), 2**63),
        (Column("x", Kind.TEXT, choices=("a", "b")), "c"),
    ],
)
def test_a_normal_value_may_still_be_wrong(column: Column, value: Any) -> None:
    """Normal is how a value is written; bounds and closed lists are looked at."""
    checker = row_checker(Table("any", (column,)))
    assert not checker.accepts({"x": [value]}, 1, is_normal=True)


@pytest.mark.parametrize(
    "values",
    [[TIME, f"{TIME}\n{TIME}"], ["2026-02-30T00:00:00Z"], ["2026-W01-1T00:00:00"], [20261122],
     ["\ud800"], ["٢٠٢٦-11-22T09:30:00"]],
)  # fmt: skip
def test_what_only_looks_like_times_is_looked_at_closer(values: list[Any]) -> None:
    """The shapes are compared in one text, which no value can cut otherwise."""
    table = Table("any", (Column("x", Kind.TIMESTAMP),))
    assert not row_checker(table).accepts({"x": values}, len(values))


def test_a_check_of_whole_rows_fails_them_together_too() -> None:
    """A rated match needs its bots, and two of them."""
    good = row_checker(discipline("arena").schema.table("matches")).accepts
    match: dict[str, list[Any]] = {
        "id": ["m"],
        "played_at": [None],
        "kind": ["rated"],
        "bot_a": ["x"],
        "bot_b": ["y"],
    }
    assert good(match, 1)
    assert not good(match | {"bot_b": ["x"]}, 1)
    assert not good(match | {"bot_b": [None]}, 1)
    del match["bot_a"]
    assert not good(match, 1)
