"""Check records that grow against the same rows read at once."""

import gc
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.records import Column, Kind, Schema, Table, read_rows
from agon.records.append_only import AppendOnlyTables
from agon.records.json_rows import text_index
from agon.records.raw import MemoryEngine
from records.recorder import Recorder
from sizes import size

SCHEMA = Schema(
    "toy",
    (
        Table("people", (Column("id", Kind.ID), Column("name", Kind.TEXT, required=False))),
        Table(
            "notes",
            (
                Column("by", Kind.ID, references="people.id"),
                Column("count", Kind.INTEGER, required=False),
                Column("weight", Kind.NUMBER, required=False),
                Column("good", Kind.BOOLEAN, required=False),
                Column("at", Kind.TIMESTAMP, required=False),
            ),
            time="at",
        ),
    ),
)

PAIRS = Schema(
    "pairs",
    (
        Table("people", (Column("id", Kind.ID),)),
        Table(
            "pairs",
            (
                Column("a", Kind.ID, references="people.id"),
                Column("b", Kind.ID, references="people.id"),
            ),
        ),
    ),
)

IDS = st.integers(-3, 99) | st.sampled_from(["1", "7", "07", "x", "1000000000000000000000"])
NOTES = st.fixed_dictionaries(
    {"by": IDS},
    optional={
        "count": st.none() | st.integers(-(2**63), 2**63 - 1) | st.sampled_from(["5", 2.0, " 7 "]),
        "weight": st.none() | st.integers(0, 9) | st.floats(-1e9, 1e9) | st.just("1.5"),
        "good": st.none() | st.booleans() | st.sampled_from(["yes", 0]),
        "at": st.none() | st.just("2026-01-02T03:04:05+01:00") | st.just("2026-01-01"),
        "other": st.just("passed over"),
    },
)


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """Start one engine for all examples."""
    engine = MemoryEngine()
    yield engine
    engine.close()


@pytest.fixture
def growing(engine: MemoryEngine) -> Iterator[AppendOnlyTables]:
    """Give empty records that grow."""
    growing = AppendOnlyTables(SCHEMA, engine=engine)
    yield growing
    growing.close()


def _rows(records: Any, table: str) -> list[dict[str, Any]]:
    return list(records.arrow(table).to_pylist())


@settings(max_examples=size(30), deadline=None)
@given(notes=st.lists(NOTES, max_size=8), people=st.lists(IDS, max_size=3), batch=st.integers(1, 4))
def test_rows_appended_in_batches_equal_rows_read_at_once(
    engine: MemoryEngine, notes: list[dict[str, Any]], people: list[Any], batch: int
) -> None:
    """What a row says must not depend on the rows it happened to arrive with."""
    growing = AppendOnlyTables(SCHEMA, engine=engine)
    people = [*people, *(note["by"] for note in notes)]
    growing.append("people", [{"id": one} for one in people], range(1, len(people) + 1))
    for start in range(0, len(notes), batch):
        part = notes[start : start + batch]
        growing.append("notes", part, range(start + 100, start + 100 + len(part)))
        growing.records()
    grown = growing.records()
    # One row at a time is read by itself, so that no neighbour changes how it is read.
    is_whole = text_index(people) is None
    expected = []
    for note in notes:
        plain = {key: value for key, value in note.items() if key != "other"}
        alone = read_rows(Schema("toy", (_loose(SCHEMA.table("notes")),)), {"notes": [plain]})
        row = alone.arrow("notes").drop_columns("_row").to_pylist()[0]
        expected.append(row | {"by": int(row["by"]) if is_whole else str(row["by"])})
        alone.close()
    values = grown.arrow("notes").drop_columns("_row").to_pylist()
    assert values == expected
    assert grown.has("notes") == bool(notes)
    growing.close()


def _loose(table: Table) -> Table:
    columns = tuple(Column(one.name, one.kind, required=False) for one in table.columns)
    return Table(table.name, columns)


