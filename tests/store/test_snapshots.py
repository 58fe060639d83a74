"""Published boards in a database."""

from dataclasses import replace

import pytest

from agon.entities.contests import INDEX_BYTES, ROWS_PER_CHUNK, BoardSummary, Contest, Snapshot
from agon.errors import NotFound
from agon.store.session import Store
from store.factories import contest, snapshot

pytestmark = pytest.mark.one_database

N = 2 * ROWS_PER_CHUNK + 7


def _line(place: int) -> bytes:
    return b'{"id":"model \\u00e4 %d"}' % place


def _add(store: Store, made: Snapshot) -> Snapshot:
    with store.write() as session:
        return session.snapshots.add(
            made,
            lines=(_line(place) for place in range(made.rows)),
            ids=(f"model ä {place}" for place in range(made.rows)),
            unscored=(b'{"id":"u%d"}' % place for place in range(made.unscored)),
        )


def test_a_snapshot_comes_back_as_it_was_stored(store: Store, spring: Contest) -> None:
    """The manifest is what was signed: a changed value would break the signature."""
    made = snapshot(spring.no, rows=3, manifest={"at": "x", "rules": {"k": 1.5}, "seq": 7})
    added = _add(store, made)
    with store.read() as session:
        assert session.snapshots.get(added.no) == added == replace(made, no=added.no)
        with pytest.raises(NotFound, match=str(added.no + 1)):
            session.snapshots.get(added.no + 1)


def test_a_contests_snapshots_are_numbered_without_those_of_others(
    store: Store, spring: Contest
) -> None:
    """One row of numbers for all would count, in a public contest, what is hidden in another."""
    with store.write() as session:
        other = session.contests.add(contest("autumn"))
    first = _add(store, snapshot(other.no, rows=0))
    for _ in range(3):
        _add(store, snapshot(spring.no, rows=0))
    second = _add(store, snapshot(other.no, rows=0))
    assert second.no == first.no + 1
    with store.read() as session:
        assert [one.no for one in session.snapshots.page(other.no)] == [second.no, first.no]
        assert [one.no for one in session.snapshots.page(spring.no)] == [3, 2, 1]


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows", [0, 1, ROWS_PER_CHUNK, ROWS_PER_CHUNK + 1, N])
def test_any_stretch_of_rows_is_what_a_list_would_give(
    store: Store, spring: Contest, rows: int
) -> None:
    """Chunks are how rows are stored, not what readers see."""
    made = _add(store, snapshot(spring.no, rows=rows, unscored=2))
    lines = [_line(place) for place in range(rows)]
    c = ROWS_PER_CHUNK
    with store.read() as session:
        for start in (0, 1, c - 1, c, c + 1, 2 * c, N - 1, N, N + 500):
            for count in (0, 1, 2, c, c + 1, 3 * c):
                result = session.snapshots.lines(made.no, start=start, count=count)
                assert result == lines[start : start + count]
        unscored = session.snapshots.lines(made.no, start=1, count=9, unscored=True)
        assert unscored == [b'{"id":"u1"}']


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", [0, 4095, 4096, 8999, 9000])
def test_any_stretch_of_an_order_is_what_a_list_would_give(
    store: Store, spring: Contest, start: int
) -> None:
    """Orders are stored in chunks that no reader sees, and rows are read wherever they are."""
    indexes = [place * 7 % 9000 for place in range(9000)]
    order = b"".join(index.to_bytes(INDEX_BYTES, "little") for index in indexes)
    with store.write() as session:
        added = session.snapshots.add(
            snapshot(spring.no, rows=N),
            lines=map(_line, range(N)),
            ids=(),
            unscored=(),
            summary=BoardSummary(values={"columns": {}}, orders={"a": order, "b": b""}),
        )
    with store.read() as session:
        part = session.snapshots.order(added.no, "a", start=start, count=5000)
        assert part == indexes[start : start + 5000]
        assert session.snapshots.order(added.no, "b", start=start, count=5) == []
        assert session.snapshots.summary(added.no) == {"columns": {}}
        places = [N - 1, 0, ROWS_PER_CHUNK, 3, 0]
        assert session.snapshots.lines_at(added.no, places) == list(map(_line, places))


def test_every_id_is_found_at_its_place_and_no_other(store: Store, spring: Contest) -> None:
    """A row's address is its id; the buckets must lose none."""
    made = _add(store, snapshot(spring.no, rows=N))
    with store.read() as session:
        ids = [f"model ä {place}" for place in range(N)]
        result = session.snapshots.row_indexes(made.no, [*ids, "model ä -1", "", "u0"])
        assert result == {name: place for place, name in enumerate(ids)}
        assert session.snapshots.row_indexes(made.no, []) == {}
        one_by_one = [session.snapshots.row_indexes(made.no, [name]) for name in (*ids[:40], "u0")]
        assert one_by_one == [{name: place} for place, name in enumerate(ids[:40])] + [{}]
        assert session.snapshots.row_indexes(made.no + 1, ids) == {}


def test_the_latest_is_the_newest_the_reader_may_see(store: Store, spring: Contest) -> None:
    """While a contest is frozen, the public's board is the one of the freeze."""
    seqs = [5, 7, 7, 12]
    numbers = [_add(store, snapshot(spring.no, rows=0, seq=seq)).no for seq in seqs]
    _add(store, snapshot(spring.no, rows=0, seq=99, board="judges"))
    with store.read() as session:

        def latest(until: int | None = None) -> int | None:
            result = session.snapshots.latest(spring.no, "models", until=until)
            return None if result is None else result.no

        assert latest() == latest(12) == numbers[3]
        assert latest(11) == latest(7) == numbers[2]
        assert latest(6) == numbers[0]
        assert latest(4) is None


def test_snapshots_are_listed_newest_first(store: Store, spring: Contest) -> None:
    """A list that grows at its end is paged from its end."""
    made = [_add(store, snapshot(spring.no, rows=0, seq=seq)).no for seq in (1, 2, 3, 4)]
    judges = _add(store, snapshot(spring.no, rows=0, seq=4, board="judges")).no
    with store.read() as session:
        page = session.snapshots.page
        assert [one.no for one in page(spring.no)] == [judges, *made[::-1]]
        assert [one.no for one in page(spring.no, board="models", limit=2)] == made[:1:-1]
        assert [one.no for one in page(spring.no, before=made[2])] == made[1::-1]
        assert [one.no for one in page(spring.no, until=2)] == made[1::-1]


def test_pruning_forgets_rows_and_keeps_the_proof(store: Store, spring: Contest) -> None:
    """Rows can be rebuilt by replay; what was signed cannot."""
    made = [_add(store, snapshot(spring.no, rows=3, seq=seq, unscored=1)) for seq in (1, 2, 3)]
    judges = _add(store, snapshot(spring.no, rows=3, unscored=1, board="judges"))
    with store.write() as session:
        assert session.snapshots.prune(spring.no, "models", keep=[made[1].no]) == 2
        assert session.snapshots.prune(spring.no, "models", keep=[made[1].no]) == 0
    with store.read() as session:
        for one, stored in [(made[0], False), (made[1], True), (made[2], False), (judges, True)]:
            assert session.snapshots.get(one.no) == replace(one, stored=stored)
            assert len(session.snapshots.lines(one.no, start=0, count=9)) == (3 if stored else 0)
            places = session.snapshots.row_indexes(one.no, ["model ä 2"])
            assert places == ({"model ä 2": 2} if stored else {})
            rest = session.snapshots.lines(one.no, start=0, count=9, unscored=True)
            assert len(rest) == int(stored)
