"""Define the kinds of change sets: check their parameters and turn them into ledger entries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from agon.app.analysis.score import rules_of
from agon.app.contests.changes.corrections import check_correction, positions_of
from agon.app.contests.changes.merging import check_merge, merge_entries
from agon.app.contests.changes.rejudge import VERDICTS
from agon.app.contests.contest_rules import contest_rules_of
from agon.app.contests.ledgers.append import RECORDS
from agon.app.contests.ledgers.positions import board_named, require_storable_name
from agon.app.contests.ledgers.slugs import board_with_id, problem_id
from agon.app.replay.replica import ContestReplica
from agon.disciplines import discipline
from agon.editions import rules_sha256
from agon.entities.contests import Change, Contest
from agon.errors import Conflict, NotFound, Unreadable, did_you_mean
from agon.store.session import Session

Kind: TypeAlias = Literal["rules", "void", "rejudge", "adjustment", "correction", "merge"]

_MAX_NAMED: Final = 100_000
_MAX_SHOWN: Final = 20


@dataclass(frozen=True)
class Body:
    """An entry to append: its kind, and its body without change set and reason."""

    kind: str
    body: Mapping[str, Any]


def check_proposal(
    session: Session,
    contest: Contest,
    kind: str,
    params: Mapping[str, Any],
    *,
    key: bytes,
) -> tuple[Kind, dict[str, Any]]:
    """Return the kind and the complete parameters of a proposal.

    Args:
        session: of the database.
        contest: the contest.
        kind: the kind.
        params: the parameters as they were sent.
        key: what network addresses in records are hashed with.

    Raises:
        Unreadable: the kind or a parameter is unknown, missing or of the wrong form.
        NotFound: an edition, a board or a named record does not exist.
        InvalidRule: an override is unknown or out of bounds.
        InvalidRecords: a corrected row is invalid.
        Conflict: a correction changes nothing.
    """
    if kind not in _CHECKS:
        raise Unreadable(f"there is no change set of kind {kind!r}: {did_you_mean(kind, _CHECKS)}")
    names, check = _CHECKS[kind]
    for name in params:
        if name not in names:
            raise Unreadable(f"a change of {kind} has no {name!r}: {did_you_mean(name, names)}")
    if kind == "correction":
        return "correction", check_correction(session, contest, params, key=key)
    return kind, check(session, contest, params)  # type: ignore[return-value] # a key of the table


def bodies(session: Session, live: ContestReplica, change: Change) -> list[Body]:
    """Return the entries that make a change to the ledger as of ``live.seq``.

    Raises:
        Conflict: there is nothing to change.
        NotFound: a named record does not exist.
    """
    return _BODIES[change.kind](session, live, change)


def _adoption(_: Session, live: ContestReplica, change: Change) -> list[Body]:
    params = change.params
    discipline = live.contest_state().discipline
    edition, rules = rules_of(discipline, params["edition"], params["overrides"])
    body = {
        "edition": edition.full_name,
        "overrides": dict(params["overrides"]),
        "rules_sha256": rules_sha256(rules),
    }
    return [Body("edition-adopted", body)]


def _adjustment(_: Session, __: ContestReplica, change: Change) -> list[Body]:
    return [Body("adjustment-made", dict(change.params))]


def _void(session: Session, live: ContestReplica, change: Change) -> list[Body]:
    seqs = voided_records(session, live, change)
    return [Body("records-voided", {"seqs": seqs, "subjects": change.params["people"]})]


def _merge(session: Session, live: ContestReplica, change: Change) -> list[Body]:
    return [Body(kind, body) for kind, body in merge_entries(session, live, change)]


def complete_body(body: Body, *, change: str, reason: str) -> dict[str, Any]:
    """Return an entry's body with its change set and, except of records, the reason."""
    cause = {"change": change} if body.kind in RECORDS else {"change": change, "reason": reason}
    return {**body.body, **cause}


def _replacements(session: Session, _: ContestReplica, change: Change) -> list[Body]:
    rows = (change.report or {}).get("rows", ())
    if not rows:
        raise Conflict("no verdict has changed, so there is nothing to change; cancel it")
    keys = [f"{VERDICTS}/{row['id']}" for row in rows]
    existing = session.entries.existing(change.contest_no, records=keys)
    return [
        Body("record-replaced", {"table": VERDICTS, "row": row, "replaces": existing[key].seq})
        for key, row in zip(keys, rows, strict=True)
    ]


def _corrections(session: Session, live: ContestReplica, change: Change) -> list[Body]:
    name, rows = change.params["table"], change.params["rows"]
    schema = discipline(live.contest_state().discipline).schema
    table = next(table for table in schema if table.name == name)
    seqs = positions_of(session, change.contest_no, table, rows)
    return [
        Body("record-replaced", {"table": name, "row": row, "replaces": seq})
        for row, seq in zip(rows, seqs, strict=True)
    ]


_BODIES: Final[Mapping[str, Callable[[Session, ContestReplica, Change], list[Body]]]] = (
    MappingProxyType(
        {
            "rules": _adoption,
            "void": _void,
            "adjustment": _adjustment,
            "rejudge": _replacements,
            "correction": _corrections,
            "merge": _merge,
        }
    )
)


