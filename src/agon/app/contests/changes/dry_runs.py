"""Run a change set dry: score the contest with and without it, and report the differences."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from agon.app.analysis.compare import Difference, difference
from agon.app.analysis.score import Result
from agon.app.contests.boards.publish import board_names
from agon.app.contests.changes.proposals import bodies, complete_body, voided_records
from agon.app.contests.changes.rejudge import rows_of
from agon.app.replay.replica import ContestReplica
from agon.app.service import Service
from agon.entities.contests import Change, Contest
from agon.errors import Conflict, NotScorable
from agon.kernel.boards import Board
from agon.kernel.progress import count_steps
from agon.ledger.entry import Draft, encode_entry
from agon.ledger.fold import Adjustment
from agon.store.session import Session

MAX_MOVES: Final = 1000
"""Maximum number of moves listed, the largest first; the totals count all."""


def dry_run(
    service: Service,
    contest_id: str,
    change_id: str,
    *,
    progress: Callable[[float], object] = lambda _: None,
) -> Change:
    """Compute what a proposed change set would move at the newest position; store the report.

    The report holds for every board: ``summary``, ``moves`` (the largest 1,000, each with rank and
    score before and after), ``entered`` and ``dropped`` (with reasons), ``unscored`` before and
    after, or ``unscorable`` with the reason; for a board of weights ``weights`` with what each uid
    gets before and after. For a rejudge whose programs still run it holds how many are done.

    Raises:
        NotFound: there is no such contest or change set, or a record it names is gone.
        Conflict: it was applied or cancelled already, or there is nothing to change.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        change = session.changes.get(contest.no, change_id)
        require_proposed(change)
        if change.kind == "rejudge":
            change, waiting = rows_of(session, change)
            if waiting:
                return change
    with service.replicas.current(service.store, contest) as live:
        seq = live.seq
        with service.store.read() as session:
            after = _result_after(service, session, contest, live, change)
        report = {**(change.report or {}), **_report(live.result(), after, contest, progress)}
    updated = replace(change, report=report, dry_run_at=seq)
    with service.store.write() as session:
        session.contests.lock(contest_id)
        stored = session.changes.get(contest.no, change_id)
        require_proposed(stored)
        if (stored.dry_run_at or 0) > seq:
            return stored  # there is a dry run at a later position
        session.changes.save(updated)
    return updated


def require_proposed(change: Change) -> None:
    """Raise unless a change set is still open.

    Raises:
        Conflict: it was applied, cancelled or rolled back.
    """
    if change.state != "proposed":
        raise Conflict(f"change set {change.id} is {change.state}; propose another one")


def _result_after(
    service: Service, session: Session, contest: Contest, live: ContestReplica, change: Change
) -> Result:
    """Score the contest as it would be after a change."""
    params = change.params
    if change.kind == "rules":
        return live.result(edition=params["edition"], overrides=params["overrides"])
    if change.kind == "void":
        return live.result(without=voided_records(session, live, change))
    if change.kind == "adjustment":
        adjustment = Adjustment(
            seq=live.seq + 1, change=change.id, reason=change.reason,
            board=params["board"], id=params["id"], points=float(params["points"]),
        )  # fmt: skip
        return live.result(adjustments=[adjustment])
    if change.kind == "rejudge" and not (change.report or {}).get("rows"):
        return live.result()  # no verdict has changed
    return _score_with_change(session, contest, live, change, at=service.clock())


def _score_with_change(
    session: Session, contest: Contest, live: ContestReplica, change: Change, *, at: datetime
) -> Result:
    """Score a copy of the contest to which the entries of a change were added."""
    copy = ContestReplica(contest.id)
    stored = session.entries.after(contest.no, until=live.seq)
    counted = count_steps(stored, label="reading entries again", total=live.seq)
    copy.catch_up((stored_entry.seq, stored_entry.line) for stored_entry in counted)
    seq, head = live.seq, live.contest_state().head
    at = max(at, session.entries.time_of(contest.no, seq))
    for body in bodies(session, live, change):
        draft = Draft(
            kind=body.kind,
            body=complete_body(body, change=change.id, reason=change.reason),
            at=at,
            by="system",
        )
        entry = encode_entry(draft, seq=seq + 1, previous=head)
        copy.catch_up([(entry.seq, entry.line)])
        seq, head = entry.seq, entry.sha256
    return copy.result()


def _report(
    before: Result, after: Result, contest: Contest, progress: Callable[[float], object]
) -> dict[str, Any]:
    boards = {}
    names = board_names(contest.boards, before)
    counted = count_steps(names, label="comparing boards", total=len(names))
    for count, name in enumerate(counted, start=1):
        boards[name] = _board_report(before, after, name)
        progress(count / len(names))
    return {
        "edition": {"before": before.edition.full_name, "after": after.edition.full_name},
        "rules_sha256": {"before": before.rules_sha256, "after": after.rules_sha256},
        "boards": boards,
    }


def _board_report(before: Result, after: Result, name: str) -> dict[str, Any]:
    try:
        old = before.board(name)
    except NotScorable as error:
        return {"unscorable": {"before": str(error)}}
    try:
        new = after.board(name)
    except NotScorable as error:
        return {"unscorable": {"after": str(error)}}
    moves = difference(old, new)
    report: dict[str, Any] = {
        "board_sha256": {"before": old.sha256, "after": new.sha256},
        "summary": moves.summary.to_dict(),
        "moves": [move.to_dict() for move in moves.moves[:MAX_MOVES]],
        "unscored": {"before": len(old.unscored), "after": len(new.unscored)},
        **_entered_and_dropped(moves),
    }
    epochs = before.discipline.epochs
    if epochs is not None and name == epochs.weights:
        report["weights"] = list(_weights(old, new))[:MAX_MOVES]
    return report


def _entered_and_dropped(moves: Difference) -> dict[str, Any]:
    return {
        "entered": [participant.to_dict() for participant in moves.entered[:MAX_MOVES]],
        "dropped": [participant.to_dict() for participant in moves.dropped[:MAX_MOVES]],
    }


def _weights(old: Board, new: Board) -> Iterable[Mapping[str, Any]]:
    """List the uids that would get another weight, the largest change first."""
    was, will = (_weights_of(board.table) for board in (old, new))
    zero = {"weight": 0.0, "u16": 0}
    changed = [
        {"id": uid, "before": was.get(uid, zero), "after": will.get(uid, zero)}
        for uid in sorted(was.keys() | will.keys())
        if was.get(uid, zero) != will.get(uid, zero)
    ]
    return sorted(
        changed, key=lambda change: -abs(change["after"]["weight"] - change["before"]["weight"])
    )


def _weights_of(table: pa.Table) -> dict[str, dict[str, Any]]:
    columns = (table["id"].to_pylist(), table["weight"].to_pylist(), table["u16"].to_pylist())
    return {uid: {"weight": weight, "u16": u16} for uid, weight, u16 in zip(*columns, strict=True)}
