"""Read files and data frames of other formats with the same checks and messages as records.

A foreign file is described by a schema like a discipline's own tables. It is put into a temporary
folder under the schema's table name (as a link, or as NDJSON where it was a JSON list) and read
from there; problems are reported under the file's own name.
"""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from agon.errors import NotFound, Unreadable
from agon.records import InvalidRecords, Records, RowIssue, Schema, inspect, read_rows

ENDINGS = {
    ".csv": ".csv",
    ".csv.gz": ".csv.gz",
    ".tsv": ".csv",
    ".ndjson": ".ndjson",
    ".ndjson.gz": ".ndjson.gz",
    ".jsonl": ".ndjson",
    ".jsonl.gz": ".ndjson.gz",
    ".json": ".json",
    ".json.gz": ".json",
    ".parquet": ".parquet",
}
"""Endings of the files that are read, each with the ending of its format."""


@contextmanager
def foreign(
    schema: Schema,
    sources: Mapping[str, Any],
    *,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
) -> Iterator[Records]:
    """Yield the validated records of files or of data frames, by the table that each one holds.

    Args:
        schema: the tables.
        sources: files (:class:`~pathlib.Path`), or data frames or lists of dicts, by table.
        columns: the sources' name of a column by the schema's, where they differ.
        where: a value, or several, by column of the sources; only such rows are read.

    Raises:
        InvalidRecords: with everything that is wrong, each with file, row, column and value.
        NotFound, Unreadable: a file does not exist or is of no kind that is read.
    """
    files = {table: source for table, source in sources.items() if isinstance(source, Path)}
    if len(files) == len(sources):
        with _from_files(schema, files, columns, where) as records:
            yield records
    elif files:
        raise Unreadable("files and data frames cannot be read together; give all in one form")
    else:
        with read_rows(schema, sources, columns=columns, where=where) as records:
            yield records


@contextmanager
def _from_files(
    schema: Schema,
    files: Mapping[str, Path],
    columns: Mapping[str, str] | None,
    where: Mapping[str, Any] | None,
) -> Iterator[Records]:
    with TemporaryDirectory(prefix="agon-import-") as folder:
        for table, file in files.items():
            known = {column.name for column in schema.table(table).columns}
            others = {name.removeprefix(f"{table}.") for name in where or ()}
            named = known | others | set((columns or {}).values())
            _place(file, Path(folder) / table, named)
        records, problems = inspect(schema, folder, columns=columns, where=where)
        try:
            if problems:
                raise InvalidRecords([_with_file(problem, files) for problem in problems])
            yield records
        finally:
            records.close()


def columns_of(source: Any) -> list[str]:
    """Return the columns of a file or a data frame.

    A file's are CSV's header, a Parquet schema, or the keys of JSON objects; a data frame is an
    Arrow table here.

    Raises:
        NotFound, Unreadable: a file does not exist or is of no kind that is read.
    """
    if isinstance(source, Path):
        return _columns_of_file(source)
    return [str(name) for name in source.column_names]


def _columns_of_file(file: Path) -> list[str]:
    kind = _kind(file)
    if kind == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return [str(name) for name in pq.read_schema(file).names]
        except pa.ArrowInvalid as error:
            raise Unreadable(f"{file} is not a Parquet file: {error}") from None
    try:
        if kind == ".json":
            rows: Any = _json_rows(file) or []
            return list(dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row))
        # Invalid UTF-8 is reported with its position when the rows are read; here it is ignored.
        with _open_text(file, errors="replace") as text:
            if kind.startswith(".csv"):
                first = text.readline()
                delimiter = max(",;\t", key=first.count)
                return [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
            return _keys(text)
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise Unreadable(f"{file} cannot be read: {error}") from None


def _keys(lines: IO[str], *, most: int = 1_000) -> list[str]:
    """Collect the keys of the first objects of an NDJSON file."""
    keys: dict[str, None] = {}
    for _, line in zip(range(most), lines, strict=False):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            keys |= dict.fromkeys(row)
    return list(keys)


def _kind(file: Path) -> str:
    if not file.exists():
        raise NotFound(f"{file}: no such file")
    if file.is_dir():
        raise Unreadable(f"{file} is a folder; give a file")
    name = file.name.lower()
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if name.endswith(ending):
            return ENDINGS[ending]
    raise Unreadable(
        f"{file}: its format is unknown; give its name one of the endings {', '.join(ENDINGS)}"
    )


def _place(file: Path, target: Path, columns: set[str]) -> None:
    kind = _kind(file)
    if kind != ".json":
        target.with_name(target.name + kind).symlink_to(file.resolve())
        return
    rows = _json_rows(file)
    if rows is None:  # one object per line, with any file name
        ending = ".ndjson.gz" if file.suffix == ".gz" else ".ndjson"
        target.with_name(target.name + ending).symlink_to(file.resolve())
        return
    with target.with_name(target.name + ".ndjson").open("w", encoding="utf-8") as text:
        for row in rows:
            item = row
            if isinstance(row, dict):
                item = {key: value for key, value in row.items() if key in columns}
            text.write(json.dumps(item, ensure_ascii=True) + "\n")


def _json_rows(file: Path) -> list[Any] | None:
    """Return the elements of a JSON list; None when the file has one value per line instead."""
    with _open_text(file) as stream:
        try:
            text = stream.read()
        except (UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
            raise Unreadable(f"{file} is not UTF-8 text: {error}") from None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = text.lstrip().splitlines()
        if lines and lines[0].lstrip().startswith("{") and lines[0].rstrip().endswith("}"):
            return None
        raise Unreadable(f"{file} is not JSON: {error}") from None
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        if len(lists) == 1:
            return list(lists[0])
    raise Unreadable(
        f"{file} contains no list of objects; give [{{…}}, {{…}}] or one object per line"
    )


def _open_text(file: Path, *, errors: str = "strict") -> IO[str]:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", errors=errors)
    return file.open(encoding="utf-8-sig", errors=errors)


def _with_file(problem: RowIssue, files: Mapping[str, Path]) -> RowIssue:
    """Return an issue with the name of the file it is in."""
    file = files.get(problem.table)
    if file is None:
        return problem
    line = None if _kind(file) == ".json" else problem.line
    return replace(problem, location=file.name, line=line)
