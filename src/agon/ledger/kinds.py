"""The kinds of entries, and the check of the fields of each kind."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from agon.disciplines import BUILT_IN, is_discipline
from agon.errors import did_you_mean
from agon.ledger.issues import LedgerIssue

_CONTEST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_AT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_MAX_NAME_CHARS = 500
A_CONTEST: Final = "1 to 100 letters, digits and . _ -, a letter or digit first"
A_SHA256: Final = "a SHA-256 as 64 lowercase hex digits"
A_NAME: Final = "a name of 1 to 500 characters, no control characters"
A_COUNT: Final = "a whole number from 0"
_A_DISCIPLINE: Final = f"one of {', '.join(BUILT_IN)}, or install the package that adds it"
AN_INSTANT: Final = "a time such as 2026-11-22T02:30:00.000000Z"
_MAX_PREVIEW_CHARS = 60
_MAX_INTEGER = 2**63 - 1


@dataclass(frozen=True)
class BodyField:
    """One field of a kind's body.

    Attributes:
        holds: returns whether a value is valid.
        expected: a description of valid values.
        optional: whether the field may be left out (equal to null).
    """

    name: str
    holds: Callable[[Any], bool]
    expected: str
    optional: bool = False


def is_contest(value: Any) -> bool:
    """Return whether a value is a contest's id: letters, digits, ``. _ -``; safe as a file name."""
    return isinstance(value, str) and _CONTEST.fullmatch(value) is not None


def is_name(value: Any) -> bool:
    """Return whether a value is a name: 1 to 500 characters, none of them a control character."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= _MAX_NAME_CHARS
        and _CONTROL.search(value) is None
    )


def is_seq(value: Any) -> bool:
    """Return whether a value can be an entry's position: 1, 2, 3 …."""
    return type(value) is int and 0 < value <= _MAX_INTEGER


