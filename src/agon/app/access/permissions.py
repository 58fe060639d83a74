"""Permissions: which role may perform which action, and what a caller may see of a contest."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypeAlias

from agon.disciplines import discipline
from agon.entities.access import Caller, Everywhere, Right, Role, Span
from agon.entities.contests import Contest, Event
from agon.errors import Forbidden, NotFound, Unauthenticated, did_you_mean
from agon.store.session import Session

Who: TypeAlias = Role | Literal["anonymous"]

ROLES: Final[tuple[Role, ...]] = (
    "worker", "viewer", "participant", "judge", "organiser", "operator"
)  # fmt: skip
"""All roles, the one with the fewest permissions first."""

_WIDTH: Final = {Everywhere.PUBLIC: 1, Everywhere.ALL: 2}

UNLIMITED: Final[frozenset[Role]] = frozenset({"operator", "worker"})
"""Roles that can be held in all contests: of the whole server, or of programs that read none."""

_STAFF: Final[frozenset[Who]] = frozenset({"organiser", "operator"})
_OPERATOR: Final[frozenset[Who]] = frozenset({"operator"})
_KNOWN: Final[frozenset[Who]] = frozenset(
    {"viewer", "participant", "judge", "organiser", "operator", "worker"}
)
_READERS: Final[frozenset[Who]] = _KNOWN - {"worker"}

ACTIONS: Final[Mapping[str, frozenset[Who]]] = MappingProxyType(
    {
        "contest.read": _READERS | {"anonymous"},
        "contest.read-live": _STAFF,
        "contest.create": _STAFF,
        "contest.manage": _STAFF,
        "records.add": _STAFF,
        "records.read": _STAFF,
        "submission.add": _STAFF | {"participant"},
        "submission.read-own": _STAFF | {"participant"},
        "submission.read": _STAFF,
        "problem.manage": _STAFF,
        "vote.add": _STAFF | {"judge"},
        "vote.read": _STAFF,
        "match.read": _STAFF | {"judge"},
        "match.draw": _STAFF,
        "bot.manage": _STAFF | {"participant"},
        "prompt.manage": _STAFF,
        "work.judge": _STAFF | {"judge", "participant"},
        "work.hand-in": _STAFF | {"judge", "participant"},
        "findings.read": _STAFF,
        "case.read": _STAFF,
        "case.manage": _STAFF,
        "case.appeal": _STAFF | {"participant", "judge"},
        "change.read": _STAFF,
        "change.manage": _STAFF,
        "ledger.read": _STAFF,
        "export": _STAFF,
        "import": _STAFF,
        "job.read": _STAFF | {"worker"},
        "job.work": _OPERATOR | {"worker"},
        "job.manage": _STAFF,
        "queue.read": _STAFF | {"worker"},
        "queue.manage": _OPERATOR,
        "webhook.manage": _STAFF,
        "invitation.manage": _STAFF,
        "invitation.accept": _KNOWN | {"anonymous"},
        "token.manage": _OPERATOR,
        "user.manage": _OPERATOR,
        "audit.read": _OPERATOR,
        "metrics.read": _OPERATOR,
        "model-judge.read": _STAFF,
        "me.read": _KNOWN,
    }
)
"""All actions, each with the roles that may perform it."""

INSTANCE_WIDE: Final = frozenset(
    {"queue.manage", "token.manage", "user.manage", "audit.read", "metrics.read"}
)
"""Actions on the whole instance; a token limited to some contests may not perform them."""

LOCAL: Final = Caller(name="local", user=None, role="operator", contests=Everywhere.ALL)
"""The caller of commands with direct access to the database."""

SYSTEM: Final = Caller(name="system", user=None, role="operator", contests=Everywhere.ALL)
"""The caller of the service's own workers and timers."""

ANONYMOUS: Final = Caller(name="anonymous", user=None, role=None)
"""The caller of requests without a token."""

NOT_IN: Final = "this token is not valid for the contest {}; use one whose contests include it"
_NO_CONTEST: Final = "there is no contest {!r}; see the list of contests"


