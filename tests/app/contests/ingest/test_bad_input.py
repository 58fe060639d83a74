"""Files that are far too wide, too long or too wrong end in one short message at every door."""

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from agon.app.contests.ingest.errors import MAX_COUNTED, MAX_LISTED
from agon.app.contests.ingest.ndjson import MAX_LINE_BYTES, read_ndjson
from agon.app.contests.ingest.records import record
from agon.app.contests.ingest.uploads import read_upload
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.cli.contest.records import records_of
from agon.errors import AgonError
from agon.records import InvalidRecords
from fakes.service import ORGANISER, service_at
from sizes import ALL

FAULTS = 1_000_000 if ALL else 3_000
LONGEST = 10_000
LONG_NAME = 10_000_000 if ALL else 1_000_000
LONGEST_LIST = 200 * MAX_LISTED

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Open a service with a contest."""
    opened = service_at(tmp_path_factory.mktemp("bad"))
    create(opened, NewContest(id="bad", discipline="community", title="C"), by=ORGANISER)
    open_contest(opened, "bad", by=ORGANISER)
    yield opened
    opened.store.close()


def by_api(service: Service, rows: Rows) -> list[str]:
    """Send rows; return notes."""
    lines = (orjson.dumps(row) + b"\n" for row in rows)
    done = record(service, "bad", read_ndjson(lines, table="users"), by=ORGANISER, dry_run=True)
    return list(done.notes)


def by_desk(_: Service, rows: Rows) -> list[str]:
    """Upload rows; return notes."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = [names, *([str(row.get(name, "")) for name in names] for row in rows)]
    content = "\n".join(",".join(row) for row in table).encode()
    with read_upload("community", "users", "u.csv", BytesIO(content), option="Not read") as upload:
        upload.require_valid()
        assert upload.count == len(rows)
        return list(upload.notes)


Door = Callable[[Service, Rows], list[str]]
DOORS = pytest.mark.parametrize("door", [by_api, by_desk])


@DOORS
def test_three_hundred_columns_are_counted_in_one_note(service: Service, door: Door) -> None:
    """The first are named, the others counted."""
    extra = {f"c{number}": 1 for number in range(300)}
    notes = door(service, [{"id": 1, **extra}, {"id": 2, **extra}])
    [note] = [note for note in notes if "not used" in note]
    assert "c0" in note
    assert " more" in note
    assert len(note) < 300


@pytest.mark.exhaustive
@DOORS
def test_a_cell_of_ten_megabytes_does_not_fill_the_message(service: Service, door: Door) -> None:
    """It is refused, or read; what is said is short."""
    try:
        said = "\n".join(door(service, [{"id": 1}, {"id": "z" * 10_000_000}]))
    except AgonError as error:
        said = str(error)
    assert len(said) < LONGEST


@pytest.mark.exhaustive
@DOORS
def test_very_many_faults_are_counted_and_the_first_shown(service: Service, door: Door) -> None:
    """The message has a bound whatever the file has."""
    rows: Rows = [{"id": n, "created_at": f"bad{n}"} for n in range(FAULTS)]
    with pytest.raises(AgonError) as error:
        door(service, rows)
    said = str(error.value)
    assert len(said) < LONGEST_LIST
    assert "bad0" in said
    # A request stops at a bound with one more issue that says so, since writers wait for it; a
    # file is read to its end.
    counted = min(FAULTS, MAX_COUNTED + 1) if door is by_api else FAULTS
    assert f"{counted:,}" in said


@pytest.mark.exhaustive
@pytest.mark.parametrize("others", ["n", "_", "created_at_"])
@DOORS
def test_a_name_of_ten_megabytes_does_not_fill_the_message(
    service: Service, door: Door, others: str
) -> None:
    """A file of one line has its data where the names are; near and equal names are cut, too."""
    name = f"id{others * (LONG_NAME // len(others))}"
    try:
        said = "\n".join(door(service, [{"id": 1, name: 2}]))
    except AgonError as error:
        said = str(error)
    assert len(said) < LONGEST


def test_rows_that_are_too_long_are_named_by_the_lines_of_their_file(tmp_path: Path) -> None:
    """The lines of a request that is made of a folder are nothing that a person can look up."""
    long = "x" * MAX_LINE_BYTES
    content = f'id,handle\n1,"two\nlines"\n2,{long}\n3,Ada\n4,{long}\n'
    (tmp_path / "org_to_people.csv").write_text("user_id,org_id\n1,1\n")
    (tmp_path / "users.csv").write_text(content)
    name, file = "u.csv", BytesIO(content.encode())
    with read_upload("community", "users", name, file, option="Not read") as upload:
        for lines in (upload.lines(), records_of("community", str(tmp_path))):
            with pytest.raises(InvalidRecords) as error:
                list(lines)
            assert str(error.value).splitlines() == [
                "2 issues in the records:",
                "  users, line 4 (row 2): has more than 4,194,304 bytes; shorten it",
                "  users, line 6 (row 4): has more than 4,194,304 bytes; shorten it",
            ]
