"""Test batches of a request's records: the ledger does not depend on their size."""

from collections.abc import Iterator
from typing import Any

import pytest

from agon.app.contests.ingest import records
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.ledger.fold import empty_ledger, fold
from agon.records import InvalidRecords
from fakes.service import ORGANISER

TIME = "2026-11-22T00:00:00Z"

Rows = list[tuple[str, dict[str, Any], str | None]]


def _arena() -> Rows:
    """Return an arena's records in many notations of ids, times and names, some with nulls."""
    rows: Rows = [
        (
            "owners",
            {"id": 1, "handle": "ö/%", "account_created_at": None, "ip": "203.0.113.9"},
            None,
        ),
        ("judges", {"id": "j", "kind": "person", "more": [1.0, {"b": None, "a": True}]}, "j-1"),
    ]
    rows += [("bots", {"name": f"Bot {n}", "id": n, "owner_id": 1}, None) for n in range(5)]
    rows += [("bots", {"id": f"b{n}", "name": "B", "is_judge": None}, None) for n in range(5)]
    for number in range(40):
        match = {"id": f"m/{number}" if number % 7 == 0 else f"m{number}", "played_at": TIME,
                 "bot_a": f"b{number % 5}", "bot_b": number % 4, "kind": "rated"}  # fmt: skip
        vote = {
            "voted_at": f"2026-11-22 0{number % 9}:00:00.{number}+01:00",
            "vote": "tie",
            "match_id": match["id"],
            "shown_first": "ab"[number % 2],
            "judge_id": "j",
        }
        rows += [("votes", vote, f"v-{number}" if number % 5 == 0 else None)]
        rows += [("matches", match, None)]
    return rows


def _community() -> Rows:
    """Return a community's records, columns in different orders."""
    rows: Rows = [("users", {"id": f"u{n}", "reputation": n / 3}, None) for n in range(9)]
    rows += [
        ("prompts", {"created_at": TIME, "id": n, "uploader_id": "u1"}, None) for n in range(9)
    ]
    for number in range(60):
        row = {"id": f"f{number}", "user_id": f"u{number % 9}", "prompt_id": number % 9,
               "opinion": ("positive", "negative")[number % 2], "created_at": TIME}  # fmt: skip
        if number % 3 == 0:
            row = dict(reversed(row.items())) | {"response_id": None}
        rows.append(("quick_feedbacks", row, None))
    return [*rows, ("org_to_people", {"user_id": "u1", "org_id": "o"}, None)] * 2


@pytest.mark.sample(2)
@pytest.mark.parametrize("batch", [1, 7, 1_000])
@pytest.mark.parametrize(
    ("of", "rows", "head"),
    [
        ("arena", _arena(), "fa03baf0e8fa9a0f991366bc946db495e3185cd8d0e1aa65e0d5b2c35b38d530"),
        (
            "community",
            _community(),
            "b4777f32b6480f08aca4e4ce268f42144830cebe2f2e4f79fe16204f8554f25b",
        ),
    ],
)
def test_the_same_records_always_give_the_same_ledger(
    service: Service, monkeypatch: pytest.MonkeyPatch, of: str, rows: Rows, head: str, batch: int
) -> None:
    """A faster import must write the same bytes: the head is the hash of all of them."""
    monkeypatch.setattr("agon.app.contests.ingest.records.BATCH_SIZE", batch)
    create(service, NewContest(id="spring", discipline=of, title="Spring"), by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    record(service, "spring", rows, by=ORGANISER)
    again = [(table, {**row, "more": 1}, name) for table, row, name in rows if "id" in row]
    record(service, "spring", again, by=ORGANISER, replace=True)
    with service.store.read() as session:
        assert session.contests.get("spring").head.hex() == head


def _people(start: int, count: int) -> Rows:
    return [("users", {"id": f"u{n}"}, None) for n in range(start, start + count)]


def _ledger(service: Service) -> int:
    """Check the ledger's chain and return its length."""
    with service.store.read() as session:
        contest = session.contests.get("spring")
        lines = [entry.line for entry in session.entries.after(contest.no)]
    state = fold(lines, start=empty_ledger("spring")).contest
    assert (state.seq, state.head) == (contest.seq, contest.head) == (len(lines), contest.head)
    return len(lines)


@pytest.fixture
def spring(service: Service) -> Service:
    """Open a community's contest; its ledger has two entries."""
    create(service, NewContest(id="spring", discipline="community", title="S"), by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    return service


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", [0, 999, 1_000, 1_500, 2_000, 2_499])
def test_a_known_record_among_thousands_of_new_ones_is_stored_once(
    spring: Service, place: int
) -> None:
    """Batches are inserted as new; a batch with a known record is then read and repeated."""
    record(spring, "spring", _people(place, 1), by=ORGANISER)
    summary = record(spring, "spring", _people(0, 2_500), by=ORGANISER)
    assert (summary.added, summary.repeated) == (2_499, 1)
    assert _ledger(spring) == 2 + 2_500
    assert len(summary.seqs) == records.MAX_SEQS
    assert summary.seqs[0] == (3 if place == 0 else 4)


@pytest.mark.exhaustive
def test_an_error_rolls_back_the_batches_before_it(spring: Service) -> None:
    """Also while the database inserts one of them."""
    record(spring, "spring", _people(7, 1), by=ORGANISER)

    def rows() -> Iterator[Any]:
        yield from _people(0, 2_000)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        record(spring, "spring", rows(), by=ORGANISER)
    bad = [*_people(10, 2_000), ("users", {"id": ""}, None), *_people(3_000, 1_500)]
    with pytest.raises(InvalidRecords):
        record(spring, "spring", bad, by=ORGANISER)
    assert _ledger(spring) == 3
    assert record(spring, "spring", _people(0, 2_000), by=ORGANISER).added == 1_999
    assert _ledger(spring) == 2_002


def test_issues_are_reported_in_line_order(spring: Service) -> None:
    """The order does not depend on the batches of the validation."""
    rows: Rows = [("users", {"id": None if n % 3 else n}, None) for n in range(20)]
    rows[4:4] = [("prompts", {"created_at": "soon", "id": 1}, None), ("nobody", {}, None)]
    rows[9:9] = [("users", {"id": "a\x00"}, None), ("prompts", {"id": 2, "more": 2**70}, None)]
    with pytest.raises(InvalidRecords) as error:
        record(spring, "spring", rows, by=ORGANISER)
    rows_of_issues = [issue.row for issue in error.value.issues]
    assert rows_of_issues == sorted(rows_of_issues)  # type: ignore[type-var]  # every issue here has its line
    assert {5, 6, 10} <= set(rows_of_issues)