class AnyContest(Protocol):
    """What of a contest decides a permission: of the stored one, or of the API's."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def visibility(self) -> str:
        """``public`` or ``private``."""


@dataclass(frozen=True, kw_only=True)
class View:
    """The part of a contest that a caller may see.

    Attributes:
        contest: the contest.
        until: the last position of the ledger that may be seen; None: all.
        staff: whether data for organizers and operators may be seen.
        user: the caller's user, who sees own data as well.
    """

    contest: Contest
    until: int | None
    staff: bool
    user: str | None = None

    def sees(self, event: Event) -> bool:
        """Return whether an event may be seen; up to which position is not checked here."""
        if self.staff or (self.user is not None and event.user == self.user):
            return True
        return not event.staff and not self.is_earlier_secret(event.kind, event.body)

    def is_earlier_secret(self, kind: str, body: Mapping[str, Any]) -> bool:
        """Return whether a fact is from before a public contest was public, for another reader.

        Titles and times of a private contest are its own, also when it is published later.

        Args:
            kind: the kind of an event or an entry.
            body: its fields.
        """
        return (
            kind == "contest-edited"
            and body["visibility"] == "private"
            and self.contest.visibility == "public"
            and not self.staff
        )


def allow(caller: Caller, action: str, *, contest: AnyContest | None = None) -> None:
    """Require that a caller may perform an action.

    Args:
        caller: the caller.
        action: one of :data:`ACTIONS`.
        contest: the contest it is about; None: no contest.

    Raises:
        Unauthenticated: the action needs a token, and there is none.
        Forbidden: no right of the caller covers it by its role, its scopes and its contests.
        NotFound: there is no such action.

    Example:
        >>> allow(ANONYMOUS, "contest.read")
        >>> allow(ANONYMOUS, "records.add")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        agon.errors.Unauthenticated: records.add needs a token; ...
    """
    acting(caller, action, contest=contest)


def acting(caller: Caller, action: str, *, contest: AnyContest | None = None) -> Caller:
    """Return a caller as the one who performs an action: with the strongest right that permits it.

    The same person may be a participant in one contest and judge another. Arguments and errors are
    those of :func:`allow`; an action that needs no right leaves the caller as it is.
    """
    if contest is None:
        return _acting(caller, action, lambda right: _server_error(right, action))
    return _acting(
        caller, action,
        lambda right: None if _covers(right, caller, contest) else NOT_IN.format(contest.id),
    )  # fmt: skip


def allow_new(caller: Caller, action: str, contest_id: str) -> None:
    """Require that a caller may create a contest with an id; errors as of :func:`allow`.

    A right in named contests covers these only.
    """
    _acting(
        caller, action,
        lambda right: None
        if isinstance(right.contests, Everywhere) or contest_id in right.contests
        else NOT_IN.format(contest_id),
    )  # fmt: skip


def permits(caller: Caller, action: str, *, contest: AnyContest | None = None) -> bool:
    """Return whether :func:`allow` raises nothing."""
    try:
        allow(caller, action, contest=contest)
    except (Forbidden, Unauthenticated):
        return False
    return True


def caller_with(caller: Caller, rights: Sequence[Right]) -> Caller:
    """Return a caller with other rights, the strongest first; there is at least one."""
    first, *further = sorted(rights, key=_strength, reverse=True)
    return replace(
        caller, role=first.role, contests=first.contests, scopes=first.scopes,
        further=tuple(further),
    )  # fmt: skip


def joint_span(rights: Sequence[Right]) -> Span:
    """Return the contests of all rights together.

    Contests named besides ``PUBLIC`` are left out, as a span is one or the other.
    """
    wide, names = set[Everywhere](), set[str]()
    for right in rights:
        if isinstance(right.contests, Everywhere):
            wide.add(right.contests)
        else:
            names.update(right.contests)
    return max(wide, key=_WIDTH.__getitem__) if wide else tuple(sorted(names))


def widest_span(role: Role) -> Everywhere:
    """Return the contests in which a role can be held at most, unless they are named.

    Example:
        >>> widest_span("operator"), widest_span("organiser")
        (<Everywhere.ALL: 'all'>, <Everywhere.PUBLIC: 'public'>)
    """
    return Everywhere.ALL if role in UNLIMITED else Everywhere.PUBLIC


def view_of(contest: Contest, caller: Caller) -> View:
    """Return the view of a caller on a contest: its rights and its last readable position.

    All callers see a public contest up to its freeze or its end; organizers and operators see all.

    Raises:
        NotFound: it is private and the caller may not see it. Its existence is not revealed.
    """
    staff = permits(caller, "contest.read-live", contest=contest)
    if contest.visibility == "private" and not staff and not _is_guest(caller, contest):
        raise NotFound(_NO_CONTEST.format(contest.id))
    until = None if staff else contest.public_until
    return View(contest=contest, until=until, staff=staff, user=caller.user)


def before_start(session: Session, view: View, *, now: datetime) -> View:
    """Return a view that ends before the first problem until the contest starts.

    Problems are prepared before the start, and participants read them from then on; organizers
    see them. As after a freeze the position decides, so that pages, API, events, feeds and exports
    hide the same.
    """
    contest = view.contest
    if view.staff or contest.starts_at is None or now >= contest.starts_at:
        return view
    problems = discipline(contest.discipline).problems
    if problems is None:
        return view
    published = next(session.entries.of_kind(contest.no, ["problem-published"]), None)
    recorded = session.entries.rows(contest.no, problems.table, limit=1)
    first = [entry.seq for entry in (published, *recorded) if entry is not None]
    if not first:
        return view
    last = min(first) - 1
    return replace(view, until=last if view.until is None else min(view.until, last))


def find_view(session: Session, contest_id: str, caller: Caller, *, now: datetime) -> View:
    """Look up a contest and return what a caller may see of it now.

    Raises:
        NotFound: there is no such contest, or the caller may not see it; with the same message.
    """
    if not contest_id.isprintable():  # not every database accepts such text
        raise NotFound(_NO_CONTEST.format(contest_id[:80]))
    try:
        contest = session.contests.get(contest_id)
    except NotFound:
        raise NotFound(_NO_CONTEST.format(contest_id)) from None
    return before_start(session, view_of(contest, caller), now=now)


def covers(scopes: tuple[str, ...], action: str) -> bool:
    """Return whether scopes contain an action: its name, or the part before the dot.

    Empty scopes cover all actions.

    Example:
        >>> covers(("records",), "records.add"), covers(("records.read",), "records.add")
        (True, False)
        >>> covers((), "export")
        True
    """
    return not scopes or action in scopes or action.partition(".")[0] in scopes


def in_span(contest: AnyContest, span: Span) -> bool:
    """Return whether a span has a contest, apart from those that a user created."""
    if isinstance(span, Everywhere):
        return span is Everywhere.ALL or contest.visibility == "public"
    return contest.id in span


def _roles(action: str) -> frozenset[Who]:
    if action not in ACTIONS:
        raise NotFound(f"there is no action {action!r}: {did_you_mean(action, ACTIONS)}")
    return ACTIONS[action]


def _acting(caller: Caller, action: str, error_of: Callable[[Right], str | None]) -> Caller:
    """Return the caller with the strongest right that permits an action.

    Args:
        caller: the caller.
        action: the action.
        error_of: returns why the contests of a right do not cover it; None: they do.
    """
    roles = _roles(action)
    permitted, errors = [], []
    for right in caller.rights:
        error = _right_error(right, action) or (2, error_of(right))
        if error[1] is None:
            permitted.append(right)
        else:
            errors.append(error)
    if permitted:
        return _with(caller, max(permitted, key=_strength))
    if "anonymous" in roles:
        return caller
    if not errors:
        raise Unauthenticated(
            f"{action} needs a token; send Authorization: Bearer agon_…, or give a command "
            "--token-file F"
        )
    raise Forbidden(max(errors)[1])  # of the right that lacks least


def _right_error(right: Right, action: str) -> tuple[int, str] | None:
    """Return why role and scopes of a right do not permit an action, and how much they permit."""
    roles = _roles(action)
    if right.role not in roles:
        may = ", ".join(sorted(roles))
        return 0, f"the role {right.role} may not do {action}; use a token of a role of: {may}"
    if not covers(right.scopes, action):
        return 1, (
            f"this token is limited to {', '.join(right.scopes)} and does not allow {action}; "
            "use a token with that scope"
        )
    return None


def _server_error(right: Right, action: str) -> str | None:
    """Return why a right does not permit an action without a contest; None: it does."""
    if action in INSTANCE_WIDE and right.contests is not Everywhere.ALL:
        return (
            f"this token is limited to some contests, and {action} concerns the whole server; "
            "use a token without that limit"
        )
    return None


def _covers(right: Right, caller: Caller, contest: AnyContest) -> bool:
    """Return whether a caller's right is held in a contest."""
    if right.contests is Everywhere.PUBLIC and contest.id in caller.created:
        return True
    return in_span(contest, right.contests)


def _with(caller: Caller, right: Right) -> Caller:
    """Return a caller who acts with one of the rights; the others stay."""
    if caller.rights[0] == right:
        return caller
    further = tuple(other for other in caller.rights if other != right)
    return replace(
        caller, role=right.role, contests=right.contests, scopes=right.scopes, further=further
    )


def _strength(right: Right) -> tuple[int, int, int]:
    """Return what orders rights: the role, then the number of contests, then that of actions."""
    breadth = _WIDTH[right.contests] if isinstance(right.contests, Everywhere) else 0
    return ROLES.index(right.role), breadth, not right.scopes


def _is_guest(caller: Caller, contest: Contest) -> bool:
    """Return whether a right of the caller allows reading a private contest."""
    reading = (right for right in caller.rights if covers(right.scopes, "contest.read"))
    return any(right.role in _READERS and _covers(right, caller, contest) for right in reading)
