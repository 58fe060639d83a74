"""Read records from NDJSON: one JSON object per line; any other line becomes an issue."""

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import itemgetter
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

from agon.app.contests.ingest.batches import Batch, SentRecord, batch_of, groups_of, records_of
from agon.errors import Unreadable, did_you_mean
from agon.kernel.text.plain_json import InvalidJson, parse_objects, read_json, write_objects
from agon.records import RowIssue

MAX_LINE_BYTES: Final = 4 << 20

_IN_MEMORY: Final = 4 << 20
_BLOCK: Final = 1 << 20
_BATCH_SIZE: Final = 1_000
_TWO_KEYS: Final = 2
_KEYS: Final = frozenset({"table", "row", "external_id"})
_SHOWN: Final = 80
_MAX_NAME: Final = 500
_BOM: Final = b"\xef\xbb\xbf"


class Lines:
    """The records of a body that was received completely.

    Reading them one by one closes it; batches can be read again.
    """

    def __init__(self, body: IO[bytes], *, table: str | None = None) -> None:
        """Wrap a body, which is read from its beginning; ``table`` as in :func:`read_ndjson`."""
        self._body = body
        self._table = table

    def __iter__(self) -> Iterator[SentRecord]:
        """Yield the records one by one."""
        with self._body:
            yield from chain.from_iterable(map(records_of, self.batches(_BATCH_SIZE)))

    def batches(self, size: int) -> Iterator[Batch]:
        """Yield batches of at most ``size`` records and a few MiB, from the first one on."""
        number = 1
        self._body.seek(0)
        for lines in _batches(self._body, size):
            yield self._read_usual(lines, number) or self._read_each(lines, number)
            number += len(lines)

    def _read_usual(self, lines: list[bytes], first: int) -> Batch | None:
        """Return lines of the usual form as a batch; None if any may have another form."""
        objects = parse_objects(lines)
        if objects is None:
            return None
        numbers = range(first, first + len(lines))
        if self._table is None:
            return _enveloped_alike(objects, lines, numbers)
        written = write_objects(lines, objects)
        if written is None:
            return None
        tables = [self._table] * len(lines)
        return Batch(tables, objects, None, numbers, None, groups_of(tables, objects), written)

    def close(self) -> None:
        """Close the body without reading the rest."""
        self._body.close()

    def _read_each(self, lines: list[bytes], first: int) -> Batch:
        records = [
            record for n, line in enumerate(lines, first) for record in _read(line, n, self._table)
        ]
        return batch_of(records)


def read_ndjson(chunks: Iterable[bytes], *, table: str | None = None) -> Lines:
    r"""Read records from the chunks of a body.

    All chunks are read before this returns (large bodies into an unnamed file), so that a slow
    sender does not hold the contest's lock. An invalid line becomes an issue in place of its row;
    blank lines are skipped.

    Args:
        chunks: the bytes, cut anywhere.
        table: the table of all lines, which are then bare rows; None: each line is
            ``{"table": …, "row": {…}, "external_id": …}``, the last key optional.

    Example:
        >>> [given] = read_ndjson([b'{"table":"votes","ro', b'w":{"vote":"A"}}\n'])
        >>> given.table, given.row, given.line
        ('votes', {'vote': 'A'}, 1)
    """
    spool: IO[bytes] = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - it is closed after its last line
    try:
        for piece in chunks:
            spool.write(piece)
        spool.seek(0)
    except BaseException:
        spool.close()
        raise
    return Lines(spool, table=table)


