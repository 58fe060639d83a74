"""Read records as they are sent: one JSON object a line, whatever else may come."""

from collections.abc import Iterable, Iterator, Mapping
from tempfile import SpooledTemporaryFile
from typing import Any, Final, NamedTuple

import orjson

from agon.errors import Unreadable, did_you_mean
from agon.records import Problem

LONGEST_LINE: Final = 4 << 20
"""Bytes of the longest line that is read as a record."""

_IN_MEMORY: Final = 4 << 20
_BLOCK: Final = 1 << 20
_LEAST_KEYS: Final = 2
_KEYS: Final = frozenset({"table", "row", "external_id"})
_SHOWN: Final = 80
_LONGEST_NAME: Final = 500
_BOM: Final = b"\xef\xbb\xbf"


class Given(NamedTuple):
    """Hold one record as it was given.

    Attributes:
        table: its table; empty where that cannot be told.
        row: its columns; or what is wrong with the line.
        external_id: the giver's own name for it.
        line: where it stood, from 1.
    """

    table: str
    row: Mapping[str, Any] | Problem
    external_id: str | None = None
    line: int = 0


def read_ndjson(chunks: Iterable[bytes], *, table: str | None = None) -> Iterator[Given]:
    r"""Read records from the chunks of a body.

    All chunks are taken in before this returns (large ones to a file without a name), so that a
    slow sender keeps nobody waiting but itself. Lines at fault come as a problem in place of the
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
    spool = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - it is closed after its last line
    try:
        for chunk in chunks:
            spool.write(chunk)
        spool.seek(0)
    except BaseException:
        spool.close()
        raise
    return _given(spool, table)


def _given(spool: Any, table: str | None) -> Iterator[Given]:
    loads, make, number = orjson.loads, Given, 0
    with spool:
        while lines := spool.readlines(_BLOCK):
            for line in lines:
                number += 1
                try:
                    value = loads(line) if len(line) <= LONGEST_LINE else None
                except orjson.JSONDecodeError:
                    value = None
                if type(value) is dict:
                    if table is not None:
                        yield make(table, value, None, number)
                        continue
                    name, row = value.get("table"), value.get("row")
                    if type(name) is str and type(row) is dict and len(value) == _LEAST_KEYS:
                        yield make(name, row, None, number)
                        continue
                yield from _read(line, number, table)


def _read(line: bytes, number: int, table: str | None) -> Iterator[Given]:
    """Read a line that is not plainly a record."""
    if number == 1:
        line = line.removeprefix(_BOM)
    if not line or line.isspace():
        return
    if len(line) > LONGEST_LINE:
        what = f"has more than {LONGEST_LINE:,} bytes"
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
        yield Given(table, value, None, number)
    else:
        yield _enveloped(value, number)


def _enveloped(value: dict[str, Any], number: int) -> Given:
    table, row, external_id = value.get("table"), value.get("row"), value.get("external_id")
    if not _KEYS.issuperset(value):
        extra = next(key for key in value if key not in _KEYS)
        what = f"has the key {extra[:_SHOWN]!r}"
        return _wrong(None, number, None, what, did_you_mean(extra[:_SHOWN], _KEYS))
    if not isinstance(table, str) or not isinstance(row, dict):
        what = "names no table" if not isinstance(table, str) else "has no object as row"
        return _wrong(None, number, None, what, 'write {"table": …, "row": {…}}')
    if external_id is not None and not _is_name(external_id):
        remedy = f"give 1 to {_LONGEST_NAME} printable characters"
        return _wrong(table, number, str(external_id)[:_SHOWN], "is no external_id", remedy)
    return Given(table, row, external_id, number)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value.isprintable()


def _wrong(table: str | None, line: int, value: str | None, reason: str, remedy: str) -> Given:
    problem = Problem(
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
    return Given(table or "", problem, None, line)


def one(table: str, row: Mapping[str, Any], external_id: str | None = None) -> list[Given]:
    """Return a single record in the form in which many are given.

    Raises:
        Unreadable: the external id cannot be one.
    """
    if external_id is not None:
        expect_external_id(external_id)
    return [Given(table, row, external_id, 1)]


def expect_external_id(external_id: str) -> None:
    """Refuse what cannot be a giver's own name for something.

    Raises:
        Unreadable: it is empty, too long, or not printable.
    """
    if not _is_name(external_id):
        raise Unreadable(f"an external_id has 1 to {_LONGEST_NAME} printable characters; give one")
