"""Check that imported records are the same in every spelling, and at every door behind them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from agon.app.analysis.records import read_records
from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.importers import import_records
from agon.app.service import Service
from agon.cli.contest.records import records_of
from agon.entities.ledgers import ImportSummary
from agon.records.writing import FORMATS, TableFormat, write_tables
from fakes.foreign import SOURCES, write_foreign
from fakes.service import ORGANISER, service_at
from fakes.spelled import RECORDS, SPELLINGS


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Open one service for all contests."""
    opened = service_at(tmp_path_factory.mktemp("imports"))
    yield opened
    opened.store.close()


@dataclass(frozen=True)
class First:
    """Records of a source in plain spelling, which a contest has."""

    contest: str
    sha256: str
    rows: int


def imported(folder: Path, name: str, spelling: str, ending: TableFormat) -> tuple[str, str]:
    """Import a source into a folder: the discipline, and the folder."""
    form, source = write_foreign(folder / f"{spelling} source", name, spelling)
    made = import_records(form, source)
    out = folder / spelling
    write_tables(made.tables, out, format=ending)
    return made.discipline, str(out)


def add(service: Service, contest: str, of: str, folder: str) -> ImportSummary:
    """Add a folder to a contest."""
    return record(service, contest, read_ndjson(records_of(of, folder)), by=ORGANISER)


@pytest.fixture(scope="module")
def first(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], First]:
    """Import a source in plain spelling, and add it to a contest."""

    @cache
    def of_source(name: str) -> First:
        of, folder = imported(tmp_path_factory.mktemp(name), name, "plain", "parquet")
        contest = create(service, NewContest(id=name, discipline=of, title=name), by=ORGANISER).id
        open_contest(service, contest, by=ORGANISER)
        with read_records(of, folder) as records:
            made = First(
                contest, records.sha256, sum(records.count(t.name) for t in records.schema)
            )
        summary = add(service, contest, of, folder)
        assert (summary.added, summary.repeated) == (made.rows, 0)
        return made

    return of_source


@pytest.mark.sample(1)
@pytest.mark.parametrize("spelling", [name for name in SPELLINGS if name != "plain"])
@pytest.mark.parametrize("name", SOURCES)
def test_imported_records_are_the_same_in_every_spelling(
    name: str, spelling: str, service: Service, first: Callable[[str], First], tmp_path: Path
) -> None:
    """Another export of the same battles is the same board, and nothing new in a contest."""
    ending = FORMATS[len(spelling) % len(FORMATS)]
    of, folder = imported(tmp_path, name, spelling, ending)
    with read_records(of, folder) as records:
        assert records.sha256 == first(name).sha256
    summary = add(service, first(name).contest, of, folder)
    assert (summary.added, summary.repeated) == (0, first(name).rows)
    if name in RECORDS:
        with read_records(of, RECORDS[of]) as records:
            assert records.sha256 == first(name).sha256