def _batches(body: IO[bytes], size: int) -> Iterator[list[bytes]]:
    """Yield batches of lines; a batch of long lines has fewer of them."""
    waiting: list[bytes] = []
    while lines := body.readlines(_BLOCK):
        waiting += lines
        for start in range(0, len(waiting) - size + 1, size):
            yield waiting[start : start + size]
        waiting = waiting[len(waiting) // size * size :]
        if waiting and len(lines) < size:  # the lines are long: these are enough of them
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _enveloped_alike(
    envelopes: list[dict[str, Any]], lines: list[bytes], numbers: range
) -> Batch | None:
    """Return the batch that envelopes hold; None if any envelope may be wrong."""
    sizes = set(map(len, envelopes))
    try:
        tables = list(map(itemgetter("table"), envelopes))
        rows = list(map(itemgetter("row"), envelopes))
        names = None if sizes == {_TWO_KEYS} else list(map(itemgetter("external_id"), envelopes))
    except KeyError:
        return None
    if not (_all(str, tables) and _all(dict, rows) and max(sizes) <= len(_KEYS)):
        return None
    if names is not None and not all(map(_is_name, names)):
        return None
    wrapping = [*tables, *(names or ())]
    # Each of these values has the colon after its key, and so has each row.
    colons_around = len(wrapping) + len(rows) + "".join(wrapping).count(":")
    written = write_objects(lines, rows, colons_around=colons_around)
    if written is None:
        return None
    return Batch(tables, rows, names, numbers, None, groups_of(tables, rows), written)


def _all(kind: type, values: list[Any]) -> bool:
    return {kind}.issuperset(map(type, values))


def _read(line: bytes, number: int, table: str | None) -> Iterator[SentRecord]:
    """Yield the record or the issue of a line; nothing for a blank line."""
    if number == 1:
        line = line.removeprefix(_BOM)
    if not line or line.isspace():
        return
    if len(line) > MAX_LINE_BYTES:
        issue = too_long(table or "", "records", number, number)
        yield SentRecord(issue.table, issue, None, number)
        return
    try:
        value = read_json(line)
    except InvalidJson as error:
        # Text in another encoding is no more readable between its NUL bytes.
        excerpt = None if b"\0" in line else line[:_SHOWN].decode("utf-8", "replace").strip()
        yield _issue(table, number, excerpt, error.fact, error.remedy)
        return
    if not isinstance(value, dict):
        yield _issue(
            table, number, str(value)[:_SHOWN], "is not an object", "write one object a line"
        )
    elif table is not None:
        yield SentRecord(table, value, None, number)
    else:
        yield _record_of_envelope(value, number)


def too_long(table: str, location: str, row: int, line: int | None = None) -> RowIssue:
    """Return the issue of a row that is longer than a contest takes."""
    fact = f"has more than {MAX_LINE_BYTES:,} bytes"
    return RowIssue("bad-line", table, location, row, None, None, fact, "shorten it", line)


def _record_of_envelope(value: dict[str, Any], number: int) -> SentRecord:
    table, row, external_id = value.get("table"), value.get("row"), value.get("external_id")
    if not _KEYS.issuperset(value):
        extra = next(key for key in value if key not in _KEYS)
        fact = f"has the key {extra[:_SHOWN]!r}"
        return _issue(None, number, None, fact, did_you_mean(extra[:_SHOWN], _KEYS))
    if not isinstance(table, str) or not isinstance(row, dict):
        fact = "names no table" if not isinstance(table, str) else "has no object as row"
        return _issue(None, number, None, fact, 'write {"table": …, "row": {…}}')
    if external_id is not None and not _is_name(external_id):
        remedy = f"give 1 to {_MAX_NAME} printable characters"
        return _issue(table, number, str(external_id)[:_SHOWN], "is not an external_id", remedy)
    return SentRecord(table, row, external_id, number)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_NAME and value.isprintable()


def _issue(table: str | None, line: int, value: str | None, reason: str, remedy: str) -> SentRecord:
    issue = RowIssue(
        code="bad-line",
        table=table or "",
        location="records",
        row=line,
        column=None,
        value=value,
        reason=reason,
        remedy=remedy,
        line=line,
    )
    return SentRecord(table or "", issue, None, line)


def read_value(body: bytes, *, table: str | None = None) -> list[SentRecord]:
    """Return the record of a body that is one JSON value; an issue if it is not a record.

    Args:
        body: the bytes; line ends between values have no meaning.
        table: as in :func:`read_ndjson`.
    """
    return list(_read(body, 1, table))


def require_external_id(external_id: str) -> None:
    """Raise unless a text can be an external id.

    Raises:
        Unreadable: it is empty, too long, or not printable.
    """
    if not _is_name(external_id):
        raise Unreadable(f"an external_id has 1 to {_MAX_NAME} printable characters; give one")
