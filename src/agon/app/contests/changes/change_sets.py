"""Propose, apply, cancel and roll back change sets: changes of a contest's rules or records.

A dry run reports the effect before anything counts. Every step is written to the audit log; the
entries of a change set carry its id, so that they can be read, replayed and rolled back together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from agon.app.access.audit import add_audit_entry, require_reason
from agon.app.access.permissions import View
from agon.app.contests.changes import rejudge
from agon.app.contests.changes.dry_runs import dry_run, require_proposed
from agon.app.contests.changes.proposals import Body, bodies, check_proposal, complete_body
from agon.app.contests.ledgers.append import RECORDS, append
from agon.app.queue.jobs import service_job
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Change, Contest
from agon.errors import Conflict
from agon.ledger.entry import Draft
from agon.ledger.transitions import require_not_void
from agon.store.session import Session

__all__ = [
    "apply",
    "cancel",
    "change",
    "changes",
    "dry_run",
    "propose",
    "queue_dry_run",
    "roll_back",
]

_ATTEMPTS: Final = 20
_MAX_SEARCHED = 100  # dry runs of a contest, newest first


def propose(
    service: Service,
    contest_id: str,
    *,
    kind: str,
    params: Mapping[str, Any],
    reason: str,
    by: Caller,
) -> Change:
    """Propose a change set, and queue its dry run (of a rejudge: its programs' runs).

    Args:
        service: the service.
        contest_id: the contest.
        kind: ``rules`` (``edition``, ``overrides``), ``void`` (``records``: keys, external ids or
            positions; ``people``: ids), ``correction`` (``table``, ``rows`` with the columns of
            the key and those that change), ``adjustment`` (``board``, ``id``, ``points``),
            ``merge`` (``duplicate`` and ``into``, two ids of one person) or ``rejudge``
            (``problem`` or ``submissions``; neither: all).
        params: what is changed.
        reason: why; shown to the participants it moves.
        by: the caller.

    Raises:
        NotFound: a named id does not exist.
        Unreadable, InvalidRule, InvalidRecords: the kind or its parameters are invalid, or there
            is no reason.
        Conflict: the contest is void, or a correction changes nothing.
    """
    require_reason(reason)
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        require_not_void(contest)
        change_kind, checked_params = check_proposal(
            session, contest, kind, params, key=service.network_key
        )
        proposed = Change(
            id=service.new_id(),
            contest_no=contest.no,
            kind=change_kind,
            params=checked_params,
            reason=reason.strip(),
            state="proposed",
            proposed_by=by.name,
            proposed_at=service.clock(),
        )
        if change_kind == "rejudge":
            proposed = rejudge.queue(service, session, contest, proposed)
        else:
            _add_dry_run_job(service, session, contest, proposed, by=by)
        session.changes.save(proposed)
        add_audit_entry(service, session, by=by, action="change.propose", target=proposed.id,
             detail={"contest": contest_id, "kind": kind})  # fmt: skip
    return proposed


def apply(
    service: Service,
    contest_id: str,
    change_id: str,
    *,
    by: Caller,
    reason: str | None = None,
    even_if_moved: bool = False,
) -> Change:
    """Apply a change set after its dry run: append all of its entries, or none.

    Args:
        service: the service.
        contest_id: the contest.
        change_id: the change set.
        by: the caller.
        reason: the reason in the entries; None: as proposed.
        even_if_moved: apply although the ledger has grown since the dry run.

    Raises:
        NotFound: there is no such contest or change.
        Conflict: the contest is void; the change is not open or has no dry run; the ledger has
            grown since, or there is nothing to change any more.
    """
    if reason is not None:
        require_reason(reason)
    for _ in range(_ATTEMPTS):
        with service.store.read() as session:
            contest = session.contests.get(contest_id)
            require_not_void(contest)
            proposed = session.changes.get(contest.no, change_id)
            _require_dry_run(contest, proposed, even_if_moved=even_if_moved)
        # The entries are computed before the contest is locked, so that writers do not wait.
        with (
            service.replicas.current(service.store, contest) as live,
            service.store.read() as session,
        ):
            seq, entry_bodies = live.seq, bodies(session, live, proposed)
        with service.store.write() as session:
            contest = session.contests.lock(contest_id)
            proposed = session.changes.get(contest.no, change_id)
            _require_dry_run(contest, proposed, even_if_moved=even_if_moved)
            if contest.seq == seq:
                stated = replace(proposed, reason=reason or proposed.reason)
                return _append(service, session, contest, stated, entry_bodies, by=by)
    raise Conflict(
        f"{contest_id} grows faster than the change can be applied; stop adding records meanwhile"
    )


def _append(
    service: Service,
    session: Session,
    contest: Contest,
    change: Change,
    entry_bodies: Sequence[Body],
    *,
    by: Caller,
) -> Change:
    """Append the entries of a change set and return it as applied."""
    now = service.clock()
    drafts = [
        Draft(
            kind=draft.kind,
            body=complete_body(draft, change=change.id, reason=change.reason),
            at=now,
            by=by.name,
            # As of a first verdict: keeps it from being found by hashing.
            external_id=service.new_id() if draft.kind in RECORDS else None,
        )
        for draft in entry_bodies
    ]
    after = append(service, session, contest, drafts)
    applied = replace(change, state="applied", applied_at=after.seq)
    session.changes.save(applied)
    add_audit_entry(
        service, session, by=by, action="change.apply", target=change.id,
        detail={"contest": contest.id, "seq": after.seq},
    )  # fmt: skip
    return applied


def queue_dry_run(service: Service, contest_id: str, change_id: str, *, by: Caller) -> Change:
    """Queue another dry run of a change set, at the newest position.

    Raises:
        NotFound: there is no such contest or change.
        Conflict: it is not open any more.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        require_not_void(contest)
        proposed = session.changes.get(contest.no, change_id)
        require_proposed(proposed)
        waiting = replace(proposed, dry_run_at=None)
        session.changes.save(waiting)
        _add_dry_run_job(service, session, contest, waiting, by=by)
        add_audit_entry(service, session, by=by, action="change.dry-run", target=change_id,
             detail={"contest": contest_id})  # fmt: skip
    return waiting


def cancel(service: Service, contest_id: str, change_id: str, *, by: Caller) -> Change:
    """Cancel a change set that was not applied.

    Raises:
        NotFound: there is no such contest or change.
        Conflict: it is not open any more.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        proposed = session.changes.get(contest.no, change_id)
        require_proposed(proposed)
        cancelled = replace(proposed, state="cancelled")
        session.changes.save(cancelled)
        add_audit_entry(service, session, by=by, action="change.cancel", target=change_id,
             detail={"contest": contest_id})  # fmt: skip
    return cancelled


def roll_back(
    service: Service, contest_id: str, change_id: str, *, reason: str, by: Caller
) -> Change:
    """Undo the effect of all entries of an applied change set; they stay in the ledger.

    Raises:
        NotFound: there is no such contest or change.
        Conflict: the contest is void, or it is not applied.
        Unreadable: there is no reason.
    """
    require_reason(reason)
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        require_not_void(contest)
        applied = session.changes.get(contest.no, change_id)
        if applied.state != "applied":
            raise Conflict(
                f"change set {change_id} is {applied.state}; only applied ones roll back"
            )
        draft = Draft(
            kind="change-rolled-back",
            body={"change": change_id, "reason": reason.strip()},
            at=service.clock(),
            by=by.name,
        )
        after = append(service, session, contest, [draft])
        undone = replace(applied, state="rolled-back", rolled_back_at=after.seq)
        session.changes.save(undone)
        add_audit_entry(service, session, by=by, action="change.roll-back", target=change_id,
             detail={"contest": contest_id, "seq": after.seq})  # fmt: skip
    return undone


def change(service: Service, view: View, change_id: str) -> Change:
    """Return a change set with its report.

    Raises:
        NotFound: the contest has none of that id.
    """
    with service.store.read() as session:
        return session.changes.get(view.contest.no, change_id)


def dry_run_error(service: Service, proposed: Change) -> str | None:
    """Return why a change set's dry run failed; None if it did not, or has not run yet."""
    if proposed.state != "proposed" or proposed.dry_run_at is not None:
        return None
    with service.store.read() as session:
        jobs = session.queue.page(
            contest_no=proposed.contest_no, kinds=("dry-run",), limit=_MAX_SEARCHED
        )
    newest = next((job for job in jobs if job.payload.get("change") == proposed.id), None)
    if newest is None or newest.state not in {"failed", "cancelled"}:
        return None
    causes = newest.causes or ({"cause": "its job was cancelled; cancel it and propose it again"},)
    return str(causes[-1]["cause"])


def changes(
    service: Service, view: View, *, after: str | None = None, limit: int = 100
) -> list[Change]:
    """Return change sets, oldest first, those after one."""
    with service.store.read() as session:
        return session.changes.page(view.contest.no, after=after, limit=limit)


def _add_dry_run_job(
    service: Service, session: Session, contest: Contest, change: Change, *, by: Caller
) -> None:
    job = service_job(
        "dry-run", contest, id=service.new_id(), payload={"change": change.id},
        dedupe=change.id, by=by.name,
    )  # fmt: skip
    session.queue.add(job, now=service.clock())


def _require_dry_run(contest: Contest, proposed: Change, *, even_if_moved: bool) -> None:
    require_proposed(proposed)
    if proposed.dry_run_at is None:
        raise Conflict(f"change set {proposed.id} has no dry run yet; wait for it")
    if contest.seq != proposed.dry_run_at and not even_if_moved:
        raise Conflict(
            f"{contest.id} is at {contest.seq} and the dry run was at {proposed.dry_run_at}; "
            "run it again, or apply it even if moved"
        )
