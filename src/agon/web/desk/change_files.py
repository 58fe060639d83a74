"""Read the files of change sets: rows that correct others, and ids of what is voided."""

import io
from dataclasses import replace
from typing import Any, Final

import orjson

from agon.api.models.contests import Contest
from agon.app.contests.ingest.uploads import Upload, read_table, stored_upload, table_of
from agon.errors import Unreadable
from agon.records import Column, Kind, Table
from agon.records.sources.formats import columns_in
from agon.web.page import Visit

_LEAVE_OUT: Final = "remove the column"


def correction_rows(visit: Visit, contest: Contest) -> list[dict[str, Any]]:
    """Return the rows of an uploaded file, else of CSV that was typed.

    A row has the columns of its key and those that change; an empty value changes nothing.

    Raises:
        InvalidRecords: with everything that is wrong with the file.
        NotFound: there is no such table.
        Unreadable: the file is empty, or has columns that the table has not.
    """
    table = table_of(contest.discipline, visit.form.get("table", ""))
    name, file = visit.files.get("file", ("", None))
    if not name or file is None:
        name, file = f"{table.name}.csv", io.BytesIO(visit.form.get("rows", "").encode())
    with (
        stored_upload(table.name, name, file) as path,
        read_table(_changed_columns(table), path, option=_LEAVE_OUT) as upload,
    ):
        upload.require_valid()
        _require_used(upload)
        return [orjson.loads(line) for line in upload.lines(bare=True)]


def file_ids(visit: Visit, kind: str) -> list[str]:
    """Return the values of the first column of an uploaded file, or none without a file.

    Raises:
        InvalidRecords: with everything that is wrong with the file.
        Unreadable: the file is empty, or its first line is a record and no name.
    """
    name, file = visit.files.get("file", ("", None))
    if not name or file is None:
        return []
    with stored_upload(kind, name, file) as path:
        first = next(iter(columns_in(path)), "id")
        if "/" in first:
            raise Unreadable(
                f"the first line, {first[:80]!r}, is a record and no name of a column; put a line "
                "with a name, such as record, above it"
            )
        ids = Table(kind, (Column(first, Kind.ID),))
        with read_table(ids, path, option=_LEAVE_OUT) as upload:
            upload.require_valid()
            return [
                str(value) for value in upload.records.arrow(kind, [first]).column(0).to_pylist()
            ]


def _changed_columns(table: Table) -> Table:
    """Return a table of which a file has the key and any of the other columns.

    The complete rows are checked when the change is proposed; a winner may be written as a name
    that only they have.
    """
    columns = tuple(
        replace(
            column,
            references=None,
            required=column.name in table.key,
            choices=() if column.sides else column.choices,
            sides=(),
        )
        for column in table.columns
    )
    return replace(table, columns=columns, checks=(), exactly_one_of=(), required=False, ends=None)


def _require_used(upload: Upload) -> None:
    """Raise Unreadable if the file has columns that the table has not."""
    unused = [note for note in upload.notes if note.startswith("not used")]
    if unused:
        raise Unreadable(f"{upload.table}: {'; '.join(unused)}; correct the names, or remove them")