def voided_records(session: Session, live: ContestReplica, change: Change) -> list[int]:
    """Return the positions of the records a change voids, of those that count now.

    Raises:
        NotFound: a named record does not exist.
        Conflict: none counts any more, or none about a named participant.
    """
    records, people = change.params["records"], change.params["people"]
    seqs = set(_positions(session, change.contest_no, records))
    missing = [text for text in records
               if _is_position(text) and live.state.spans.table_of(int(text)) is None]  # fmt: skip
    if missing:
        raise _no_record(missing)
    if people:
        about, known = live.records_about(people)
        seqs |= set(about)
        if unknown := [name for name in people if name not in known]:
            raise Conflict(
                f"no record about {_names(unknown)} counts; correct the ids, or leave these out"
            )
    positions = np.array(sorted(seqs), dtype=np.int64)
    visible: list[int] = positions[
        np.isin(positions, live.state.spans.records(at=live.seq))
    ].tolist()
    if not visible:
        raise Conflict(
            "none of the named records counts now, so there is nothing to void; cancel it"
        )
    return visible


def _positions(session: Session, contest_no: int, references: Sequence[str]) -> list[int]:
    """Return the positions of records named by key (``votes/m7/j3``), external id or position."""
    words = [text for text in references if not _is_position(text)]
    existing = session.entries.existing(contest_no, records=words, external_ids=words)
    missing = [text for text in words if text not in existing]
    if missing:
        raise _no_record(missing)
    return [int(text) if _is_position(text) else existing[text].seq for text in references]


def _no_record(references: Sequence[str]) -> NotFound:
    return NotFound(
        f"there is no record {_names(references)}; give keys such as votes/m7/j3, external ids "
        "or positions of the ledger"
    )


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_SHOWN:,} more" if len(names) > _MAX_SHOWN else ""
    return ", ".join(map(repr, names[:_MAX_SHOWN])) + more


def _is_position(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18  # noqa: PLR2004 - digits of 2^63


def _check_rules(_: Session, contest: Contest, params: Mapping[str, Any]) -> dict[str, Any]:
    edition, overrides = params.get("edition", contest.edition), params.get("overrides", {})
    if not isinstance(edition, str) or not isinstance(overrides, Mapping):
        raise Unreadable(
            "a change of rules has edition (a name) and overrides (an object); give both"
        )
    released, rules = contest_rules_of(contest.discipline, edition, overrides)
    values = rules.model_dump(mode="json")
    values_set = {name: values[name] for name in sorted(overrides)}
    return {"edition": released.full_name, "overrides": values_set}


def _check_void(session: Session, contest: Contest, params: Mapping[str, Any]) -> dict[str, Any]:
    records, people = params.get("records", ()), params.get("people", ())
    if not (_are_names(records) and _are_names(people)):
        raise Unreadable(
            "a void has records (keys, external ids or positions) and people (ids); give lists "
            f"of at most {_MAX_NAMED:,}"
        )
    if not records and not people:
        raise Unreadable("a void needs at least one record or id; give records or people")
    checked_params = {"records": _texts(records), "people": _texts(people)}
    _positions(session, contest.no, checked_params["records"])
    return checked_params


def _check_adjustment(
    session: Session, contest: Contest, params: Mapping[str, Any]
) -> dict[str, Any]:
    board, name, points = (params.get(key) for key in ("board", "id", "points"))
    if (
        not isinstance(board, str)
        or not isinstance(name, str)
        or not isinstance(points, int | float)
        or isinstance(points, bool)
        or not abs(points) <= _MAX_POINTS
    ):
        raise Unreadable(
            "an adjustment has board, id and points; give points as a number of at most "
            f"{_MAX_POINTS:.0e}"
        )
    require_storable_name(name)
    board = board_with_id(session, contest, board_named(contest, board))
    return {"board": board, "id": name, "points": points}


def _check_rejudge(session: Session, contest: Contest, params: Mapping[str, Any]) -> dict[str, Any]:
    submissions = discipline(contest.discipline).submissions
    if submissions is None or submissions.judging != "program":
        raise Unreadable(f"{contest.discipline} has no programs to judge again; void or adjust")
    problem, submission_ids = params.get("problem"), params.get("submissions", ())
    if not _are_names(submission_ids) or not isinstance(problem, str | None):
        raise Unreadable(
            "a rejudge has problem or submissions; give an id, a list of ids, or neither"
        )
    if problem is not None:
        problem = problem_id(session, contest, problem)
    return {"problem": problem, "submissions": _texts(submission_ids)}


def _texts(names: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(map(str, names)))


def _are_names(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) <= _MAX_NAMED
        and all(isinstance(item, str | int) and not isinstance(item, bool) for item in value)
        and all(_storable(str(item)) for item in value)
    )


def _storable(name: str) -> bool:
    try:
        require_storable_name(name)
    except NotFound:
        return False
    return bool(name)


_MAX_POINTS: Final = 1e12
_Check: TypeAlias = Callable[[Session, Contest, Mapping[str, Any]], dict[str, Any]]


def _check_nothing(_: Session, __: Contest, params: Mapping[str, Any]) -> dict[str, Any]:
    return dict(params)


_CHECKS: Final[Mapping[str, tuple[tuple[str, ...], _Check]]] = MappingProxyType(
    {
        "rules": (("edition", "overrides"), _check_rules),
        "void": (("records", "people"), _check_void),
        "adjustment": (("board", "id", "points"), _check_adjustment),
        "rejudge": (("problem", "submissions"), _check_rejudge),
        "merge": (("duplicate", "into"), lambda _, __, params: check_merge(params)),
        "correction": (("table", "rows"), _check_nothing),  # see check_correction
    }
)
"""Parameters of every kind, and the function that checks them."""
