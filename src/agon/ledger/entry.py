r"""Encode an entry as one line, chain it to those before it, and read it back.

A line is JSON with sorted keys and no blanks:
``{"at":…,"body":{…},"by":…,"external_id":…,"kind":…,"seq":…}``. Its bytes are what counts and
are never encoded again. The chain: head_0 = SHA-256("agon ledger 1\n" + contest), head_n =
SHA-256(head_{n-1} + line_n), with heads as 32 raw bytes.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import repeat
from typing import Any, Final

import orjson

from agon.errors import did_you_mean
from agon.kernel.text.plain_json import InvalidJson, is_plain, require_limits
from agon.kernel.times import written_time
from agon.ledger.issues import InvalidEntry, LedgerIssue
from agon.ledger.kinds import AN_INSTANT, is_name, is_seq, is_timestamp, issues_of, preview

MAX_LINE_BYTES = 16 * 1024 * 1024

KEYS: Final = ("at", "body", "by", "external_id", "kind", "seq")

# Values that JSON cannot represent are rejected, not converted.
_OPTIONS: Final = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_FINITE: Final = frozenset({str, int, bool, type(None)})
"""Types of values that are not checked one by one."""

_PLAIN = "give text, whole numbers of 64 bits, finite numbers, true, false, null, lists and objects"
_SHORTER = "store large content elsewhere and record its hash"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An entry before it has a position in a ledger.

    Attributes:
        kind: one of :data:`agon.ledger.kinds.KINDS`.
        body: that kind's fields.
        at: the time, with a time zone.
        by: the author: ``user:ada``, ``system``.
        external_id: the author's id of it, unique in the contest; None for none.
    """

    kind: str
    body: Mapping[str, Any]
    at: datetime
    by: str
    external_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class EntryLine:
    """An entry as its line gives it, without its chain; ``line`` are the bytes."""

    seq: int
    at: datetime
    kind: str
    by: str
    external_id: str | None
    body: Mapping[str, Any]
    line: bytes


@dataclass(frozen=True, kw_only=True)
class Entry(EntryLine):
    """An entry in its chain; ``sha256`` (32 bytes) is the head of the ledger after it."""

    sha256: bytes


def genesis(contest: str) -> bytes:
    r"""Return the head of an empty ledger: SHA-256("agon ledger 1\n" + contest).

    Example:
        >>> genesis("spring").hex()[:16]
        'dc1a6f82688a51b6'
    """
    return hashlib.sha256(b"agon ledger 1\n" + contest.encode()).digest()


def chain(head: bytes, line: bytes) -> bytes:
    """Return the head after one more line: SHA-256(head + line).

    Example:
        >>> chain(genesis("spring"), b"{}") == hashlib.sha256(genesis("spring") + b"{}").digest()
        True
    """
    return hashlib.sha256(head + line).digest()


def timestamp(at: datetime) -> str:
    """Return a time as lines have it: UTC, microseconds, ``Z``.

    Raises:
        InvalidEntry: the time has no zone.

    Example:
        >>> from datetime import UTC
        >>> timestamp(datetime(2026, 11, 22, 2, 30, tzinfo=UTC))
        '2026-11-22T02:30:00.000000Z'
    """
    if at.tzinfo is None:
        raise InvalidEntry([LedgerIssue(f"at is {at}, without a zone", "give a time in UTC")])
    return written_time(at)


def encode_entry(draft: Draft, *, seq: int, previous: bytes) -> Entry:
    """Return a draft as an entry: its line, and the chain's hash after it.

    Args:
        draft: the draft.
        seq: its position, one more than that of the entry before it.
        previous: the chain's hash before it (``genesis(contest)`` for the first).

    Raises:
        InvalidEntry: with everything that is wrong with the draft.
    """
    body = dict(draft.body)
    issues = [*_issues_around(draft.by, draft.external_id, seq), *issues_of(draft.kind, body)]
    if issues:
        raise InvalidEntry(issues)
    line = _dumps(
        {
            "at": timestamp(draft.at),
            "body": body,
            "by": draft.by,
            "external_id": draft.external_id,
            "kind": draft.kind,
            "seq": seq,
        }
    )
    if len(line) > MAX_LINE_BYTES:
        raise InvalidEntry([_too_long(f"{draft.kind} {seq}")])
    # Read back what was written: a line that we could not read again must not be stored.
    return Entry(**read_line(line).__dict__, sha256=chain(previous, line))


