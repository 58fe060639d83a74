"""Say what a final result leaves open; declare a contest void; take both back for a while."""

from datetime import datetime, timedelta
from typing import Final

from agon.app.access.audit import require_reason
from agon.app.contests.lifecycle.transitions import append_step
from agon.app.queue.rounds import resume
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest, Finalization
from agon.errors import Conflict
from agon.kernel.times import written_time
from agon.ledger.entry import read_line
from agon.ledger.transitions import require_allowed
from agon.store.session import Session

UNDO: Final = timedelta(minutes=10)
"""How long a final result can be taken back."""

FINALIZED: Final = "contest-finalised"
VOIDED: Final = "contest-voided"
_NAMES: Final = {FINALIZED: "final result", VOIDED: "declaration that it is void"}
_WITHOUT_WEIGHT: Final = frozenset({"contest-edited", VOIDED, "contest-restored"})
"""Kinds of entries on which nobody relies: a declaration that was taken back changes nothing."""

_MOST: Final = 1000
"""Maximum number of each that is counted."""


def finalization(service: Service, contest: Contest) -> Finalization:
    """Return what is open in a contest, and whether its final result can be undone."""
    now = service.clock()
    with service.store.read() as session:
        judged = session.queue.page(
            contest_no=contest.no, states=("queued", "leased"), kinds=("judge", "trial"),
            limit=_MOST,
        )  # fmt: skip
        rounds = session.arena.round_states(contest.no, limit=_MOST)
        cases = session.cases.page(contest.no, limit=_MOST)
        changes = session.changes.page(contest.no, limit=_MOST)
        webhooks = [
            webhook
            for webhook in session.webhooks.of(contest.no)
            if webhook.active and (not webhook.events or FINALIZED in webhook.events)
        ]
        until, obstacle = _undo(session, contest, now=now)
    return Finalization(
        submissions=len(judged),
        rounds=tuple(each.id for each in rounds if each.phase != "settled"),
        cases=sum(case.state in {"open", "appealed"} for case in cases),
        changes=sum(change.state == "proposed" for change in changes),
        webhooks=len(webhooks),
        undo_until=until,
        obstacle=obstacle,
    )


def unfinalize(service: Service, contest_id: str, *, reason: str, by: Caller) -> Contest:
    """Take a final result back: the contest is open, or frozen, as it was before.

    It is possible for :data:`UNDO` after the final result, unless somebody relies on it already: a
    webhook was sent it, or something was recorded since other than edits of the details and
    declarations that it is void, which were taken back. Final result and undo stay in the ledger.

    Raises:
        NotFound: there is no such contest.
        Conflict: the contest is not final, or the final result cannot be undone any more.
        Unreadable: the reason is empty.
    """
    require_reason(reason)
    with service.store.write() as session:
        kind = "contest-unfinalised"
        remedy = "correct it by a change set"
        contest, since = _lock_undoable(service, session, contest_id, kind, remedy=remedy)
        body = {"reason": reason, "frozen_at": _frozen_before(session, contest)}
        after = append_step(service, session, contest, by, kind, body, action="unfinalize")
        resume(service, session, after, since=since, by=by.name)
        return after


def void(service: Service, contest_id: str, *, reason: str, by: Caller) -> Contest:
    """Declare a whole contest void: what was published stays readable, marked, and nothing counts.

    What was frozen stays hidden. :func:`restore` takes it back.

    Raises:
        NotFound: there is no such contest.
        Conflict: the contest is a draft, or void already.
        Unreadable: the reason is empty.
    """
    require_reason(reason)
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        require_allowed(contest, VOIDED)
        return append_step(service, session, contest, by, VOIDED, {"reason": reason}, action="void")


def restore(service: Service, contest_id: str, *, reason: str, by: Caller) -> Contest:
    """Let a void contest count again, in the state it was in, as :func:`unfinalize` does.

    Raises:
        NotFound: there is no such contest.
        Conflict: the contest is not void, or that cannot be undone any more.
        Unreadable: the reason is empty.
    """
    require_reason(reason)
    with service.store.write() as session:
        kind = "contest-restored"
        remedy = (
            "create another contest and add the records there; agon contest export "
            f"{contest_id} writes them"
        )
        contest, since = _lock_undoable(service, session, contest_id, kind, remedy=remedy)
        before = "open" if contest.frozen_at is None else "frozen"
        body = {"reason": reason, "state": "final" if contest.finalized_at else before}
        after = append_step(service, session, contest, by, kind, body, action="restore")
        if not after.is_over:
            resume(service, session, after, since=since, by=by.name)
        return after


def _lock_undoable(
    service: Service, session: Session, contest_id: str, kind: str, *, remedy: str
) -> tuple[Contest, datetime]:
    """Lock a contest whose last step an entry of a kind takes back; return the time of the step.

    Raises:
        NotFound: there is no such contest.
        Conflict: it is in another state, or the step cannot be undone any more.
    """
    contest = session.contests.lock(contest_id)
    require_allowed(contest, kind)
    _, obstacle = _undo(session, contest, now=service.clock())
    if obstacle is not None:
        raise Conflict(f"{contest.id} stays {contest.state}: {obstacle}; {remedy}")
    step = contest.voided_at or contest.finalized_at or 0
    return contest, session.entries.time_of(contest.no, step)


def _undo(
    session: Session, contest: Contest, *, now: datetime
) -> tuple[datetime | None, str | None]:
    """Return before when a final result, or that a contest is void, can be undone, or why not.

    Both are None of a contest that is neither.
    """
    if contest.voided_at is not None:
        kind, seq = VOIDED, contest.voided_at
    elif contest.finalized_at is not None:
        kind, seq = FINALIZED, contest.finalized_at
    else:
        return None, None
    until = session.entries.time_of(contest.no, seq) + UNDO
    if now >= until:
        return None, f"a {_NAMES[kind]} can be undone for {UNDO.seconds // 60} minutes"
    if session.webhooks.have_tried(contest.no, kind=kind, seq=seq):
        return None, f"a webhook has sent the {_NAMES[kind]}"
    later = session.entries.after(contest.no, seq, limit=_MOST)
    for stored in later:
        entry = read_line(stored.line)
        if entry.kind not in _WITHOUT_WEIGHT:
            words = entry.kind.replace("-", " ")
            return None, f"an entry of kind {words} followed at {written_time(entry.at)}"
    return until, None


def _frozen_before(session: Session, contest: Contest) -> int | None:
    """Return the position of the freeze that the final result ended; None: it was open."""
    kinds = ("contest-opened", "contest-frozen", "contest-unfrozen", "contest-unfinalised")
    entries = session.entries.of_kind(contest.no, kinds, until=contest.finalized_at)
    *_, last = entries
    entry = read_line(last.line)
    if entry.kind == "contest-unfinalised":
        position: int | None = entry.body["frozen_at"]
        return position
    return last.seq if entry.kind == "contest-frozen" else None
