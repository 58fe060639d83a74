"""Show an uploaded file of records as it was read, before anything of it is stored."""

import base64
import binascii
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import IO, Any, Final

from agon.api.models.records import ImportSummary
from agon.api.operations.records import ignored_names
from agon.app.analysis.mapping_suggestion import mapping_hints
from agon.app.contests.ingest.uploads import ReadColumn, Upload, read_upload
from agon.errors import AgonError, Unreadable
from agon.records import InvalidRecords
from agon.records.names.mapping import SourceMapping, parse_mapping, source_mapping
from agon.web.page import Visit, error_texts

_IGNORE: Final = "the field Not read"
_HELD_BYTES: Final = 512 << 10
_PIECE: Final = 1 << 20


@dataclass(frozen=True)
class Preview:
    """A file of a table as it was read, and what adding it does or did.

    Attributes:
        table: the table.
        name: the file's name.
        columns: how each column was read.
        first: the first rows.
        count: the number of rows.
        notes: other spellings, and what is not used.
        faults: everything that is wrong, then what in a mapping may help.
        summary: what would be added, or was; None: something is wrong.
        is_added: whether the rows were added.
        digest: what names the file and the changes that are shown; a form that sends it has
            shown them.
        held: the file itself as Base64, if it is small: it need not be chosen again.
    """

    table: str
    name: str
    columns: Sequence[ReadColumn] = ()
    first: Sequence[Mapping[str, Any]] = ()
    count: int = 0
    notes: Sequence[str] = ()
    faults: Sequence[str] = ()
    summary: ImportSummary | None = None
    is_added: bool = False
    digest: str = ""
    held: str = field(default="", repr=False)

    @property
    def shown(self) -> list[str]:
        """The columns that the first rows have."""
        return [column.name for column in self.columns if column.source is not None]

    @property
    def needs_confirmation(self) -> bool:
        """Whether rows would be replaced, which a person sees before."""
        return self.summary is not None and not self.is_added and self.summary.replaced > 0


def preview(visit: Visit, discipline: str, contest: str) -> Preview:
    """Read the file of a form, and add its rows if the form says so.

    Rows that replace others are added only by a form that has shown what they change.
    """
    form = visit.form
    table, adds, replaces = form.get("table", ""), form.get("do") == "add", "replace" in form
    read = Preview(table, "")
    try:
        name, file = _sent_file(visit)
        read = Preview(table, name, held=_held(file))
        mapping = _mapping(form.get("mapping", ""), form.get("ignore", ""))
        with read_upload(discipline, table, name, file, option=_IGNORE, mapping=mapping) as upload:
            read = _as_read(read, upload)
            add = visit.api.records.add
            upload.require_valid(partial(add, contest, dry_run=True, replace=replaces))
            summary = None
            if replaces or not adds:
                summary = add(contest, upload.lines(), dry_run=True, replace=replaces)
                digest = _digest(table, file, mapping, summary)
                read = replace(read, summary=summary, digest=digest)
            confirmed = summary is None or not summary.replaced or form.get("seen") == read.digest
            if adds and confirmed:
                summary = add(contest, upload.lines(), replace=replaces)
                read = replace(read, summary=summary, is_added=True)
            return read
    except AgonError as error:
        hints = mapping_hints(error.issues) if isinstance(error, InvalidRecords) else []
        return replace(read, faults=[*error_texts(error), *hints])


def _as_read(read: Preview, upload: Upload) -> Preview:
    return replace(
        read,
        columns=upload.columns,
        first=upload.first,
        count=upload.count,
        notes=upload.notes,
    )


def _sent_file(visit: Visit) -> tuple[str, IO[bytes]]:
    """Return name and content of the file, which the form itself may hold.

    Raises:
        Unreadable: what the form holds is damaged.
    """
    name, file = visit.files.get("file", ("", io.BytesIO()))
    if name or "held" not in visit.form:
        return name, file
    try:
        content = base64.b64decode(visit.form["held"], validate=True)
    except (binascii.Error, ValueError):
        raise Unreadable("the form does not hold the file any more; choose it again") from None
    return visit.form.get("held_name", ""), io.BytesIO(content)


def _held(file: IO[bytes]) -> str:
    content = file.read(_HELD_BYTES + 1)
    file.seek(0)
    return base64.b64encode(content).decode() if len(content) <= _HELD_BYTES else ""


def _mapping(text: str, ignore: str) -> SourceMapping:
    stated = parse_mapping(text, "the mapping")
    return source_mapping(stated).with_ignored(ignored_names(ignore))


def _digest(table: str, file: IO[bytes], mapping: SourceMapping, summary: ImportSummary) -> str:
    """Hash a file, how it is read, and what replacing rows with it changes."""
    read_and_changed = f"{table}\0{mapping}\0{summary.replaced}\0{summary.changes}\0"
    digest = hashlib.sha256(read_and_changed.encode())
    file.seek(0)
    while piece := file.read(_PIECE):
        digest.update(piece)
    return digest.hexdigest()
