"""Check how keys and values of sent rows are read: other spellings, unused keys, near ones."""

from pathlib import Path

import orjson
import pytest

from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.entities.ledgers import ImportSummary
from agon.records import InvalidRecords
from fakes.service import ORGANISER, service_at


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """Open a service with an empty contest."""
    opened = service_at(tmp_path)
    create(opened, NewContest(id="hall", discipline="community", title="Hall"), by=ORGANISER)
    open_contest(opened, "hall", by=ORGANISER)
    return opened


def add(service: Service, *rows: object, ignore: tuple[str, ...] = ()) -> ImportSummary:
    """Add users."""
    lines = read_ndjson([orjson.dumps(row) + b"\n" for row in rows], table="users")
    return record(service, "hall", lines, by=ORGANISER, ignore=ignore)


def test_keys_that_are_not_used_are_listed_once(service: Service) -> None:
    """A sender reads what was left out, however many rows have it."""
    rows = [{"ID": n, "shoeSize": 43, "Handle": "a", "notes": None} for n in range(3)]
    summary = add(service, *rows)
    assert summary.notes == (
        "read users.ID as id, users.Handle as handle",
        "not used: users.shoeSize (3 rows), users.notes (3 rows)",
    )
    assert add(service, {"id": 9}, {"id": 10}).notes == ()


def test_a_table_in_another_spelling_is_that_table(service: Service) -> None:
    """Its records are those of the table, whoever sends them again and however; another is none."""
    rows = [
        {"table": "Users", "row": {"id": 1}},
        {"table": "users", "row": {"id": 2}},
        {"table": "QuickFeedbacks", "row": {"id": 1}},
    ]
    lines = [orjson.dumps(row) + b"\n" for row in rows]
    summary = record(service, "hall", read_ndjson(lines[:2]), by=ORGANISER)
    assert (summary.added, summary.notes) == (2, ("read Users as users",))
    assert add(service, {"id": 1}, {"id": 2}).repeated == 2
    with pytest.raises(InvalidRecords, match="quick_feedbacks"):
        record(service, "hall", read_ndjson(lines), by=ORGANISER)
    with pytest.raises(InvalidRecords, match="is not a table here"):
        record(service, "hall", read_ndjson([b'{"table": "flags2", "row": {}}\n']), by=ORGANISER)


def test_a_key_that_is_near_to_an_absent_column_is_an_error(service: Service) -> None:
    """It is probably that column, and what a ledger lacks can no longer be scored."""
    with pytest.raises(InvalidRecords) as caught:
        add(service, {"id": 1}, {"id": 2, "handel": "x"}, {"id": 3, "handel": "y"})
    [issue] = caught.value.issues
    assert (issue.row, issue.column, issue.count) == (2, "handel", 2)
    assert issue.remedy == "did you mean handle? rename it, leave it out, or name it in ignore"
    assert add(service, {"id": 4, "handel": "x", "handle": "y"}).added == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["handel", "Users.Handel", "users.han_del"])
def test_a_key_that_is_ignored_is_not_read(service: Service, name: str) -> None:
    """The sender says that it is another thing, in any spelling."""
    summary = add(service, {"id": 1, "handel": "x"}, ignore=(name, "notes"))
    assert (summary.added, summary.notes) == (1, ())


def test_a_column_that_is_ignored_is_not_read(service: Service) -> None:
    """A file's columns are ignored by the same names."""
    add(service, {"id": 1, "handle": "secret"}, ignore=("handle",))
    assert add(service, {"id": 1}).repeated == 1


def test_wrong_names_in_all_rows_are_one_fault(service: Service) -> None:
    """A wrong header is one mistake, and its message has the names that are there."""
    with pytest.raises(InvalidRecords) as caught:
        add(service, *({"ID2": n, "Handle": "a"} for n in range(2_500)))
    [issue] = caught.value.issues
    assert (issue.row, issue.column, issue.count, caught.value.total) == (1, "id", 2_500, 2_500)
    assert issue.remedy == (
        "the keys are ID2, Handle; add id (give a whole number or text); is ID2 meant?"
    )


def test_all_faults_of_a_request_are_listed_at_once(service: Service) -> None:
    """Names, values and lines that are no rows."""
    with pytest.raises(InvalidRecords) as caught:
        add(service, {"id": 1, "handel": "x"}, [], {"id": 2, "created_at": "soon"}, {})
    assert [(issue.row, issue.code) for issue in caught.value.issues] == [
        (1, "unknown-column"),
        (2, "bad-line"),
        (3, "bad-timestamp"),
        (4, "empty"),
    ]
