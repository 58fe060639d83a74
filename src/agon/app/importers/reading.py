"""Read files and data frames of other formats with the same checks and messages as records.

A foreign table is described by a schema like a discipline's own tables; a file is read under its
own name by the readers of records.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agon.errors import NotFound, Unreadable
from agon.records import InvalidRecords, Records, Schema, inspect_files, inspect_rows
from agon.records.names.mapping import NO_MAPPING, SourceMapping
from agon.records.sources.formats import USUAL, columns_in, ending_of


@contextmanager
def foreign(
    schema: Schema,
    sources: Mapping[str, Any],
    *,
    mapping: SourceMapping = NO_MAPPING,
    where: Mapping[str, Any] | None = None,
) -> Iterator[Records]:
    """Yield the validated records of files or of data frames, by the table that each one holds.

    Args:
        schema: the tables.
        sources: files (:class:`~pathlib.Path`), or data frames or lists of dicts, by table.
        mapping: how names and values of the sources are read.
        where: a value, or several, by column of the sources; only such rows are read.

    Raises:
        InvalidRecords: with everything that is wrong, each with file, row, column and value.
        NotFound, Unreadable: a file does not exist or is of no kind that is read.
    """
    files = {table: source for table, source in sources.items() if isinstance(source, Path)}
    if files and len(files) < len(sources):
        raise Unreadable("files and data frames cannot be read together; give all in one form")
    for file in files.values():
        require_file(file)
    inspect = inspect_files if files else inspect_rows
    records, problems = inspect(schema, sources, mapping=mapping, where=where)
    try:
        if problems:
            raise InvalidRecords(problems, names=records.names)
        yield records
    finally:
        records.close()


def columns_of(source: Any, known: Iterable[str] = ()) -> list[str]:
    """Return the columns of a file or a data frame.

    A file's are CSV's header, a Parquet schema, or the keys of JSON objects; a data frame is an
    Arrow table here.

    Args:
        source: the file or the table.
        known: names of columns it may have, by which a CSV file's delimiter is recognized.

    Raises:
        NotFound, Unreadable: a file does not exist or is of no kind that is read.
    """
    if isinstance(source, Path):
        require_file(source)
        return columns_in(source, tuple(known))
    return [str(name) for name in source.column_names]


def require_file(file: Path) -> None:
    """Raise unless a path is a file in a format that is read.

    Raises:
        NotFound, Unreadable: it does not exist, or is of no kind that is read.
    """
    if not file.exists():
        raise NotFound(f"{file}: no such file")
    if file.is_dir():
        raise Unreadable(f"{file} is a folder; give a file")
    if not ending_of(file.name):
        raise Unreadable(
            f"{file}: its format is unknown; give its name one of the endings {', '.join(USUAL)} "
            "(also with .gz, .zst or .zip)"
        )
