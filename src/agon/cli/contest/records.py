"""``agon contest add``: records into a contest's ledger."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

from agon.cli.shared import arguments, completion, lists, parameters, sources
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver_json
from agon.cli.shared.tables import echo
from agon.cli.shared.target import Target, target
from agon.errors import NotFound, Unreadable

if TYPE_CHECKING:
    from agon.client import Api
    from agon.entities.ledgers import RecordChange
    from agon.records.names.mapping import SourceMapping

_PIECE: Final = 1 << 18
_LINES: Final = (".ndjson", ".jsonl")
_SHOWN: Final = 20
_IGNORE: Final = "--ignore NAME"


@click.command("add", cls=Command)
@arguments.contest
@parameters.source
@sources.with_mapping
@option(
    "--table",
    metavar="T",
    shell_complete=completion.tables,
    help="SOURCE is a file of this table; its lines are bare rows.",
)
@option("--replace", is_flag=True, help="A record supersedes the one with the same key.")
@option("--dry-run", is_flag=True, help="Validate and count; add nothing.")
@parameters.form(TABLE, "json")
@target
def add(
    contest: str,
    source: str,
    *,
    mapping: "SourceMapping | None",
    table: str | None,
    replace: bool,
    dry_run: bool,
    form: str,
    target: Target,
) -> None:
    """Add the records of SOURCE to the ledger of ID.

    SOURCE is an NDJSON file (- for stdin) with lines {"table": …, "row": {…}, "external_id": …},
    a file of one table with --table, or what agon score reads: a folder, a file of battles, a
    DuckDB or SQLite file, postgresql://…. A mapping is about any of them. A record that is stored
    already with the same content is not added again; of a table without a key, the n-th row with a
    content is. If any record is invalid, all invalid ones are reported and none is added.

      agon contest add spring data/
      agon contest add arena votes.csv --table votes --dry-run
      tail -n 100 log.ndjson | agon contest add spring - --server https://agon.example
    """
    from agon.cli.shared.output import working

    with target.open(create=False) as api, working(f"adding to {contest}"):
        notes: list[str] = []
        chunks, is_bare = _chunks(
            api, contest, source, table=table, mapping=mapping, notes=notes, replace=replace
        )
        summary = api.records.add(
            contest,
            chunks,
            table=table if is_bare else None,
            replace=replace,
            dry_run=dry_run,
            ignore=() if mapping is None else mapping.ignore,
        )
    read = (*notes, *summary.notes)
    if form == "json":
        deliver_json({**lists.plain_values(summary), "notes": read})
        return
    would = "would be " if dry_run else ""
    sources.echo_notes(read)
    sources.echo_warnings(summary.warnings)
    for change in summary.changes[:_SHOWN]:
        echo(f"{change.record}: {_differences(change)}", err=True)
    if summary.replaced > _SHOWN:
        click.echo(f"and {summary.replaced - _SHOWN:,} more", err=True)
    parts = [f"{summary.added:,} {would}added", f"{summary.repeated:,} stored already"]
    if replace:
        parts.append(f"{summary.replaced:,} {would}replaced")
    if summary.last_seq is not None and not dry_run:
        parts.append(f"the ledger is at {summary.last_seq:,}")
    click.echo(", ".join(parts))


def _differences(change: "RecordChange") -> str:
    """Return what a replaced record changes, as a line."""
    none = "(none)"
    return ", ".join(
        f"{name} {change.before.get(name, none)!s:.80} → {change.after.get(name, none)!s:.80}"
        for name in {**change.before, **change.after}
    )


def _chunks(
    api: "Api",
    contest: str,
    source: str,
    *,
    table: str | None,
    mapping: "SourceMapping | None",
    notes: list[str],
    replace: bool,
) -> tuple[Iterator[bytes], bool]:
    """Return a source's records as NDJSON, and whether its lines are as the source has them.

    How names and values were read is added to ``notes`` while the records are read.
    """
    path = Path(source)
    is_lines = has_lines(source)
    is_plain = not (mapping and replaced(mapping, ignore=()))
    may_be_battles = is_lines and table is None and path.is_file()
    if is_lines and is_plain and not may_be_battles:
        return read_pieces(source), True
    discipline = api.contests.get(contest).discipline
    is_lines = is_lines and not (may_be_battles and _are_battles(discipline, path))
    if is_lines and is_plain:
        return read_pieces(source), True
    if is_lines and mapping is not None:
        return _mapped_lines(discipline, table, source, mapping, notes), False
    if table is None:
        return records_of(discipline, source, mapping, notes=notes), False
    check = partial(api.records.add, contest, replace=replace, dry_run=True)
    return _rows_of(discipline, table, path, mapping, notes, check=check), False


def _are_battles(discipline: str, path: Path) -> bool:
    """Return whether a file of lines is in the format of one table that a discipline reads.

    Lines of records name their table.
    """
    from agon.app.importers import format_of_frame
    from agon.records.sources.ndjson_file import columns_in

    if format_of_frame(discipline) is None:
        return False
    keys = columns_in(path)
    return bool(keys) and not {"table", "row"} & {*keys}


def _mapped_lines(
    discipline: str,
    table: str | None,
    source: str,
    mapping: "SourceMapping",
    notes: list[str],
) -> Iterator[bytes]:
    """Yield the rows of NDJSON under the names of the schema.

    Raises:
        InvalidRecords: with everything that is wrong with the lines.
    """
    from agon.app.contests.ingest.mapped_lines import map_lines

    pieces = read_pieces(source)
    with map_lines(discipline, pieces, mapping, table=table, option=_IGNORE) as mapped:
        notes += mapped.notes
        yield from mapped.lines


def _rows_of(
    discipline: str,
    table: str,
    path: Path,
    mapping: "SourceMapping | None",
    notes: list[str],
    *,
    check: Callable[[Iterator[bytes]], object],
) -> Iterator[bytes]:
    """Yield the rows of a file of one table as NDJSON.

    Raises:
        InvalidRecords: with everything that is wrong with the file, and what ``check`` says of its
            other rows.
    """
    from agon.app.contests.ingest.uploads import read_upload

    with (
        open_file(path) as file,
        read_upload(discipline, table, path.name, file, option=_IGNORE, mapping=mapping) as upload,
    ):
        upload.require_valid(check)
        notes += upload.notes
        yield from upload.lines()


def open_file(path: Path) -> BinaryIO:
    """Open a file.

    Raises:
        NotFound, Unreadable: it cannot be opened.
    """
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise NotFound(f"{path}: no such file") from None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error.strerror})") from None


def has_lines(source: str) -> bool:
    """Return whether a source is NDJSON that is sent as it is: by its ending, or ``-``."""
    path = Path(source)
    return source == "-" or (path.suffix.lower() in _LINES and not path.is_dir())


def read_pieces(source: str) -> Iterator[bytes]:
    """Yield the content of a file, or of stdin for ``-``."""
    if source == "-":
        yield from _pieces(sys.stdin.buffer)
        return
    with Path(source).open("rb") as stream:
        yield from _pieces(stream)


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield piece


def records_of(
    discipline: str,
    source: str,
    mapping: "SourceMapping | None" = None,
    *,
    notes: list[str] | None = None,
) -> Iterator[bytes]:
    """Yield the records of a validated source as NDJSON, referenced tables first.

    A source is what ``agon score`` reads; how it was read is added to ``notes``.
    """
    for step in steps_of(discipline, source, steps=1, mapping=mapping, notes=notes):
        yield from step


def steps_of(
    discipline: str,
    source: str,
    *,
    steps: int,
    mapping: "SourceMapping | None" = None,
    notes: list[str] | None = None,
) -> Iterator[list[bytes]]:
    """Yield the records of a validated source in steps, each as NDJSON.

    The first step has the tables that others refer to. Of the other tables each step has an equal
    share, in the order of the source.

    Args:
        discipline: the discipline.
        source: what ``agon score`` reads.
        steps: the number of steps.
        mapping: how its names and values are read.
        notes: a list to which is added how they were read, and what their rows show.

    Raises:
        InvalidRecords: rows are invalid, or an unused name is near to one that is missing.
    """
    from agon.app.analysis.records import read_records
    from agon.app.contests.ingest.record_lines import record_lines

    records = read_records(discipline, source, mapping=mapping)
    records.names.require_exact(option=_IGNORE)
    if notes is not None:
        notes += [*records.notes, *(finding.message for finding in records.row_findings)]
    yield from record_lines(records, steps=steps)


def read_json_lines(source: str) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each line of JSON of a file (``-``: of the standard input).

    Raises:
        Unreadable: a line is no JSON.
    """
    from agon.kernel.text.plain_json import InvalidJson, read_json

    for number, line in enumerate(b"".join(read_pieces(source)).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            yield number, read_json(line)
        except InvalidJson as error:
            raise Unreadable(f"{source}, line {number}: {error}") from None
