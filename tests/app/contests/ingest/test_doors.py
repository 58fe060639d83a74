"""Check that the same records are the same at every door, however they are spelled."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from agon.app.analysis.records import read_records
from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.records import record
from agon.app.contests.ingest.uploads import read_upload
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.cli.contest.records import records_of
from agon.disciplines import BUILT_IN
from agon.entities.ledgers import ImportSummary
from fakes.service import ORGANISER, service_at
from fakes.spelled import RECORDS, SPELLINGS, Rows, file_of, filled, spelled, write_folder
from records.contest import arrow, write_sqlite

_IN_IDS = str.maketrans({" ": "-", ".": "-"})

Tables = Mapping[str, Rows]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Open one service for all contests."""
    opened = service_at(tmp_path_factory.mktemp("doors"))
    yield opened
    opened.store.close()


def ndjson(tables: Tables) -> Iterator[bytes]:
    """Yield records as the lines that the API takes."""
    for table, rows in tables.items():
        for row in rows:
            yield orjson.dumps({"table": table, "row": row}) + b"\n"


def add(
    service: Service, contest: str, chunks: Iterable[bytes], *, table: str | None = None,
    replace: bool = False,
) -> ImportSummary:  # fmt: skip
    """Add what a request holds."""
    lines = read_ndjson(chunks, table=table)
    return record(service, contest, lines, by=ORGANISER, replace=replace)


def by_api(of: str, spelling: str, _: Path) -> list[list[bytes]]:
    """Send one request."""
    return [list(ndjson(spelled(of, spelling)))]


def by_command(of: str, spelling: str, folder: Path) -> list[list[bytes]]:
    """Send what ``agon contest add`` sends of a folder."""
    return [list(records_of(of, str(write_folder(folder, of, spelling))))]


def by_upload(of: str, spelling: str, _: Path) -> list[list[bytes]]:
    """Send the rows of each table as the desk does of an uploaded file."""
    requests = []
    for table, rows in spelled(of, spelling).items():
        ending, content = file_of(spelling, rows)
        with read_upload(of, table, f"{table}{ending}", BytesIO(content), option="") as upload:
            upload.require_valid()
            requests.append(list(upload.lines()))
    return requests


DOORS = {"api": by_api, "contest add": by_command, "desk": by_upload}


def stored(service: Service, of: str, contest: str) -> list[tuple[Any, ...]]:
    """Return identity and content of all records of a ledger."""
    with service.store.read() as session:
        no = session.contests.get(contest).no
        lines = [
            orjson.loads(entry.line)
            for table in RECORDS[of]
            for entry in session.entries.rows(no, table, after=0, limit=100)
        ]
    return sorted(
        (line["body"]["table"], line["external_id"] or "", str(sorted(line["body"]["row"].items())))
        for line in lines
    )


@pytest.fixture(scope="module")
def first(service: Service) -> Callable[[str], str]:
    """Return the contest of a discipline that has its records in normal form."""

    @cache
    def contest(of: str) -> str:
        name = new_contest(service, of, f"{of}-first")
        add(service, name, ndjson(RECORDS[of]))
        return name

    return contest


def new_contest(service: Service, of: str, name: str) -> str:
    """Create and open a contest."""
    create(service, NewContest(id=name, discipline=of, title=of), by=ORGANISER)
    return open_contest(service, name, by=ORGANISER).id


@pytest.mark.exhaustive
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("of", BUILT_IN)
def test_a_record_is_the_same_at_every_door_in_every_spelling(
    service: Service,
    first: Callable[[str], str],
    of: str,
    spelling: str,
    door: str,
    tmp_path: Path,
) -> None:
    """A file that is sent again at another door would count every vote twice."""
    requests = DOORS[door](of, spelling, tmp_path)
    rows = sum(map(len, RECORDS[of].values()))
    other = new_contest(service, of, f"{of} {door} {spelling}".translate(_IN_IDS))
    assert sum(add(service, other, request).added for request in requests) == rows
    assert stored(service, of, other) == stored(service, of, first(of))
    for replace in (False, True):
        again = [add(service, first(of), request, replace=replace) for request in requests]
        assert [(one.added, one.replaced) for one in again] == [(0, 0)] * len(requests)
        assert sum(one.repeated for one in again) == rows


def in_folder(of: str, spelling: str, folder: Path, _: Any) -> Any:
    """Write a folder."""
    return str(write_folder(folder, of, spelling))


def in_frames(of: str, spelling: str, *_: Any) -> Any:
    """Make data frames."""
    return {table: arrow(rows) for table, rows in spelled(of, spelling).items()}


def in_rows(of: str, spelling: str, *_: Any) -> Any:
    """Return lists of dicts."""
    return spelled(of, spelling)


def in_sqlite(of: str, spelling: str, folder: Path, _: Any) -> Any:
    """Write a database file."""
    tables = {table: filled(rows) for table, rows in spelled(of, spelling).items()}
    return str(write_sqlite(folder, tables))


def in_postgresql(of: str, spelling: str, _: Path, request: pytest.FixtureRequest) -> Any:
    """Create tables of texts and numbers on a server."""
    server = request.getfixturevalue("postgresql")
    name = server.emptied()
    server.ingest(name, in_frames(of, spelling))
    return server.address(name)


SOURCES = (in_folder, in_frames, in_rows, in_sqlite, in_postgresql)


@pytest.mark.sample(2)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("of", BUILT_IN)
def test_records_hash_alike_from_every_source_in_every_spelling(
    of: str,
    spelling: str,
    source: Callable[..., Any],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """A board names its records by their hash; another export of them is the same records."""
    with (
        read_records(of, RECORDS[of]) as expected,
        read_records(of, source(of, spelling, tmp_path, request)) as records,
    ):
        assert records.sha256 == expected.sha256