def _is_discipline(value: Any) -> bool:
    return isinstance(value, str) and is_discipline(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def is_sha256(value: Any) -> bool:
    """Return whether a value is a SHA-256 as 64 lowercase hex digits."""
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def _is_number(value: Any) -> bool:
    return type(value) in {int, float}


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number from 0."""
    return type(value) is int and 0 <= value <= _MAX_INTEGER


def is_timestamp(value: Any) -> bool:
    """Return whether a value is a time in the form of :func:`agon.ledger.entry.timestamp`."""
    if not isinstance(value, str) or _AT.fullmatch(value) is None:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        if not isinstance(value, list | tuple) or not all(map(holds, value)):
            return False
        return len(set(value)) == len(value)

    return check


def _or_null(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or holds(value)


def _are_boards(value: Any) -> bool:
    return isinstance(value, dict) and all(
        is_name(name)
        and isinstance(board, dict)
        and set(board) == {"sha256", "merkle_root", "rows"}
        and is_sha256(board["sha256"])
        and is_sha256(board["merkle_root"])
        and is_count(board["rows"])
        for name, board in value.items()
    )


def _are_honeypot_answers(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(answer, dict)
        and set(answer) == {"prompt_id", "sha256"}
        and (answer["prompt_id"] is None or is_name(answer["prompt_id"]))
        and is_sha256(answer["sha256"])
        for answer in value
    )


def _name(name: str) -> BodyField:
    return BodyField(name, is_name, A_NAME)


def _text(name: str) -> BodyField:
    return BodyField(name, _is_text, "text")


def _name_or_null(name: str, *, optional: bool = False) -> BodyField:
    return BodyField(name, _or_null(is_name), "a name, or null for none", optional)


def _object(name: str) -> BodyField:
    return BodyField(name, _is_object, "an object")


def _sha256(name: str) -> BodyField:
    return BodyField(name, is_sha256, A_SHA256)


def _names(name: str) -> BodyField:
    return BodyField(name, _list_of(is_name), "a list of different names")


def _choice(name: str, *choices: str, optional: bool = False) -> BodyField:
    return BodyField(name, choices.__contains__, f"one of {', '.join(choices)}", optional)


def _time_or_null(name: str, *, optional: bool = False) -> BodyField:
    return BodyField(name, _or_null(is_timestamp), f"{AN_INSTANT}, or null for none", optional)


_REASON = _text("reason")
_CHANGE = _name_or_null("change")
_BOARDS = BodyField(
    "boards", _are_boards, "an object: board → {sha256, merkle_root, rows}, hashes as hex digits"
)
_NAMES = _choice("names", "shown", "hidden", optional=True)
_RECORD = (_name("table"), _object("row"), _name_or_null("change", optional=True))
_EDITION = (_name("edition"), _object("overrides"))

KINDS: Final[Mapping[str, tuple[BodyField, ...]]] = MappingProxyType(
    {
        "contest-created": (
            BodyField("contest", is_contest, A_CONTEST),
            BodyField("discipline", _is_discipline, _A_DISCIPLINE),
            _name("title"),
            *_EDITION,
            _name_or_null("series"),
            BodyField("season", _or_null(is_count), "a whole number, or null for none"),
            _choice("visibility", "public", "private"),
            _text("description"),
            _names("boards"),
            _time_or_null("starts_at", optional=True),
            _time_or_null("ends_at", optional=True),
            _NAMES,
        ),
        "contest-edited": (
            _name("title"),
            _text("description"),
            _choice("visibility", "public", "private"),
            _time_or_null("starts_at"),
            _time_or_null("ends_at"),
            _NAMES,
        ),
        "contest-opened": (),
        "contest-frozen": (_BOARDS,),
        "contest-unfrozen": (_REASON,),
        "contest-finalised": (_BOARDS,),
        "contest-unfinalised": (
            _REASON,
            BodyField(
                "frozen_at", _or_null(is_seq), "the seq of the freeze it is in again, or null"
            ),
        ),
        "contest-voided": (_REASON,),
        "contest-restored": (_REASON, _choice("state", "open", "frozen", "final")),
        "edition-adopted": (*_EDITION, _sha256("rules_sha256"), _CHANGE, _REASON),
        "record-added": _RECORD,
        "record-replaced": (
            *_RECORD,
            BodyField("replaces", is_seq, "the seq of the record it supersedes"),
        ),
        "records-voided": (
            BodyField("seqs", _list_of(is_seq), "a list of different seqs of records"),
            _names("subjects"),
            _CHANGE,
            _REASON,
        ),
        "adjustment-made": (
            _name("board"),
            _name("id"),
            BodyField("points", _is_number, "a number"),
            _CHANGE,
            _REASON,
        ),
        "decision-made": (_name_or_null("case"), _name("decision"), _names("subjects"), _REASON),
        "draw-committed": (_name("round"), _sha256("commitment"), _name("method")),
        "draw-made": (
            _name("purpose"),
            BodyField(
                "seed", lambda value: _is_text(value) or type(value) is int, "text or a number"
            ),
            _name("method"),
            _sha256("inputs_sha256"),
            BodyField("result", lambda _: True, "any value"),
        ),
        "round-settled": (_name("round"), _object("outcome")),
        "honeypot-answers-changed": (
            BodyField(
                "added",
                _are_honeypot_answers,
                f"a list of objects: prompt_id, a name or null, and sha256, {A_SHA256}",
            ),
            BodyField(
                "retired", _list_of(is_sha256), f"a list of different hashes, each {A_SHA256}"
            ),
        ),
        "submission-received": (
            _name("submission"),
            _name("user"),
            _name_or_null("problem"),
            _object("content"),
        ),
        "problem-published": (_name("problem"), _object("package")),
        "problem-revealed": (_name("problem"),),
        "change-rolled-back": (_name("change"), _REASON),
    }
)
"""The closed list: every kind of entry with the fields of its body."""


def issues_of(kind: Any, body: Any) -> list[LedgerIssue]:
    """Return everything that is wrong with an entry's kind and body.

    Example:
        >>> [str(issue) for issue in issues_of("contest-opened", {"by": 1})]
        ["contest-opened has no field 'by'; leave it out"]
    """
    fields = KINDS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        return [LedgerIssue(f"kind {preview(kind)} is unknown", did_you_mean(str(kind), KINDS))]
    if not isinstance(body, dict):
        return [LedgerIssue(f"the body of {kind} is {preview(body)}", "give an object")]
    return field_issues(body, fields, subject=kind)


def field_issues(
    value: Mapping[str, Any], fields: Iterable[BodyField], *, subject: str
) -> list[LedgerIssue]:
    """List the fields of an object that are missing, do not fit or are not known."""
    issues = []
    known_fields = {field.name: field for field in fields}
    for field in known_fields.values():
        if field.name not in value:
            if not field.optional:
                issues.append(
                    LedgerIssue(f"{subject} lacks {field.name}", f"give {field.expected}")
                )
        elif not field.holds(value[field.name]):
            fact = f"{field.name} of {subject} is {preview(value[field.name])}"
            issues.append(LedgerIssue(fact, f"give {field.expected}"))
    for extra in value:
        if extra not in known_fields:
            remedy = did_you_mean(str(extra), known_fields) if known_fields else "leave it out"
            issues.append(LedgerIssue(f"{subject} has no field {preview(extra)}", remedy))
    return issues


def preview(value: Any) -> str:
    """Return a value as text for a message, cut off if it is long."""
    try:
        text = repr(value)
    except RecursionError:
        return "a value nested too deep to print"
    return text if len(text) <= _MAX_PREVIEW_CHARS else f"{text[:_MAX_PREVIEW_CHARS]}…"