def test_a_row_is_seen_within_its_spans(growing: AppendOnlyTables) -> None:
    """A void that is rolled back gives the record back, and forgets nothing of the meantime."""
    growing.append("people", [{"id": 1}, {"id": 2}], [1, 2])
    growing.end([1], at=4)
    growing.begin([1], at=6)
    growing.end([1], at=8)
    growing.append("people", [{"id": 3}], [7])
    ids = [[row["id"] for row in _rows(growing.records(at), "people")] for at in range(9)]
    assert ids == [[], [1], [1, 2], [1, 2], [2], [2], [1, 2], [1, 2, 3], [2, 3]]


def test_what_is_ended_twice_or_begun_twice_stays_as_it_is(growing: AppendOnlyTables) -> None:
    """Two voids of one record are one as far as its rows go."""
    growing.append("people", [{"id": 1}], [1])
    growing.begin([1], at=2)
    growing.end([1], at=3)
    growing.records()
    growing.end([1], at=4)
    growing.begin([1], at=5)
    growing.begin([1], at=6)
    assert [growing.records(at).count("people") for at in range(1, 7)] == [1, 1, 0, 0, 1, 1]


def test_rows_stand_in_the_order_of_their_numbers(growing: AppendOnlyTables) -> None:
    """File order has a meaning to some rules; coming back does not put a record last."""
    growing.append("people", [{"id": 1}, {"id": 2}], [1, 2])
    growing.records()
    growing.end([1], at=3)
    growing.begin([1], at=4)
    assert growing.records().sql("SELECT id FROM people")["id"].to_pylist() == [1, 2]


def test_ids_are_text_only_where_a_text_is_seen(growing: AppendOnlyTables) -> None:
    """An earlier position is read as it was: ids that were numbers then compare as numbers."""
    growing.append("people", [{"id": 10}, {"id": "9"}], [1, 2])
    growing.append("notes", [{"by": 10}], [3])
    before = growing.records(3)
    growing.append("people", [{"id": "x"}], [4])
    growing.end([4], at=5)
    at_text = growing.records(4)
    assert [row["id"] for row in _rows(before, "people")] == [10, 9]
    assert [row["id"] for row in _rows(at_text, "people")] == ["10", "9", "x"]
    assert [row["by"] for row in _rows(at_text, "notes")] == ["10"]
    assert [row["id"] for row in _rows(growing.records(5), "people")] == [10, 9]


def test_records_left_out_were_never_there(growing: AppendOnlyTables) -> None:
    """A dry run shows the board without some records before they are voided."""
    growing.append("people", [{"id": 1}, {"id": "x"}], [1, 2])
    assert [row["id"] for row in _rows(growing.records(without={2}), "people")] == [1]
    assert not growing.records(without=[1, 2]).has("people")


def test_a_moment_is_taken_of_what_a_position_shows(growing: AppendOnlyTables) -> None:
    """The records' own time and the ledger's positions are two questions."""
    growing.append("people", [{"id": 1}, {"id": 2}], [1, 2])
    growing.append("notes", [{"by": 1, "at": "2026-01-01"}, {"by": 2, "at": "2026-01-03"}], [3, 4])
    seen = growing.records().as_of(datetime(2026, 1, 2))  # noqa: DTZ001 - no zone is UTC
    gc.collect()
    growing.records()
    assert [row["by"] for row in _rows(seen, "notes")] == [1]
    seen.close()
    growing.records()
    assert growing.records().count("notes") == 2


def test_the_hash_is_that_of_the_same_rows_in_a_file(growing: AppendOnlyTables) -> None:
    """Who scores an export of the records proves the same thing."""
    people: list[dict[str, Any]] = [{"id": 1, "name": "Ada"}, {"id": 2, "name": None}]
    growing.append("people", people, [1, 5])
    growing.append("notes", [{"by": 1, "weight": 2}], [7])
    read = read_rows(SCHEMA, {"people": people, "notes": [{"by": 1, "weight": 2}]})
    assert growing.records().sha256 == read.sha256
    read.close()