def encode_records(
    rows: Sequence[bytes],
    *,
    tables: Sequence[str],
    start_seq: int,
    previous_head: bytes,
    at: datetime,
    by: str,
    external_ids: Sequence[str | None] | None = None,
    replaces: Sequence[int | None] | None = None,
) -> tuple[list[bytes], list[bytes]]:
    """Return the lines of many records, and the chain's hash after each.

    The lines are those of :func:`encode_entry`, byte for byte, many times faster.

    Args:
        rows: the records, each as :func:`write_row` writes it.
        tables: the table of each.
        start_seq: position of the first.
        previous_head: the chain's hash before it.
        at: the time of all of them.
        by: the author of all of them.
        external_ids: the external id of each row or None; without it no row has one.
        replaces: for each row the seq it supersedes or None; without it all rows are added.

    Raises:
        InvalidEntry: at the first row that is not a record.
        ValueError: the sequences differ in length.
    """
    if not is_seq(start_seq):
        raise InvalidEntry(_issues_around("-", None, start_seq))
    # The parts of a line around its row are equal for all rows of a table, so they are made once
    # and joined as bytes. The keys stand in sorted order, as orjson would write them.
    before = b'{"at":%b,"body":{' % _dumps(timestamp(at))
    fronts = [before + b'"row":'] * len(rows)
    if replaces is not None:
        fronts = [before + _replaces(seq) for seq in replaces]
    backs = _bytes_after_rows(tables, by, external_ids, replaces)
    seqs = range(start_seq, start_seq + len(rows))
    lines = [b"%b%b%b%d}" % parts for parts in zip(fronts, rows, backs, seqs, strict=True)]
    # Local names: this runs once for each record of an import.
    sha256, head = hashlib.sha256, previous_head
    heads = [head := sha256(head + line).digest() for line in lines]
    # One maximum is cheaper than a comparison for each line; who is to blame is found after.
    if lines and max(map(len, lines)) > MAX_LINE_BYTES:
        long = next(
            seq for seq, line in zip(seqs, lines, strict=True) if len(line) > MAX_LINE_BYTES
        )
        raise InvalidEntry([_too_long(f"the record at {long}")])
    return lines, heads


def write_row(row: Any) -> bytes:
    """Return a record's row as its entry has it; most rows need no further check.

    Raises:
        InvalidEntry: it is not an object, holds values that JSON cannot represent, or is beyond
            the limits of :mod:`agon.kernel.text.plain_json`, within which every reader can read it.

    Example:
        >>> write_row({"b": 1, "a": None})
        b'{"a":null,"b":1}'
    """
    try:
        written = orjson.dumps(row, option=_OPTIONS)
        # orjson writes NaN and infinity as null, so only a row without null needs no second look.
        if written[:1] == b"{" and b"null" not in written and is_plain(written):
            return written
    except TypeError:
        pass
    written = _dumps(row)
    if not written.startswith(b"{"):
        raise InvalidEntry([LedgerIssue(f"row is {preview(row)}", "give an object")])
    try:
        require_limits(row, written)
    except InvalidJson as error:
        raise InvalidEntry([LedgerIssue(f"the row {error.fact}", error.remedy)]) from None
    return written


def _bytes_after_rows(
    tables: Sequence[str],
    by: str,
    external_ids: Sequence[str | None] | None,
    replaces: Sequence[int | None] | None,
) -> Iterable[bytes]:
    """Return the bytes after each row, up to the seq; for plain records made once per table."""
    if external_ids is None and replaces is None:
        # Most ledgers: the bytes are the same for every row of a table, so they are joined once.
        written = {table: b"null".join(_bytes_around_id(table, "record-added", by))
                   for table in set(tables)}  # fmt: skip
        return map(written.__getitem__, tables)
    names: Iterable[str | None] = repeat(None) if external_ids is None else external_ids
    seqs: Iterable[int | None] = repeat(None) if replaces is None else replaces
    for values in (external_ids, replaces):
        if values is not None and len(values) != len(tables):
            raise ValueError("there are more or fewer tables than rows; give one for each")
    return [
        _external_id(name).join(
            _bytes_around_id(table, "record-added" if seq is None else "record-replaced", by)
        )
        for table, name, seq in zip(tables, names, seqs, strict=False)
    ]


