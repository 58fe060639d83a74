"""Open, freeze, unfreeze and finalise contests."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from agon.app.access.audit import note
from agon.app.access.management import managed, require_reason
from agon.app.access.permissions import allow, viewed
from agon.app.contests.boards.publication import publish, scored
from agon.app.contests.boards.snapshots import keep
from agon.app.contests.ledgers.append import append
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.contests import Contest, Snapshot
from agon.errors import Conflict
from agon.ledger.entry import Draft
from agon.ledger.transitions import require_allowed
from agon.store.session import Session

_ATTEMPTS: Final = 3
"""How often boards are published anew while records arrive, until a freeze keeps them waiting."""


def open_contest(service: Service, contest_id: str, *, by: Caller) -> Contest:
    """Open a draft: from now on judges and participants may add to it.

    Raises:
        Forbidden, Unauthenticated, NotFound: ``by`` may not, or not see it.
        Conflict: it is no draft.
    """
    with service.store.write() as session:
        contest = managed(session, contest_id, by)
        draft = _draft(service, "contest-opened", {}, by)
        return _done(service, session, append(service, session, contest, [draft]), "open", by)


def unfreeze(service: Service, contest_id: str, *, reason: str, by: Caller) -> Contest:
    """Let the public see again what happens.

    Raises:
        Forbidden, Unauthenticated, NotFound: ``by`` may not, or not see it.
        Conflict: it is not frozen.
        Unreadable: there is no reason.
    """
    require_reason(reason)
    with service.store.write() as session:
        contest = managed(session, contest_id, by)
        draft = _draft(service, "contest-unfrozen", {"reason": reason}, by)
        return _done(service, session, append(service, session, contest, [draft]), "unfreeze", by)


def freeze(service: Service, contest_id: str, *, by: Caller) -> Contest:
    """Publish the boards as they are, and show the public nothing later until it is unfrozen.

    Records are still taken; organisers see them. The entry holds the boards' hashes.

    Raises:
        Forbidden, Unauthenticated, NotFound: ``by`` may not, or not see it.
        Conflict: it is not open.
    """
    return _with_boards(
        service,
        contest_id,
        by,
        kind="contest-frozen",
        check=lambda _, contest: require_allowed(contest, "contest-frozen"),
    )


def finalise(service: Service, contest_id: str, *, force: bool = False, by: Caller) -> Contest:
    """Publish the final boards; no record is taken any more, and later changes are told as such.

    Args:
        service: the service.
        contest_id: the contest.
        force: finalise although programs or tasks are still to be judged.
        by: who does it.

    Raises:
        Forbidden, Unauthenticated, NotFound: ``by`` may not, or not see it.
        Conflict: it is a draft or final already; or something is still to be judged.
    """

    def check(session: Session, contest: Contest) -> None:
        require_allowed(contest, "contest-finalised")
        if not force:
            _expect_judged(session, contest)

    return _with_boards(service, contest_id, by, kind="contest-finalised", check=check)


def _with_boards(
    service: Service,
    contest_id: str,
    by: Caller,
    *,
    kind: str,
    check: Callable[[Session, Contest], None],
) -> Contest:
    """Publish, then enter the boards' hashes if the ledger has not moved meanwhile; else again.

    Where it always moves, the boards are scored while the contest's lock is held, and writers
    wait as long.
    """
    with service.store.read() as session:
        contest = viewed(session, contest_id, by).contest
        allow(by, "contest.manage", contest=contest)
        check(session, contest)
    for _ in range(_ATTEMPTS):
        boards, position = _published(service, contest)
        with service.store.write() as session:
            contest = managed(session, contest_id, by)
            check(session, contest)
            if contest.seq == position:
                return _entered(service, session, contest, by, kind, boards)
    return _with_lock(service, contest, by, kind=kind, check=check)


def _with_lock(
    service: Service,
    contest: Contest,
    by: Caller,
    *,
    kind: str,
    check: Callable[[Session, Contest], None],
) -> Contest:
    """Score in memory while nothing can arrive, enter the hashes, and store the boards after that.

    Whoever stores boards has the live contest first and the lock second, and so it is here: the
    other way round two threads would wait for each other. Where storing is cut off, the next
    ``publish`` job makes up for it.
    """
    with service.lives.at(service.store, contest) as live:
        with service.store.write() as session:
            contest = managed(session, contest.id, by)
            check(session, contest)
            missing = session.entries.after(contest.no, live.seq)
            live.catch_up((one.seq, one.line) for one in missing)
            at = session.entries.time_of(contest.no, contest.seq)
            made = scored(contest, live, at=at)
            boards = {
                one.manifest.board: {
                    "sha256": one.manifest.board_sha256,
                    "merkle_root": one.manifest.merkle_root,
                    "rows": one.manifest.rows,
                }
                for one in made
            }
            done = _entered(service, session, contest, by, kind, boards)
        for one in made:
            keep(service, done, live, one)
    return done


def _entered(
    service: Service,
    session: Session,
    contest: Contest,
    by: Caller,
    kind: str,
    boards: Mapping[str, Any],
) -> Contest:
    draft = _draft(service, kind, {"boards": boards}, by)
    after = append(service, session, contest, [draft])
    return _done(service, session, after, kind.removeprefix("contest-"), by)


def _published(service: Service, contest: Contest) -> tuple[dict[str, Any], int]:
    """Publish; return the hashes of the boards that can be scored, and their position."""
    snapshots = publish(service, contest.id)
    position = max((one.seq for one in snapshots), default=contest.seq)
    return {one.board: _proof(one) for one in snapshots}, position


def _proof(snapshot: Snapshot) -> Mapping[str, Any]:
    return {
        "sha256": snapshot.board_sha256,
        "merkle_root": snapshot.manifest["merkle_root"],
        "rows": snapshot.rows,
    }


def _expect_judged(session: Session, contest: Contest) -> None:
    waiting = session.queue.page(
        contest_no=contest.no, states=("queued", "leased"), kinds=("judge", "trial"), limit=1
    )
    if waiting:
        raise Conflict(
            f"{contest.id} has submissions that are still to be judged; wait for them, or force it"
        )


def _draft(service: Service, kind: str, body: Mapping[str, Any], by: Caller) -> Draft:
    return Draft(kind=kind, body=body, at=service.clock(), by=by.name)


def _done(service: Service, session: Session, contest: Contest, what: str, by: Caller) -> Contest:
    note(
        service, session, by=by, action=f"contest.{what}", target=contest.id,
        detail={"seq": contest.seq},
    )  # fmt: skip
    return contest
