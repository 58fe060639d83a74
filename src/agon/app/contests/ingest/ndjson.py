"""Read records as they are sent: one JSON object a line, whatever else may come."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import itemgetter
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

import orjson

from agon.app.contests.ingest.batches import Batch, Record, batch_of, records_of
from agon.errors import Unreadable, did_you_mean
from agon.records import RowIssue

MAX_LINE_BYTES: Final = 4 << 20
"""Bytes of the longest line that is read as a record."""

_IN_MEMORY: Final = 4 << 20
_BLOCK: Final = 1 << 20
_AT_A_TIME: Final = 1_000
_TWO_KEYS: Final = 2
_KEYS: Final = frozenset({"table", "row", "external_id"})
_SHOWN: Final = 80
_MAX_NAME: Final = 500
_BOM: Final = b"\xef\xbb\xbf"


class Lines:
    """Read records from a body that has come to its end; once, and then it is closed."""

    def __init__(self, body: IO[bytes], *, table: str | None = None) -> None:
        """Take a body at its beginning; ``table`` as :func:`read_ndjson` takes it."""
        self._body = body
        self._table = table

    def __iter__(self) -> Iterator[Record]:
        """Yield record by record."""
        return chain.from_iterable(map(records_of, self.batches(_AT_A_TIME)))

    def batches(self, size: int) -> Iterator[Batch]:
        """Yield at most ``size`` records at once, and no more than some MiB of them."""
        number = 1
        with self._body as body:
            for lines in _cut(body, size):
                yield self._usual(lines, number) or self._one_by_one(lines, number)
                number += len(lines)

    def _usual(self, lines: list[bytes], first: int) -> Batch | None:
        """Read lines of the same, plain form; None if any of them may be another."""
        try:
            values = (
                list(map(orjson.loads, lines)) if max(map(len, lines)) <= MAX_LINE_BYTES else []
            )
        except orjson.JSONDecodeError:
            return None
        if not values or not _all(dict, values):
            return None
        numbers = range(first, first + len(lines))
        if self._table is not None:
            return Batch([self._table] * len(values), values, None, numbers)
        return _enveloped_alike(values, numbers)

    def close(self) -> None:
        """Close a body that is not read any more."""
        self._body.close()

    def _one_by_one(self, lines: list[bytes], first: int) -> Batch:
        given = [one for n, line in enumerate(lines, first) for one in _read(line, n, self._table)]
        return batch_of(given)


def read_ndjson(chunks: Iterable[bytes], *, table: str | None = None) -> Lines:
    r"""Read records from the chunks of a body.

    All chunks are taken in before this returns (large ones to a file without a name), so that a
    slow sender keeps nobody waiting but itself. Lines at fault come as an issue in place of the
    row; blank lines are passed over.

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


def _cut(body: IO[bytes], size: int) -> Iterator[list[bytes]]:
    """Cut a body into batches of lines; a batch of long lines has fewer of them."""
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


def _enveloped_alike(values: list[Any], lines: range) -> Batch | None:
    """Take records out of their envelopes; None if any of these may be amiss."""
    sizes = set(map(len, values))
    try:
        tables = list(map(itemgetter("table"), values))
        rows = list(map(itemgetter("row"), values))
        names = None if sizes == {_TWO_KEYS} else list(map(itemgetter("external_id"), values))
    except KeyError:
        return None
    if not (_all(str, tables) and _all(dict, rows) and max(sizes) <= len(_KEYS)):
        return None
    if names is not None and not all(map(_is_name, names)):
        return None
    return Batch(tables, rows, names, lines)


def _all(kind: type, values: list[Any]) -> bool:
    return {kind}.issuperset(map(type, values))


def _read(line: bytes, number: int, table: str | None) -> Iterator[Record]:
    """Read a line that is not plainly a record."""
    if number == 1:
        line = line.removeprefix(_BOM)
    if not line or line.isspace():
        return
    if len(line) > MAX_LINE_BYTES:
        what = f"has more than {MAX_LINE_BYTES:,} bytes"
        yield _wrong(table, number, None, what, "shorten it")
        return
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as wrong:
        shown = line[:_SHOWN].decode("utf-8", "replace").strip()
        yield _wrong(table, number, shown, f"is no JSON ({wrong})", "write one object a line")
        return
    if not isinstance(value, dict):
        yield _wrong(table, number, str(value)[:_SHOWN], "is no object", "write one object a line")
    elif table is not None:
        yield Record(table, value, None, number)
    else:
        yield _enveloped(value, number)


def _enveloped(value: dict[str, Any], number: int) -> Record:
    table, row, external_id = value.get("table"), value.get("row"), value.get("external_id")
    if not _KEYS.issuperset(value):
        extra = next(key for key in value if key not in _KEYS)
        what = f"has the key {extra[:_SHOWN]!r}"
        return _wrong(None, number, None, what, did_you_mean(extra[:_SHOWN], _KEYS))
    if not isinstance(table, str) or not isinstance(row, dict):
        what = "names no table" if not isinstance(table, str) else "has no object as row"
        return _wrong(None, number, None, what, 'write {"table": …, "row": {…}}')
    if external_id is not None and not _is_name(external_id):
        remedy = f"give 1 to {_MAX_NAME} printable characters"
        return _wrong(table, number, str(external_id)[:_SHOWN], "is no external_id", remedy)
    return Record(table, row, external_id, number)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_NAME and value.isprintable()


def _wrong(table: str | None, line: int, value: str | None, reason: str, remedy: str) -> Record:
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
    return Record(table or "", issue, None, line)


def one(table: str, row: Mapping[str, Any], external_id: str | None = None) -> list[Record]:
    """Return a single record in the form in which many are given.

    Raises:
        Unreadable: the external id cannot be one.
    """
    if external_id is not None:
        require_external_id(external_id)
    return [Record(table, row, external_id, 1)]


def require_external_id(external_id: str) -> None:
    """Refuse what cannot be a giver's own name for something.

    Raises:
        Unreadable: it is empty, too long, or not printable.
    """
    if not _is_name(external_id):
        raise Unreadable(f"an external_id has 1 to {_MAX_NAME} printable characters; give one")
