"""Say what a final result leaves open, and take it back while no webhook was sent it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from agon.app.access.audit import add_audit_entry, require_reason
from agon.app.contests.ledgers.append import append
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Conflict
from agon.ledger.entry import Draft, read_line
from agon.ledger.transitions import require_allowed
from agon.store.session import Session

UNDO: Final = timedelta(minutes=10)
"""How long a final result can be taken back."""

FINALIZED: Final = "contest-finalised"
_MOST: Final = 1000
"""Maximum number of each that is counted."""


@dataclass(frozen=True, kw_only=True)
class Finalization:
    """What is open before a contest is finalized, and how long the final result can be undone.

    Attributes:
        submissions: number of submissions without a verdict.
        rounds: the ids of rounds that are not settled.
        cases: number of cases that are not decided.
        changes: number of change sets that are proposed and not applied.
        webhooks: number of webhooks that are sent the final result at once.
        undo_until: before when the final result can be undone; None: it cannot, or is not final.
        obstacle: why the final result cannot be undone; None: it can, or is not final.
    """

    submissions: int
    rounds: Sequence[str]
    cases: int
    changes: int
    webhooks: int
    undo_until: datetime | None
    obstacle: str | None


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
        is_final = contest.state == "final"
        obstacle = _obstacle(session, contest, now=now) if is_final else None
        until = _undo_until(session, contest) if is_final and obstacle is None else None
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
    webhook was sent it, or something other than an edit of the details was recorded since. Final
    result and undo stay in the ledger.

    Raises:
        NotFound: there is no such contest.
        Conflict: the contest is not final, or the final result cannot be undone any more.
        Unreadable: the reason is empty.
    """
    require_reason(reason)
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        require_allowed(contest, "contest-unfinalised")
        obstacle = _obstacle(session, contest, now=service.clock())
        if obstacle is not None:
            raise Conflict(f"{contest.id} stays final: {obstacle}; correct it by a change set")
        body = {"reason": reason, "frozen_at": _frozen_before(session, contest)}
        draft = Draft(kind="contest-unfinalised", body=body, at=service.clock(), by=by.name)
        contest = append(service, session, contest, [draft])
        add_audit_entry(
            service, session, by=by, action="contest.unfinalize", target=contest.id,
            detail={"seq": contest.seq},
        )  # fmt: skip
        return contest


def _undo_until(session: Session, contest: Contest) -> datetime:
    return session.entries.time_of(contest.no, contest.finalized_at or contest.seq) + UNDO


def _obstacle(session: Session, contest: Contest, *, now: datetime) -> str | None:
    """Return why a final result cannot be undone; None: it can."""
    final = contest.finalized_at or contest.seq
    if now >= _undo_until(session, contest):
        return f"a final result can be undone for {UNDO.seconds // 60} minutes"
    if session.webhooks.have_tried(contest.no, kind=FINALIZED, seq=final):
        return "a webhook has told of the final result"
    later = session.entries.after(contest.no, final, limit=_MOST)
    if any(read_line(entry.line).kind != "contest-edited" for entry in later):
        return "something was recorded after it"
    return None


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
