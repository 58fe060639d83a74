"""Check that a row is judged alone as it is among others."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines import BUILT_IN, discipline
from agon.records import Column, Kind, Schema, Table
from agon.records.checks.validation import issues_of
from agon.records.issues import RowIssue
from agon.records.names.mapping import NO_MAPPING
from agon.records.raw import MemoryEngine
from agon.records.rows import row_checker
from agon.records.sources import open_source
from agon.records.values.conversions import convert_values
from agon.records.values.typed import make_typed
from sizes import size

_TIMES = st.one_of(
    st.datetimes().map(lambda at: at.isoformat()),
    st.datetimes().map(lambda at: at.isoformat(sep=" ", timespec="minutes") + "+19:59"),
    st.from_regex(
        r"[0-9]{4}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,9})?)?"
        r"( UTC|Z|[+-][012][0-9](:?[0-6][0-9])?)?)?",
        fullmatch=True,
    ),
    st.sampled_from(
        ["9999-12-31T23:59:59-01:00", "0001-01-01T00:00+01", "2026-01-01T24:00:00", " 2026-01-01 "]
    ),
)
_NUMBERS = st.one_of(
    st.integers(),
    st.integers(-3, 3),
    st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**400]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-3, 3).map(float),
    st.sampled_from([1e15, 1e16, 9.3e18, 1e20, 1e21, -0.0]),
)
_WRITTEN = st.one_of(
    st.from_regex(r" ?[+-]?[0-9]{0,21}\.?[0-9]{0,2}([eE][+-]?[0-9]{1,3})? ?", fullmatch=True),
    st.sampled_from(["", " ", "nan", "-Inf", "infinity", "true", "F", "Yes", "no ", "a", "b"]),
)
_NO_EPOCHS: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.just([]), st.text("ab :-TZ", max_size=5)
)
"""Values of columns of times; whether numbers are times since 1970 depends on the whole column."""
_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    _NUMBERS,
    _WRITTEN,
    _TIMES,
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
)
_ANYTHING: st.SearchStrategy[Any] = st.one_of(_PLAIN, st.just([]), st.just([1]), st.just({}))


def _values(column: Column) -> st.SearchStrategy[Any]:
    fitting = {
        Kind.TIMESTAMP: _TIMES,
        Kind.NUMBER: st.floats(-1, 2) | _NUMBERS,
        Kind.INTEGER: _NUMBERS,
        Kind.BOOLEAN: st.booleans(),
    }.get(column.kind, st.integers(0, 3) | st.sampled_from(["a", "0", "x"]))
    if column.choices:
        fitting = st.sampled_from(column.choices)
    # In a file a list may be the name on a side that is the same list, which no row accepts.
    other = _NO_EPOCHS if column.kind is Kind.TIMESTAMP else _PLAIN if column.sides else _ANYTHING
    return st.one_of(fitting, fitting, st.none(), other)


def _rows(table: Table) -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.fixed_dictionaries({column.name: _values(column) for column in table.columns})
    return st.lists(row, min_size=4, max_size=12)


def _issues_in_file(engine: MemoryEngine, table: Table, rows: list[dict[str, Any]]) -> set[Any]:
    """Return the issues of rows in a file, without those that depend on other rows."""
    alone = replace(
        table,
        key=(),
        columns=tuple(replace(column, references=None) for column in table.columns),
        checks=table.row_checks,
    )
    schema = Schema("any", (alone,))
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (Path(folder) / f"{table.name}.ndjson").write_text(text, encoding="utf-8")
        source, _ = convert_values(
            engine.connection, schema, open_source(engine.connection, schema, folder), NO_MAPPING,
            words_in_place=True,
        )  # fmt: skip
        typing = make_typed(engine.connection, schema, source.tables)
        issues = issues_of(engine.connection, schema, source, typing)
    return {_stated(issue) for issue in issues}


def _stated(issue: RowIssue) -> tuple[Any, ...]:
    """Return what an issue states."""
    return issue.row, issue.column, issue.code, issue.reason, issue.remedy


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """Start one engine for all files."""
    engine = MemoryEngine()
    yield engine
    engine.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("of", BUILT_IN)
@settings(max_examples=size(25), deadline=None)
@given(data=st.data())
def test_a_single_row_has_the_issues_it_has_in_a_file(
    engine: MemoryEngine, of: str, data: st.DataObject
) -> None:
    """Rows accepted one by one have to be valid when all of them are read later."""
    table = data.draw(st.sampled_from(discipline(of).schema.tables))
    rows = data.draw(_rows(table))
    check = row_checker(table).issues
    alone = {_stated(one) for number, row in enumerate(rows, start=1) for one in check(row, number)}
    assert alone == _issues_in_file(engine, table, rows)


def test_an_issue_names_value_and_remedy() -> None:
    """The sender of a bad row reads all its errors, and the valid values."""
    check = row_checker(discipline("arena").schema.table("votes")).issues
    issues = check({"match_id": 1, "judge_id": "", "shown_first": "c", "vote": "A"}, 4)
    assert [str(issue) for issue in issues] == [
        "votes, row 4, column judge_id: is empty; give a whole number or text",
        "votes, row 4, column shown_first: 'c' is not one of the known values; give one of a, b",
    ]


@pytest.mark.parametrize("winner", ["a", "A", "ann", "Ann "])
def test_a_side_in_any_spelling_has_to_agree_with_the_score(winner: str) -> None:
    """A row that is accepted alone would be wrong once its words are read."""
    row = {"id": 1, "played_at": "2026-01-01T00:00:00Z", "kind": "rated", "bot_a": "ann",
           "bot_b": "bob", "winner": winner, "score_a": 0.0}  # fmt: skip
    check = row_checker(discipline("arena").schema.table("matches")).issues
    assert [(one.column, one.reason) for one in check(row, 1)] == [
        ("score_a", "is not the score of the winner")
    ]


def test_checks_across_rows_are_named() -> None:
    """A caller that accepts single rows has to know which checks need more rows."""
    schema = discipline("challenge").schema
    columns = {table.name: [check.column for check in table.cross_row_checks] for table in schema}
    assert columns == {
        "submissions": ["competition"],
        "evaluations": [],
        "task_results": [],
        "validators": ["id"],
        "competitions": ["emission_share"],
        "registrations": ["uid", "hotkey"],
        "task_rewards": [],
    }


@pytest.mark.parametrize("winner", [1, 1.0, "1", "1.0", 0.0, "-0.0", 2.0, True])
@pytest.mark.parametrize("bots", [(0, 1), (0.0, 1.0), ("x", 1), ("a", "1.0"), (None, 1)])
def test_the_name_of_a_side_may_be_written_as_a_float(
    engine: MemoryEngine, bots: tuple[Any, Any], winner: Any
) -> None:
    """Data frames write 1 as 1.0 where a value of the column is missing."""
    table = discipline("arena").schema.table("matches")
    row = {
        "id": 0, "played_at": "2000-01-01T00:00:00", "bot_a": bots[0], "bot_b": bots[1],
        "prompt_id": 0, "kind": "rated", "draw_seed": 0, "winner": winner,
    }  # fmt: skip
    alone = {_stated(one) for one in row_checker(table).issues(row, 1)}
    assert alone == _issues_in_file(engine, table, [row])
    unknown = {column for _, column, code, *_ in alone if code == "unknown-value"}
    is_name = str(winner) in {"1", "1.0"} or (winner == 0.0 and bots[0] == 0)
    assert unknown == (set() if is_name else {"winner"})
