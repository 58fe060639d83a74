"""Entries in a database."""

from datetime import UTC, timedelta, timezone
from itertools import islice
from typing import Any

import pytest

from agon.entities.contests import Contest, ExistingEntry, NewEntry, NewRecords, StoredEntry
from agon.errors import Conflict, NotFound, Unreadable
from agon.store import entries as module
from agon.store.connection.transaction import Transaction
from agon.store.session import Store
from store.factories import NOON, contest, later, new

pytestmark = pytest.mark.one_database


def _append(store: Store, contest_no: int, *entries: NewEntry) -> int:
    with store.write() as session:
        return session.entries.append(contest_no, iter(entries))


def test_entries_come_back_byte_for_byte_in_order(store: Store, spring: Contest) -> None:
    """The stored bytes are the truth; a chain over other bytes is another ledger."""
    lines = [b'{"a":"\xc3\xa4 \\u0000"}', bytes(range(256)), b"x" * 100_000]
    made = [new(place, line=line) for place, line in enumerate(lines, 1)]
    assert _append(store, spring.no, *made) == 3
    with store.read() as session:
        read = list(session.entries.after(spring.no))
    assert read == [StoredEntry(one.seq, one.line, one.sha256) for one in made]


def test_reading_begins_after_a_position_and_ends_at_a_given_one(
    store: Store, spring: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Portions are the database's business; no border of theirs may show."""
    monkeypatch.setattr(module, "_PORTION", 4)
    _append(store, spring.no, *(new(seq) for seq in range(1, 12)))
    with store.read() as session:

        def seqs(seq: int = 0, *, until: int | None = None, limit: int | None = None) -> list[int]:
            result = session.entries.after(spring.no, seq, until=until, limit=limit)
            return [one.seq for one in result]

        assert seqs() == list(range(1, 12))
        assert seqs(3, until=8) == [4, 5, 6, 7, 8]
        assert seqs(2, limit=5) == [3, 4, 5, 6, 7]
        assert seqs(2, until=4, limit=9) == [3, 4]
        assert seqs(10, until=99) == [11]
        assert seqs(11) == seqs(99) == seqs(3, limit=0) == seqs(5, until=2) == []


def test_rare_entries_are_found_by_kind_in_order(
    store: Store, spring: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of several kinds; the database reads them in batches."""
    monkeypatch.setattr(module, "_FEW", 2)
    kinds = ("draw-made", "decision-made", "record-added")
    _append(store, spring.no, *(new(seq, kind=kinds[seq % 3], record=None) for seq in range(1, 16)))
    with store.read() as session:

        def seqs(*wanted: str, **bounds: int) -> list[int]:
            result = session.entries.of_kind(spring.no, wanted, **bounds)
            return [one.seq for one in result]

        assert seqs("draw-made") == [3, 6, 9, 12, 15]
        assert seqs("decision-made", "draw-made") == [1, 3, 4, 6, 7, 9, 10, 12, 13, 15]
        assert seqs("decision-made", "draw-made", after=4, until=10) == [6, 7, 9, 10]
        assert seqs("contest-opened") == seqs() == seqs("draw-made", after=15) == []


def test_the_newest_entries_of_kinds_are_read_without_the_others(
    store: Store, spring: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of a long log costs what its entries cost, whatever came before."""
    kinds = ("draw-made", "decision-made", "record-added")
    _append(store, spring.no, *(new(seq, kind=kinds[seq % 3], record=None) for seq in range(1, 16)))
    with store.read() as session:
        newest = session.entries.newest_of_kind
        both = newest(spring.no, kinds[:2], batch=2)
        assert [one.seq for one in both] == [15, 13, 12, 10, 9, 7, 6, 4, 3, 1]
        assert [one.seq for one in newest(spring.no, kinds[:2], after=4, until=10)] == [10, 9, 7, 6]
        assert next(newest(spring.no, ["contest-opened"]), None) is None
        read: list[int] = []
        query = Transaction.query

        def count(transaction: Transaction, sql: str, values: Any) -> list[tuple[Any, ...]]:
            rows = query(transaction, sql, values)
            read.append(len(rows))
            return rows

        monkeypatch.setattr(Transaction, "query", count)
        assert [one.seq for one in islice(newest(spring.no, kinds[:2], batch=3), 3)] == [15, 13, 12]
        assert sum(read) == 6


def test_a_record_is_known_as_it_was_at_a_position(store: Store, spring: Contest) -> None:
    """An amendment after a freeze is not visible before it."""
    replaced = new(3, kind="record-replaced", record="votes/m1")
    _append(store, spring.no, new(1), new(2), replaced)
    with store.read() as session:

        def seq(until: int | None) -> list[int]:
            result = session.entries.existing(spring.no, records=["votes/m1"], until=until)
            return [one.seq for one in result.values()]

        assert [seq(until) for until in (None, 3, 2, 1, 0)] == [[3], [3], [1], [1], []]


def test_rare_entries_are_found_by_their_index(store: Store, spring: Contest) -> None:
    """A walk over a million records would take seconds."""
    rows = [new(seq) for seq in range(1, 3000)]
    _append(store, spring.no, *rows, new(3000, kind="draw-made", record=None))
    statements: list[tuple[str, list[Any]]] = []
    with store.write() as session:
        to = session.entries._transaction
        if not to.on_sqlite:
            to.execute("ANALYZE entries")

        class Noting:
            on_sqlite = to.on_sqlite

            def query(self, sql: str, values: Any = ()) -> Any:
                statements.append((sql, values))
                return to.query(sql, values)

        result = list(module.Entries(Noting())._of_kind(spring.no, "draw-made", 0, 3000, batch=9))  # type: ignore[arg-type]  # stands for a transaction
        explain = "EXPLAIN QUERY PLAN " if to.on_sqlite else "EXPLAIN "
        explanation = str(to.query(explain + statements[0][0], statements[0][1]))
    assert [one.seq for one in result] == [3000]
    assert "entries_kind_idx" in explanation


def test_contests_do_not_see_each_others_entries(store: Store, spring: Contest) -> None:
    """The same keys and positions are other contests' own."""
    with store.write() as session:
        other = session.contests.add(contest("autumn"))
        session.entries.append(spring.no, [new(1, external_id="x")])
        session.entries.append(other.no, [new(1, external_id="x", line=b"other")])
    with store.read() as session:
        assert [one.line for one in session.entries.after(other.no)] == [b"other"]


@pytest.mark.parametrize(
    ("again", "named"),
    [
        (new(2, record="votes/x"), "position 2 "),
        (new(4, record="votes/m2"), "record votes/m2 "),
        (new(4, record="votes/m9", external_id="mine, (1)"), r"external id mine, \(1\) "),
    ],
)
def test_what_is_there_already_is_named(
    store: Store, spring: Contest, again: NewEntry, named: str
) -> None:
    """Of a batch of thousands, only the one that collides is news."""
    _append(store, spring.no, new(1, external_id="mine, (1)"), new(2), new(3))
    with pytest.raises(Conflict, match=f"the ledger has the {named}already"):
        _append(store, spring.no, again)
    with store.read() as session:
        assert [one.seq for one in session.entries.after(spring.no)] == [1, 2, 3]


def test_a_refused_batch_leaves_nothing(store: Store, spring: Contest) -> None:
    """All or nothing: half a batch would be a wrong ledger."""
    with pytest.raises(Conflict):
        _append(store, spring.no, new(1), new(2), new(3, record="votes/m1"))
    with store.read() as session:
        assert list(session.entries.after(spring.no)) == []


def test_a_record_is_known_by_its_newest_entry(store: Store, spring: Contest) -> None:
    """A repetition of the replacement is a repetition, one of the original a conflict."""
    second = new(2, kind="record-replaced", record="votes/m1", line=b"new", external_id="x1")
    third = new(3, external_id="x3")
    _append(store, spring.no, new(1, external_id="x1"), second, third)
    with store.read() as session:
        known = session.entries.existing(
            spring.no, records=["votes/m1", "votes/m7"], external_ids=["x1", "x3", "x9"]
        )
        assert known == {
            "votes/m1": ExistingEntry(2, b"new"),
            "x1": ExistingEntry(2, b"new"),
            "x3": ExistingEntry(3, third.line),
        }
        assert session.entries.existing(spring.no) == {}


def _records(
    seq: int, *keys: str | None, names: tuple[str | None, ...] | None = None
) -> NewRecords:
    count = len(keys)
    return NewRecords(
        seq=seq, at=NOON, kinds=["record-added"] * count,
        lines=[b"line %d" % place for place in range(seq, seq + count)], heads=[b"h"] * count,
        tables=["votes"] * count, records=keys, external_ids=names,
    )  # fmt: skip


def test_records_are_entered_as_columns(store: Store, spring: Contest) -> None:
    """One statement per batch, and a few; they are listed like those of single entries."""
    many = [f"votes/m{number}" for number in range(1_000)]
    with store.write() as session:
        session.entries.insert(spring.no, _records(1, *many))
        without_keys = _records(1_001, None, None, names=("x", None))
        assert session.entries.insert_new(spring.no, without_keys)
    with store.read() as session:
        lines = [one.line for one in session.entries.after(spring.no)]
        assert lines == [b"line %d" % seq for seq in range(1, 1_003)]
        known = session.entries.existing(spring.no, records=many[-1:], external_ids=["x"])
        assert {name: one.seq for name, one in known.items()} == {many[-1]: 1_000, "x": 1_001}
        assert len(session.entries.rows(spring.no, "votes", limit=9_999)) == 1_002


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "records",
    [
        _records(4, "votes/m9", "votes/m1"),
        _records(4, "votes/m9", "votes/m9"),
        _records(4, "votes/m9", "votes/m8", names=("e", "e")),
        _records(4, "votes/m9", None, names=(None, "x")),
        _records(4, *(f"votes/n{number}" for number in range(999)), "votes/m2"),
        _records(4, *(f"votes/n{number}" for number in range(1_500)), "votes/m2"),
    ],
)
@pytest.mark.parametrize("replaced", [False, True])
def test_records_that_are_not_all_new_are_not_entered(
    store: Store, spring: Contest, records: NewRecords, *, replaced: bool
) -> None:
    """Not one of them; and what the session did before stays."""
    with store.write() as session:
        session.entries.insert(spring.no, _records(1, "votes/m1", "votes/m2", names=("x", None)))
        third = new(3, kind="record-replaced") if replaced else new(3)
        session.entries.append(spring.no, [third])
        assert not session.entries.insert_new(spring.no, records)
        assert session.entries.insert_new(spring.no, _records(4, "votes/m4"))
    with store.read() as session:
        assert [one.seq for one in session.entries.after(spring.no)] == [1, 2, 3, 4]


def test_a_name_that_only_a_replacement_has_is_known(store: Store, spring: Contest) -> None:
    """The unique indexes leave replacements out, as they share the names of what they replace."""
    _append(store, spring.no, new(1), new(2, kind="record-replaced", record="votes/other"))
    with store.write() as session:
        assert not session.entries.insert_new(spring.no, _records(3, "votes/other"))


def test_records_that_are_there_are_a_conflict(store: Store, spring: Contest) -> None:
    """Entering an unchecked record is an error."""
    with store.write() as session:
        session.entries.insert(spring.no, _records(1, "votes/m1"))
    with pytest.raises(Conflict, match="already; read it and try again"), store.write() as session:
        session.entries.insert(spring.no, _records(2, "votes/m1"))


@pytest.mark.exhaustive
def test_any_number_of_keys_may_be_asked_for(store: Store, spring: Contest) -> None:
    """Databases bound the number of values in a statement; callers should not have to know."""
    _append(store, spring.no, *(new(seq) for seq in range(1, 101)))
    keys = [f"votes/m{number}" for number in range(50_000)]
    with store.read() as session:
        assert len(session.entries.existing(spring.no, records=keys)) == 100
        assert len(session.entries.existing_keys(spring.no, "votes", keys)) == 100
        assert session.entries.existing_keys(spring.no, "judges", keys) == set()


def test_keys_of_any_letters_are_found(store: Store, spring: Contest) -> None:
    """Ids come from everywhere."""
    names = ["votes/ä", "votes/📏", "votes/'; DROP TABLE entries --", 'votes/"', "votes/ ", "%s ?"]
    _append(store, spring.no, *(new(seq, record=name) for seq, name in enumerate(names, 1)))
    with store.read() as session:
        assert session.entries.existing(spring.no, records=names).keys() == set(names)


def test_positions_are_found_by_time(store: Store, spring: Contest) -> None:
    """``as_of`` may be a time; several entries of one time count together."""
    times = [1, 2, 2, 2, 5]
    _append(store, spring.no, *(new(seq, at=later(at)) for seq, at in enumerate(times, 1)))
    with store.read() as session:

        def position(seconds: float) -> int:
            return session.entries.position_at(spring.no, later(seconds))

        seconds = [0, 0.999999, 1, 1.5, 2, 2.000001, 4.9, 5, 99]
        assert [position(at) for at in seconds] == [0, 0, 1, 1, 4, 4, 4, 5, 5]
        elsewhere = later(2).astimezone(timezone(timedelta(hours=9)))
        assert session.entries.position_at(spring.no, elsewhere) == 4
        assert session.entries.position_at(spring.no + 1, NOON) == 0
        assert session.entries.position_at(spring.no, later(9), until=3) == 3
        assert session.entries.position_at(spring.no, later(1), until=3) == 1
        assert session.entries.time_of(spring.no, 5) == later(5)
        assert session.entries.time_of(spring.no, 5).tzinfo is UTC
        with pytest.raises(NotFound, match="no position 6"):
            session.entries.time_of(spring.no, 6)


def test_records_of_one_table_are_listed(store: Store, spring: Contest) -> None:
    """The API pages through a table's records, not through the ledger."""
    tables = ["votes", None, "judges", "votes", "votes"]
    made = [
        new(seq, table=table, record=None, kind="record-added" if table else "contest-opened")
        for seq, table in enumerate(tables, 1)
    ]
    _append(store, spring.no, *made)
    with store.read() as session:

        def seqs(after: int = 0, until: int | None = None, limit: int = 10) -> list[int]:
            rows = session.entries.rows(spring.no, "votes", after=after, until=until, limit=limit)
            return [one.seq for one in rows]

        assert seqs() == [1, 4, 5]
        assert seqs(after=1, limit=1) == seqs(after=1, until=4) == [4]


def test_a_number_no_database_holds_is_refused_as_input(store: Store, spring: Contest) -> None:
    """Positions come from addresses people type."""
    with pytest.raises((Unreadable, NotFound)), store.read() as session:
        session.entries.time_of(spring.no, 2**70)