def test_what_refers_to_an_ended_row_goes_and_comes_with_it(growing: AppendOnlyTables) -> None:
    """A vote of a voided match would count for a match that is not visible."""
    growing.append("people", [{"id": 1}, {"id": 2}], [1, 2])
    growing.append("notes", [{"by": 1}, {"by": 2}, {"by": 1}], [3, 4, 5])
    growing.end([1], at=6)
    growing.begin([1], at=7)
    numbers = [[row["_row"] for row in _rows(growing.records(at), "notes")] for at in (5, 6, 7)]
    assert numbers == [[3, 4, 5], [4], [3, 4, 5]]
    assert [row["by"] for row in _rows(growing.records(without=[2]), "notes")] == [1, 1]
    assert not growing.records(without=[1, 2]).has("notes")


def test_a_row_is_seen_from_where_its_reference_is(growing: AppendOnlyTables) -> None:
    """A request may give a row before the one it refers to; a position may lie between them."""
    growing.append("notes", [{"by": 1}], [1])
    assert not growing.records().has("notes")
    growing.append("people", [{"id": 1}], [2])
    growing.append("notes", [{"by": 3}], [3])
    growing.append("people", [{"id": 3}], [4])
    assert [growing.records(at).count("notes") for at in range(1, 5)] == [0, 1, 1, 2]


def test_ids_are_text_only_where_a_row_with_text_is_not_left_out(growing: AppendOnlyTables) -> None:
    """Invisible rows must not determine how the others are read."""
    growing.append("people", [{"id": 10}], [1])
    growing.append("notes", [{"by": "x"}, {"by": 10}], [2, 3])
    assert [row["by"] for row in _rows(growing.records(), "notes")] == [10]


def test_rows_are_found_by_what_a_column_says(growing: AppendOnlyTables) -> None:
    """To void the records of a participant, they have to be listed."""
    growing.append("people", [{"id": 1}, {"id": 2}], [1, 2])
    growing.append("notes", [{"by": 1}, {"by": 2}, {"by": 1}], [3, 4, 9])
    assert growing.records().rows_where("notes", "by", ["1", "x"]) == {3: "1", 9: "1"}


def test_two_statements_ask_about_a_new_row(engine: MemoryEngine) -> None:
    """A board follows each record; whether references are to earlier rows is asked of all at once.

    The other question is which tables have rows. Numbers of rows are asked once.
    """
    recorder = Recorder(engine.connection)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "connection", recorder)
        growing = AppendOnlyTables(PAIRS, engine=engine)
        growing.append("people", [{"id": "ada"}, {"id": "bob"}], [1, 2])
        growing.append("pairs", [{"a": "ada", "b": "bob"}], [3])
        growing.records()
        growing.append("pairs", [{"a": "bob", "b": "ada"}], [4])
        recorder.statements.clear()
        records = growing.records()
        assert [sql.split()[0].strip("(") for sql in recorder.statements].count("SELECT") == 2
        assert [records.count("pairs"), records.count("pairs")] == [2, 2]
        assert sum("count(*) FROM" in sql for sql in recorder.statements) == 1
        growing.close()


@pytest.mark.parametrize("numbers", [[2, 2], [3, 2]])
def test_numbers_have_to_rise(growing: AppendOnlyTables, numbers: list[int]) -> None:
    """Of two rows with one number, a void could not name one."""
    with pytest.raises(ValueError, match="give ascending numbers"):
        growing.append("people", [{"id": 1}, {"id": 2}], numbers)


def test_an_unknown_record_is_refused(growing: AppendOnlyTables) -> None:
    """A void without effect would be taken for one that worked."""
    with pytest.raises(ValueError, match="no record 5"):
        growing.end([5], at=6)
    with pytest.raises(ValueError, match="no record 5"):
        growing.begin([5], at=6)


def test_many_rows_do_not_wait_as_objects(
    growing: AppendOnlyTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million rows as Python objects would take gigabytes."""
    monkeypatch.setattr("agon.records.append_only._MAX_PENDING_ROWS", 2)
    growing.append("people", [{"id": 1}, {"id": 2}, {"id": 3}], [1, 2, 3])
    assert not growing._pending_rows
    growing.end([2], at=4)
    assert growing.records().count("people") == 2


def test_own_engine_closes_with_the_records() -> None:
    """Nothing is left in memory or on disk."""
    growing = AppendOnlyTables(SCHEMA)
    growing.append("people", [], [])
    assert growing.records().count("people") == 0
    growing.close()
    growing.close()
