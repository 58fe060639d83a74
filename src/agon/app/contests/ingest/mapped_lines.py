"""Read NDJSON whose lines have other names and values than the schema, by a mapping."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from heapq import merge
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import orjson

from agon.app.contests.ingest.ndjson import read_ndjson
from agon.app.contests.ingest.record_lines import table_lines
from agon.app.contests.ingest.uploads import without_references
from agon.app.contests.ingest.validation import not_a_row
from agon.disciplines import discipline
from agon.records import InvalidRecords, Records, RowIssue, Schema, inspect_files
from agon.records.names.mapping import SourceMapping
from agon.records.names.matching import fold_name

_PLAIN = orjson.OPT_APPEND_NEWLINE


@dataclass
class _SentTable:
    """The rows of one table: their file, and line and external id of each of them."""

    path: Path
    file: IO[bytes]
    lines: list[int] = field(default_factory=list)
    external_ids: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MappedLines:
    """Rows of NDJSON under the names of the schema.

    Attributes:
        notes: how names and values were read.
        lines: the NDJSON that a contest takes; each row stands on the line that it was sent on.
    """

    notes: tuple[str, ...]
    lines: Iterator[bytes]


@contextmanager
def map_lines(
    discipline_name: str,
    chunks: Iterable[bytes],
    mapping: SourceMapping,
    *,
    table: str | None,
    option: str,
) -> Iterator[MappedLines]:
    """Read NDJSON by a mapping; the sender's own ids of rows stay.

    References are checked when the rows are added: what they refer to may be stored already.

    Args:
        discipline_name: the discipline.
        chunks: the bytes, cut anywhere.
        mapping: how tables, columns and values are named there.
        table: the table of all lines, which are then bare rows; None: each line names its own.
        option: how the sender says that a name is not to be read.

    Raises:
        InvalidRecords: with everything that is wrong, by the lines of the request.
        Unreadable: the mapping names no table or column.
    """
    schema = discipline(discipline_name).schema
    alone = Schema(discipline_name, tuple(map(without_references, schema)))
    with TemporaryDirectory(prefix="agon-lines-") as folder, ExitStack() as files:
        sent, issues = _by_table(schema, Path(folder), files, chunks, mapping, table)
        stated = {own: name for own, name in mapping.tables.items() if own in sent}
        paths = {name: one.path for name, one in sent.items()}
        records, row_issues = inspect_files(alone, paths, mapping=replace(mapping, tables=stated))
        files.callback(records.close)
        issues += records.names.near_issues(option=option)
        issues += [_with_line(issue, sent) for issue in row_issues]
        if issues:
            raise InvalidRecords(sorted(issues, key=lambda issue: issue.line or 0))
        yield MappedLines(records.notes, _in_order(records, sent))


def _by_table(
    schema: Schema,
    folder: Path,
    files: ExitStack,
    chunks: Iterable[bytes],
    mapping: SourceMapping,
    table: str | None,
) -> tuple[dict[str, _SentTable], list[RowIssue]]:
    """Write the rows of each table into a file, and return what is no row."""
    names = {fold_name(each.name): each.name for each in schema}
    names |= {fold_name(stored): own for own, stored in mapping.tables.items()}
    sent: dict[str, _SentTable] = {}
    issues: list[RowIssue] = []
    known = {each.name: each for each in schema}
    for record in read_ndjson(chunks, table=table):
        own = names.get(fold_name(record.table))
        if isinstance(record.row, RowIssue):
            issues.append(replace(record.row, line=record.line))
        elif own is None:
            wrong = not_a_row(record.table, record.row, record.line, known)
            issues.append(replace(wrong, line=record.line))
        else:
            if own not in sent:
                path = folder / f"{mapping.tables.get(own, own)}.ndjson"
                sent[own] = _SentTable(path, files.enter_context(path.open("wb")))
            batch = sent[own]
            batch.lines.append(record.line)
            if record.external_id is not None:
                batch.external_ids[len(batch.lines)] = record.external_id
            batch.file.write(orjson.dumps(record.row, option=_PLAIN))
    for each in sent.values():
        each.file.close()
    return sent, issues


def _with_line(issue: RowIssue, sent: Mapping[str, _SentTable]) -> RowIssue:
    """Return an issue of a row with the line of the request."""
    if issue.row is None or issue.table not in sent:
        return issue
    line = sent[issue.table].lines[issue.row - 1]
    return replace(issue, row=line, line=line)


def _in_order(records: Records, sent: Mapping[str, _SentTable]) -> Iterator[bytes]:
    """Yield all rows in the order in which they were sent, each on its line."""
    last = 0
    for line, row in merge(*(_rows(records, name, one) for name, one in sent.items())):
        yield b"\n" * (line - last - 1) + row
        last = line


def _rows(records: Records, name: str, sent: _SentTable) -> Iterator[tuple[int, bytes]]:
    numbers: list[Any] = records.arrow(name, ["_row"]).column(0).to_pylist()
    ids = map(sent.external_ids.get, numbers)
    rows = table_lines(records, name, external_ids=ids)
    for number, row in zip(numbers, rows, strict=True):
        yield sent.lines[number - 1], row
