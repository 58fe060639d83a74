"""Open, freeze, unfreeze and finalize contests."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from agon.app.access.audit import add_audit_entry, require_reason
from agon.app.contests.ledgers.append import append
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Conflict
from agon.ledger.entry import Draft
from agon.ledger.transitions import require_allowed
from agon.store.session import Session

_ATTEMPTS: Final = 3
"""How often boards are published again because records arrived, before writers have to wait."""


def open_contest(service: Service, contest_id: str, *, by: Caller) -> Contest:
    """Open a draft: judges and participants may add records from now on.

    Raises:
        NotFound: there is no such contest.
        Conflict: the contest is not a draft.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        return append_step(service, session, contest, by, "contest-opened", {}, action="open")


def unfreeze(service: Service, contest_id: str, *, reason: str, by: Caller) -> Contest:
    """Show the public the newest boards again.

    Raises:
        NotFound: there is no such contest.
        Conflict: the contest is not frozen.
        Unreadable: the reason is empty.
    """
    require_reason(reason)
    body = {"reason": reason}
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        return append_step(
            service, session, contest, by, "contest-unfrozen", body, action="unfreeze"
        )


def freeze(service: Service, contest_id: str, *, by: Caller) -> Contest:
    """Publish the boards as they are, and show the public nothing later until it is unfrozen.

    Records can still be added, and organizers see them. The entry holds the boards' hashes.

    Raises:
        NotFound: there is no such contest.
        Conflict: the contest is not open.
    """

    def check(_: Session, contest: Contest) -> None:
        require_allowed(contest, "contest-frozen")

    return _with_boards(service, contest_id, by, "contest-frozen", action="freeze", check=check)


def finalize(service: Service, contest_id: str, *, force: bool = False, by: Caller) -> Contest:
    """Publish the final boards; no records are added afterwards, and changes are marked as such.

    Args:
        service: the service.
        contest_id: the contest.
        force: finalize even if submissions are still to be judged.
        by: the caller.

    Raises:
        NotFound: there is no such contest.
        Conflict: the contest is a draft or final, or submissions are still to be judged.
    """

    def check(session: Session, contest: Contest) -> None:
        require_allowed(contest, "contest-finalised")
        if not force:
            _require_judged(session, contest)

    return _with_boards(
        service, contest_id, by, "contest-finalised", action="finalize", check=check
    )


def _with_boards(
    service: Service,
    contest_id: str,
    by: Caller,
    kind: str,
    *,
    action: str,
    check: Callable[[Session, Contest], None],
) -> Contest:
    """Publish, then append the boards' hashes if the ledger has not grown meanwhile; else repeat.

    If it always grows, the boards are scored while the contest is locked, and writers wait.
    """
    from agon.app.contests.boards.publish import publish

    with service.store.read() as session:
        contest = session.contests.get(contest_id)
        check(session, contest)
    for _ in range(_ATTEMPTS):
        snapshots = publish(service, contest_id).snapshots
        position = max((snapshot.seq for snapshot in snapshots), default=contest.seq)
        boards = {
            snapshot.board: {
                "sha256": snapshot.board_sha256,
                "merkle_root": snapshot.manifest["merkle_root"],
                "rows": snapshot.rows,
            }
            for snapshot in snapshots
        }
        with service.store.write() as session:
            contest = session.contests.lock(contest_id)
            check(session, contest)
            if contest.seq == position:
                return append_step(
                    service, session, contest, by, kind, {"boards": boards}, action=action
                )
    return _with_lock(service, contest, by, kind, action=action, check=check)


def _with_lock(
    service: Service,
    contest: Contest,
    by: Caller,
    kind: str,
    *,
    action: str,
    check: Callable[[Session, Contest], None],
) -> Contest:
    """Score in memory while the contest is locked, append the hashes, then store the boards.

    Everything that stores boards borrows the replica first and locks the contest second, and so
    does this: in the other order two threads would wait for each other. If storing is interrupted,
    the next ``publish`` job completes it.
    """
    from agon.app.contests.boards.publish import draft_boards
    from agon.app.contests.boards.snapshots import store_boards

    with service.replicas.current(service.store, contest) as replica:
        with service.store.write() as session:
            contest = session.contests.lock(contest.id)
            check(session, contest)
            replica.read(session, contest)
            time = session.entries.time_of(contest.no, contest.seq)
            drafts = draft_boards(contest, replica, at=time)
            boards = {
                draft.manifest.board: {
                    "sha256": draft.manifest.board_sha256,
                    "merkle_root": draft.manifest.merkle_root,
                    "rows": draft.manifest.rows,
                }
                for draft in drafts
            }
            after = append_step(
                service, session, contest, by, kind, {"boards": boards}, action=action
            )
        store_boards(service, after, replica, drafts)
    return after


def _require_judged(session: Session, contest: Contest) -> None:
    waiting = session.queue.page(
        contest_no=contest.no, states=("queued", "leased"), kinds=("judge", "trial"), limit=1
    )
    if waiting:
        raise Conflict(
            f"{contest.id} has submissions that are still to be judged; wait for them, or use force"
        )


def append_step(
    service: Service,
    session: Session,
    contest: Contest,
    by: Caller,
    kind: str,
    body: Mapping[str, Any],
    *,
    action: str,
) -> Contest:
    """Append one entry and write the audit log."""
    draft = Draft(kind=kind, body=body, at=service.clock(), by=by.name)
    contest = append(service, session, contest, [draft])
    add_audit_entry(
        service, session, by=by, action=f"contest.{action}", target=contest.id,
        detail={"seq": contest.seq},
    )  # fmt: skip
    return contest
