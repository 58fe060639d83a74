"""Read a file of one table as people upload it: what was read as what, and what is wrong."""

import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final

from agon.app.contests.ingest.record_lines import table_lines
from agon.disciplines import discipline
from agon.errors import AgonError, NotFound, Unreadable, did_you_mean
from agon.records import InvalidRecords, Records, RowIssue, Schema, Table, inspect_files
from agon.records.names.mapping import MappingSource, source_mapping
from agon.records.normal import write_time
from agon.records.sources.formats import USUAL, ending_of

FIRST_ROWS: Final = 5


@dataclass(frozen=True)
class ReadColumn:
    """How a column of a table was read.

    Attributes:
        name: the schema's name.
        kind: the kind of its values.
        source: the file's name of it; None: the file has no such column.
    """

    name: str
    kind: str
    source: str | None


@dataclass(frozen=True)
class Upload:
    """A file of one table, as it was read.

    Attributes:
        table: the table.
        columns: how each of its columns was read.
        count: the number of rows.
        first: the first rows, as they were read.
        notes: other spellings, and what is not used.
        issues: everything that is wrong, with lines of the file; a name that is near to a missing
            one is among them.
        records: the rows.
    """

    table: str
    columns: tuple[ReadColumn, ...]
    count: int
    first: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    issues: tuple[RowIssue, ...]
    records: Records

    def require_valid(self, check: Callable[[Iterator[bytes]], object] | None = None) -> None:
        """Raise everything that is wrong with the file, and with its other rows in a contest.

        Args:
            check: checks NDJSON in the contest, which alone knows what rows may refer to.

        Raises:
            InvalidRecords: with all issues; what the contest says of the rows without any is in its
                hints.
        """
        if not self.issues:
            return
        others: list[str] = []
        if check is not None and self._other_rows_are_known:
            try:
                check(self.lines(without=frozenset(issue.row for issue in self.issues)))
            except AgonError as error:
                others.append(f"without these rows: {error}")
        raise InvalidRecords(list(self.issues), hints=others)

    @property
    def _other_rows_are_known(self) -> bool:
        """Whether no required column is absent, and every row with an issue is listed."""
        absent = {column.name for column in self.columns if column.source is None}
        listed = Counter((issue.code, issue.column) for issue in self.issues)
        return absent.isdisjoint(
            column.name
            for column in self.records.schema.table(self.table).columns
            if column.required
        ) and all(issue.count <= listed[issue.code, issue.column] for issue in self.issues)

    def lines(self, *, bare: bool = False, without: Collection[int | None] = ()) -> Iterator[bytes]:
        """Yield the rows as the NDJSON that a contest takes, with their table in each line.

        Each stands on the line that its row has in the file, so that what the contest says of a
        line is about the file; the lines between them are blank.

        Args:
            bare: the rows alone, for requests of one table.
            without: numbers of rows, from 1, that are left out.
        """
        rows = table_lines(self.records, self.table, bare=bare)
        numbers = self.records.arrow(self.table, ["_row"]).column(0).to_pylist()
        lines_of = self.records.lines.get(self.table)
        places = {} if lines_of is None else lines_of(set(numbers))
        last = 0
        for number, row in zip(numbers, rows, strict=True):
            line = places.get(number, last + 1)
            yield b"\n" * (line - last - 1) + (b"\n" if number in without else row)
            last = line


@contextmanager
def read_upload(
    discipline_name: str,
    table: str,
    name: str,
    file: IO[bytes],
    *,
    option: str,
    mapping: MappingSource | None = None,
) -> Iterator[Upload]:
    """Read an uploaded file of one table of a discipline.

    References are checked by the contest: what they refer to may be stored already.

    Args:
        discipline_name: the discipline.
        table: the table.
        name: the file's name, whose ending names its format; without a known one it is CSV.
        file: its content.
        option: how the sender says that a name is not to be read.
        mapping: how its names and values are read.

    Raises:
        NotFound: there is no such table.
        Unreadable: the mapping is of the wrong form.
    """
    described = without_references(table_of(discipline_name, table))
    with (
        stored_upload(table, name, file) as path,
        read_table(described, path, option=option, mapping=mapping) as upload,
    ):
        yield upload


def table_of(discipline_name: str, name: str) -> Table:
    """Return a table of a discipline.

    Raises:
        NotFound: there is no such table.
    """
    schema = discipline(discipline_name).schema
    known = [each.name for each in schema]
    if name not in known:
        raise NotFound(f"there is no table {name!r}: {did_you_mean(name, known)}")
    return schema.table(name)


@contextmanager
def stored_upload(table: str, name: str, file: IO[bytes]) -> Iterator[Path]:
    """Store an uploaded file under its name as long as it is read.

    Raises:
        Unreadable: it is empty.
    """
    with TemporaryDirectory(prefix="agon-upload-") as folder:
        shown = Path(name).name or f"{table}.csv"
        path = Path(folder) / (shown if ending_of(shown) else f"{table}.csv")
        with path.open("wb") as copy:
            shutil.copyfileobj(file, copy)
        if not path.stat().st_size:
            raise Unreadable(
                f"the file is empty; choose one with a header and rows ({', '.join(USUAL)})"
            )
        yield path


@contextmanager
def read_table(
    table: Table, path: Path, *, option: str, mapping: MappingSource | None = None
) -> Iterator[Upload]:
    """Read a file of one table, which need not be one of a discipline.

    Args:
        table: the table, without what depends on other tables.
        path: the file.
        option: how the sender says that a name is not to be read.
        mapping: how its names and values are read.
    """
    alone = Schema(table.name, (table,))
    records, issues = inspect_files(alone, {table.name: path}, mapping=source_mapping(mapping))
    try:
        near = records.names.near_issues(option=option)
        yield _upload(table.name, alone, records, [*near, *issues])
    finally:
        records.close()


def without_references(table: Table) -> Table:
    """Return a table without what depends on other tables."""
    columns = tuple(replace(column, references=None) for column in table.columns)
    return replace(table, columns=columns, checks=table.row_checks, required=False)


def _upload(table: str, schema: Schema, records: Records, issues: list[RowIssue]) -> Upload:
    described = schema.table(table)
    spelled = records.names.columns.get(table, {})
    columns = tuple(
        ReadColumn(column.name, str(column.kind), spelled.get(column.name))
        for column in described.columns
    )
    present = [column.name for column in columns if column.source is not None]
    rows = records.arrow(table, present).slice(0, FIRST_ROWS).to_pylist() if present else []
    first = (
        {name: write_time(value) if isinstance(value, datetime) else value
         for name, value in row.items()}
        for row in rows
    )  # fmt: skip
    return Upload(
        table,
        columns,
        records.count(table),
        tuple(first),
        records.notes,
        tuple(issues),
        records,
    )
