"""Check what a column as a whole decides: whole ids, and the unit of times, at every door."""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

import agon
from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.entities.ledgers import ImportSummary
from agon.records import InvalidRecords, Records
from fakes.service import ORGANISER, service_at

Rows = list[dict[str, object]]
Door = Callable[[Rows, Path], list[str]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Open one service for all contests."""
    opened = service_at(tmp_path_factory.mktemp("columns"))
    yield opened
    opened.store.close()


def add(service: Service, name: str, *requests: Rows) -> list[ImportSummary]:
    """Add the users of some requests to a new contest."""
    create(service, NewContest(id=name, discipline="community", title=name), by=ORGANISER)
    open_contest(service, name, by=ORGANISER)
    return [
        record(
            service,
            name,
            read_ndjson([orjson.dumps(row) + b"\n" for row in rows], table="users"),
            by=ORGANISER,
        )
        for rows in requests
    ]


def stored(service: Service, name: str) -> Rows:
    """Return the users of a contest."""
    with service.store.read() as session:
        no = session.contests.get(name).no
        entries = session.entries.rows(no, "users", after=0, limit=5_000)
        return [orjson.loads(entry.line)["body"]["row"] for entry in entries]


def ids(records: Records) -> list[str]:
    """Return the ids of the users."""
    return sorted(str(row["id"]) for row in records.sql("SELECT id FROM users").to_pylist())


def from_csv(rows: Rows, folder: Path) -> list[str]:
    """Read rows of a folder with a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    (folder / "users.csv").write_text(text.getvalue())
    return ids(agon.read_records("community", folder))


def from_ndjson(rows: Rows, folder: Path) -> list[str]:
    """Read rows of a folder with an NDJSON file."""
    (folder / "users.ndjson").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return ids(agon.read_records("community", folder))


def from_frames(rows: Rows, _: Path) -> list[str]:
    """Read rows that a program has."""
    return ids(agon.read_records("community", {"users": rows}))


FILES: dict[str, Door] = {"csv": from_csv, "ndjson": from_ndjson, "frames": from_frames}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (("10.0", "11"), ["10", "11"]),
        (("10.0", "11.00"), ["10", "11"]),
        (("10.00", "11.00"), ["10", "11"]),
        (("10.0", 11), ["10", "11"]),
        (("10.0", "x"), ["10.0", "x"]),
        (("10.0", "11.5"), ["10.0", "11.5"]),
        (("u1", "u2"), ["u1", "u2"]),
    ],
)
def test_ids_of_a_column_are_the_same_at_every_door(
    service: Service, sent: tuple[object, ...], read: list[str], tmp_path: Path
) -> None:
    """An id in quotes and the same without are one record, wherever they are sent."""
    rows: Rows = [{"id": value} for value in sent]
    for name, door in FILES.items():
        (folder := tmp_path / name).mkdir()
        assert door(rows, folder) == read, name
    contest = "ids-" + "-".join(f"{type(one).__name__}-{one}".replace(".", "-") for one in sent)
    first, again = add(service, contest, rows, rows)
    assert sorted(str(row["id"]) for row in stored(service, contest)) == read
    assert (first.added, again.added, again.repeated) == (2, 0, 2)
    is_changed = read != sorted(map(str, sent))
    assert first.notes == (("users.id: read 10.0 as 10",) if is_changed else ())


LATE: Rows = [{"id": one} for one in (*(f"{number}.0" for number in range(600)), "x", "y")]
"""Ids of more than one batch, the last of which show that the others are texts."""


def test_a_late_id_that_is_not_whole_is_read_as_in_a_file(service: Service, tmp_path: Path) -> None:
    """A request is read in batches; what its end shows holds for its beginning too."""
    read = from_csv(LATE, tmp_path)
    assert {"x", "10.0"} <= {*read}
    first, again = add(service, "late", LATE, LATE)
    assert sorted(str(row["id"]) for row in stored(service, "late")) == read
    assert (first.added, first.notes, again.repeated) == (len(LATE), (), len(LATE))


def test_rows_that_cannot_be_read_again_are_refused_for_a_late_id_that_is_not_whole(
    service: Service,
) -> None:
    """What the first batch decided is never half undone."""
    add(service, "once")
    with pytest.raises(InvalidRecords) as caught:
        record(service, "once", (("users", row, None) for row in LATE), by=ORGANISER)
    [issue] = caught.value.issues
    assert issue.count == 2
    assert str(issue) == (
        "users, line 601, column id: 'x' is not whole, and ids such as 10.0 of the same column "
        "were read as 10; write them without .0"
    )


SECONDS, MILLISECONDS = 1_760_000_000, 1_760_000_000_000


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("times", "unit"),
    [
        ((SECONDS, MILLISECONDS), "seconds"),
        ((str(MILLISECONDS), SECONDS), "milliseconds"),
        ((SECONDS, "2026-01-20"), "seconds"),
        (("2026-01-20T00:00:00Z", SECONDS), "ISO 8601"),
        (("2026-01-20", str(SECONDS)), "ISO 8601"),
    ],
)
def test_times_of_a_column_in_two_units_are_refused_at_every_door(
    service: Service, times: tuple[object, ...], unit: str, tmp_path: Path
) -> None:
    """Either may be an error: a time in the wrong unit is no time that anyone meant."""
    rows: Rows = [
        {"id": f"u{number}", "created_at": time} for number, time in enumerate((*times, None))
    ]
    for name, door in FILES.items():
        (folder := tmp_path / name).mkdir()
        with pytest.raises(InvalidRecords, match="created_at"):
            door(rows, folder)
    contest = f"times-{unit[:3].lower()}-{len(str(times))}"
    with pytest.raises(InvalidRecords) as caught:
        add(service, contest, rows)
    [issue] = caught.value.issues
    assert str(issue) == (
        f"users, line 2, column created_at: {str(times[1])!r} is in another unit than the first "
        f"time of the column, which is in {unit}; give all times of a column in one unit, or all "
        "as 2026-11-21T10:00:00Z"
    )


def test_requests_may_have_different_units(service: Service) -> None:
    """Each request states its own times, and the same time is the same record."""
    rows: list[Rows] = [[{"id": "u1", "created_at": time}] for time in (SECONDS, str(MILLISECONDS))]
    first, again = add(service, "requests", *rows)
    assert (first.added, again.repeated) == (1, 1)