@lru_cache(maxsize=64)
def _bytes_around_id(table: str, kind: str, by: str) -> tuple[bytes, bytes]:
    """Return the bytes before and after a record's external id."""
    sample = {"table": table, "row": {}} | ({"replaces": 1} if kind == "record-replaced" else {})
    issues = [*_issues_around(by, None, 1), *issues_of(kind, sample)]
    if issues:
        raise InvalidEntry(issues)
    return (
        b',"table":%b},"by":%b,"external_id":' % (_dumps(table), _dumps(by)),
        b',"kind":%b,"seq":' % _dumps(kind),
    )


def read_line(line: bytes) -> EntryLine:
    """Return an entry from its line (without a line end).

    Raises:
        InvalidEntry: with everything that is wrong: not JSON, not in canonical form, an unknown
            kind or field, a value out of bounds.
    """
    value = _parse(line)
    issues = _issues_in(value)
    # Two spellings of one value would be two hashes; a duplicate key is lost by parsing, too.
    if not issues and not _is_canonical(value, line):
        remedy = "write JSON as agon does: sorted keys, each once, no blanks, shortest numbers"
        issues.append(LedgerIssue("the line is not in canonical form", remedy))
    if issues:
        raise InvalidEntry(issues)
    return EntryLine(
        seq=value["seq"],
        at=datetime.fromisoformat(value["at"]),
        kind=value["kind"],
        by=value["by"],
        external_id=value["external_id"],
        body=value["body"],
        line=line,
    )


def _parse(line: bytes) -> Any:
    if len(line) > MAX_LINE_BYTES:
        raise InvalidEntry([_too_long("the line")])
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        fact = f"the line is not JSON in UTF-8 ({error})"
        raise InvalidEntry([LedgerIssue(fact, "use the ledger as it was exported")]) from None


def _issues_in(value: Any) -> list[LedgerIssue]:
    """Return what is wrong with a parsed line."""
    if not isinstance(value, dict):
        return [LedgerIssue(f"the line is {preview(value)}", "give an object")]
    issues = [LedgerIssue(f"the line lacks {key}", "give it") for key in KEYS if key not in value]
    issues += [
        LedgerIssue(f"the line has no key {preview(key)}", did_you_mean(key, KEYS))
        for key in value
        if key not in KEYS
    ]
    if issues:
        return issues
    if not is_timestamp(value["at"]):
        fact = f"at is {preview(value['at'])}"
        issues.append(LedgerIssue(fact, f"give {AN_INSTANT}"))
    issues += _issues_around(value["by"], value["external_id"], value["seq"])
    return issues + issues_of(value["kind"], value["body"])


def _issues_around(by: Any, external_id: Any, seq: Any) -> list[LedgerIssue]:
    issues = []
    if not is_seq(seq):
        issues.append(LedgerIssue(f"seq is {preview(seq)}", "give a whole number from 1"))
    if not is_name(by):
        issues.append(LedgerIssue(f"by is {preview(by)}", "give its author in 1 to 500 characters"))
    if external_id is not None and not is_name(external_id):
        remedy = "give 1 to 500 characters, no control characters, or null"
        issues.append(LedgerIssue(f"external_id is {preview(external_id)}", remedy))
    return issues


def _too_long(field: str) -> LedgerIssue:
    return LedgerIssue(f"{field} is longer than {MAX_LINE_BYTES:,} bytes", _SHORTER)


def _is_canonical(value: Any, line: bytes) -> bool:
    try:
        return orjson.dumps(value, option=_OPTIONS) == line
    except TypeError:  # nested too deep to be encoded
        return False


def _dumps(value: Any) -> bytes:
    """Return a value as JSON.

    Raises:
        InvalidEntry: JSON cannot represent it.
    """
    try:
        written = orjson.dumps(value, option=_OPTIONS)
    except TypeError as error:
        raise InvalidEntry([LedgerIssue(f"a value cannot be written ({error})", _PLAIN)]) from None
    if b"null" in written and not _is_finite(value):  # orjson writes NaN and infinity as null
        raise InvalidEntry(
            [LedgerIssue("a number is NaN or infinite", "leave the value out, or null")]
        )
    return written


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return True
    # Exact types need no call; all others are looked at.
    return all(_is_finite(item) for item in value if type(item) not in _FINITE)


def _external_id(value: str | None) -> bytes:
    if value is None:
        return b"null"
    if not is_name(value):
        raise InvalidEntry(_issues_around("-", value, 1))
    return _dumps(value)


def _replaces(value: int | None) -> bytes:
    if value is None:
        return b'"row":'
    if not is_seq(value):
        raise InvalidEntry(
            [LedgerIssue(f"replaces is {preview(value)}", "give the seq of a record")]
        )
    return b'"replaces":%d,"row":' % value
