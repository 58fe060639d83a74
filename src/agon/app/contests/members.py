"""List the people of a contest, and change what is accepted from one of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

import orjson

from agon.app.access.audit import add_audit_entry, require_reason
from agon.app.access.permissions import ROLES, View
from agon.app.contests.boards.stored_rows import rows_snapshot_of
from agon.app.contests.ledgers import slugs
from agon.app.contests.submissions.extra_time import with_problem_end
from agon.app.queue.rounds import queue_played
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.entities.members import Member, MemberTerms
from agon.errors import Conflict, NotFound, Unreadable, did_you_mean
from agon.kernel.times import written_time
from agon.ledger.transitions import require_not_over
from agon.store.people.members import TokenHolder
from agon.store.session import Session

MAX_ATTEMPTS: Final = 10_000

_Change: TypeAlias = Callable[[Session, Contest, MemberTerms], MemberTerms]


def members(service: Service, view: View) -> list[Member]:
    """Return the people who joined a contest, who submitted to it or for whom something differs.

    They are in the order of their ids; ranks are those of the newest default board.
    """
    with service.store.read() as session:
        return _members(service, session, view.contest)


def _members(service: Service, session: Session, contest: Contest) -> list[Member]:
    holders = session.members.token_holders(contest.id, now=service.clock())
    joined = {each.user: each for each in holders}
    terms = session.members.all_terms(contest.no)
    made = service.submission_index.counts(session, contest.no, contest.id)
    users = sorted({*joined, *terms, *made})
    ranks = _ranks(session, contest, users)
    return [
        _as_member(
            user, joined.get(user), made=made.get(user, 0), rank=ranks.get(user),
            terms=terms.get(user),
        )
        for user in users
    ]  # fmt: skip


def _as_member(
    user: str, holder: TokenHolder | None, *, made: int, rank: int | None,
    terms: MemberTerms | None,
) -> Member:  # fmt: skip
    roles = () if holder is None else holder.roles
    return Member(
        user=user,
        name="" if holder is None else holder.name,
        role=max(roles, key=ROLES.index, default=None),
        joined_at=None if holder is None else holder.joined_at,
        seen_at=None if holder is None else holder.seen_at,
        submissions=made,
        rank=rank,
        terms=terms,
    )


def _ranks(session: Session, contest: Contest, users: list[str]) -> dict[str, int]:
    """Return the ranks of people on the newest default board whose rows are stored."""
    newest = session.snapshots.latest(contest.no, discipline(contest.discipline).boards[0])
    stored = None if newest is None else rows_snapshot_of(session, newest)
    if stored is None:
        return {}
    indexes = session.snapshots.row_indexes(stored.no, users)
    position = {index: user for user, index in indexes.items() if index < stored.rows}
    lines = session.snapshots.lines_at(stored.no, list(position))
    return {row["id"]: row["rank"] for row in map(orjson.loads, lines)}


def member(service: Service, view: View, user: str) -> Member:
    """Return a person of a contest.

    Raises:
        NotFound: no person of that id takes part.
    """
    with service.store.read() as session:
        return _member(service, session, view.contest, user)


def _member(service: Service, session: Session, contest: Contest, user: str) -> Member:
    if not user:
        raise Unreadable("no person is named; give the id of a person of the contest")
    holders = session.members.token_holders(contest.id, now=service.clock(), user=user)
    terms = session.members.terms(contest.no, user)
    made = service.submission_index.count(session, contest.no, contest.id, user=user)
    named = session.names.of(contest.no, [user], at=contest.seq)
    if not (holders or terms or made or named):
        known = [each.user for each in _members(service, session, contest)]
        remedy = did_you_mean(user, known) if known else "nobody does yet, invite people first"
        raise NotFound(f"{user[:63]!r} takes no part in {contest.id}: {remedy}")
    rank = _ranks(session, contest, [user]).get(user)
    return _as_member(user, holders[0] if holders else None, made=made, rank=rank, terms=terms)


def withdraw(service: Service, contest_id: str, user: str, *, reason: str, by: Caller) -> Member:
    """Accept nothing more from a person; what the person has sent keeps counting.

    Votes and answers that an arena waits for are asked of others, and no match is drawn any more
    with the person's bots.

    Raises:
        NotFound: no person of that id takes part.
        Conflict: the person is withdrawn.
        Unreadable: there is no reason.
    """
    mark = _Mark("withdrawn_at", user, "withdrawn")
    return _change(service, contest_id, user, "withdraw", mark.begin(service), reason=reason, by=by)


def reinstate(service: Service, contest_id: str, user: str, *, reason: str, by: Caller) -> Member:
    """Accept again what a person sends who was withdrawn.

    Raises:
        NotFound: no person of that id takes part.
        Conflict: the person is not withdrawn.
        Unreadable: there is no reason.
    """
    mark = _Mark("withdrawn_at", user, "withdrawn")
    return _change(service, contest_id, user, "reinstate", mark.end, reason=reason, by=by)


def hide(service: Service, contest_id: str, user: str, *, reason: str, by: Caller) -> Member:
    """Show a person's name on no board, at no position; id, rank and score stay.

    Raises:
        NotFound: no person of that id takes part or has a name.
        Conflict: the name is hidden.
        Unreadable: there is no reason.
    """
    mark = _Mark("hidden_at", f"the name of {user}", "hidden")
    return _change(service, contest_id, user, "hide", mark.begin(service), reason=reason, by=by)


def unhide(service: Service, contest_id: str, user: str, *, reason: str, by: Caller) -> Member:
    """Show a person's name again where the contest shows names.

    Raises:
        NotFound: no person of that id takes part or has a name.
        Conflict: the name is not hidden.
        Unreadable: there is no reason.
    """
    mark = _Mark("hidden_at", f"the name of {user}", "hidden")
    return _change(service, contest_id, user, "unhide", mark.end, reason=reason, by=by)


@dataclass(frozen=True)
class _Mark:
    """What holds for a person from a time on, until it is taken back.

    Attributes:
        field: the time in the person's terms.
        subject: what it holds for, in words.
        word: what it is then.
    """

    field: str
    subject: str
    word: str

    def begin(self, service: Service) -> "_Change":
        """Return the change from which on it holds; it raises Conflict where it does."""

        def change(_: Session, __: Contest, terms: MemberTerms) -> MemberTerms:
            since = getattr(terms, self.field)
            if since is not None:
                raise Conflict(
                    f"{self.subject} is {self.word} since {written_time(since)}; undo that first"
                )
            return self._at(terms, service.clock())

        return change

    def end(self, _: Session, __: Contest, terms: MemberTerms) -> MemberTerms:
        """Take it back; raise Conflict where it does not hold."""
        if getattr(terms, self.field) is None:
            raise Conflict(f"{self.subject} is not {self.word}; there is nothing to undo")
        return self._at(terms, None)

    def _at(self, terms: MemberTerms, time: datetime | None) -> MemberTerms:
        changed: dict[str, Any] = {self.field: time}
        return replace(terms, **changed)


@dataclass(frozen=True, kw_only=True)
class Extension:
    """A later end of the contest or of a problem for one person, or further submissions.

    Attributes:
        ends_at: the person's end; None: as it was.
        attempts: how many more submissions than ``max_submissions`` the person may make to each
            problem, in all; None: as many as before.
        problem: the id or slug of the problem that takes the person's programs until ``ends_at``,
            after its freeze; None: ``ends_at`` is the person's end of the contest.

    Raises:
        Unreadable: neither is given, or the attempts are out of bounds.
    """

    ends_at: datetime | None = None
    attempts: int | None = None
    problem: str | None = None

    def __post_init__(self) -> None:
        if self.ends_at is None and self.attempts is None:
            raise Unreadable("neither time nor attempts are given; give ends_at or attempts")
        if self.attempts is not None and not 0 <= self.attempts <= MAX_ATTEMPTS:
            raise Unreadable(f"attempts is {self.attempts}; give 0 to {MAX_ATTEMPTS:,}")
        if self.problem is not None and self.ends_at is None:
            raise Unreadable(f"no end is given for problem {self.problem[:80]!r}; give ends_at")


def extend(
    service: Service, contest_id: str, user: str, extension: Extension, *, reason: str, by: Caller
) -> Member:
    """Set a later end of the contest or of a problem for one person, or further submissions.

    Args:
        service: the service.
        contest_id: the contest.
        user: the person.
        extension: what the person gets.
        reason: why; the person can read it.
        by: the caller.

    Raises:
        NotFound: no person of that id takes part, or there is no such problem.
        Conflict: the contest is over, or has no end; or the problem is revealed or has no freeze.
        Unreadable: the end is not after the contest's or the freeze or is past, or there is no
            reason.
    """
    ends_at, attempts, problem = extension.ends_at, extension.attempts, extension.problem
    if ends_at is not None and ends_at <= service.clock():
        raise Unreadable(f"the end {written_time(ends_at)} of {user} is past; give a later one")

    def change(session: Session, contest: Contest, terms: MemberTerms) -> MemberTerms:
        require_not_over(contest, remedy="take the final result back first")
        if ends_at is not None and problem is not None:
            name = slugs.problem_id(session, contest, problem)
            terms = with_problem_end(session, contest, terms, problem_id=name, end=ends_at)
        elif ends_at is not None:
            if contest.ends_at is None:
                raise Conflict(f"{contest.id} has no end; a later one is not needed")
            if ends_at <= contest.ends_at:
                raise Unreadable(
                    f"the end {written_time(ends_at)} of {user} is not after that of {contest.id}, "
                    f"{written_time(contest.ends_at)}; give a later one"
                )
            terms = replace(terms, ends_at=ends_at)
        return terms if attempts is None else replace(terms, attempts=attempts)

    return _change(service, contest_id, user, "extend", change, reason=reason, by=by)


def _change(
    service: Service, contest_id: str, user: str, action: str, change: _Change, *, reason: str,
    by: Caller,
) -> Member:  # fmt: skip
    """Change what differs for a person, with an entry in the audit log."""
    require_reason(reason)
    now = service.clock()
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        person = _member(service, session, contest, user)
        before = person.terms or MemberTerms(
            contest_no=contest.no, user=user, reason=reason, by=by.name, changed_at=now
        )
        after = replace(
            change(session, contest, before), reason=reason.strip(), by=by.name, changed_at=now
        )
        session.members.save(after)
        if action == "withdraw":
            queue_played(service, session, contest, by="withdraw")
        detail: dict[str, Any] = {"contest": contest.id, "reason": after.reason}
        if action == "extend":
            ends_at = None if after.ends_at is None else written_time(after.ends_at)
            ends = {name: written_time(end) for name, end in after.problem_ends.items()}
            detail |= {"ends_at": ends_at, "attempts": after.attempts, "problem_ends": ends}
        add_audit_entry(
            service, session, by=by, action=f"member.{action}", target=user, detail=detail
        )
    return replace(person, terms=after)
