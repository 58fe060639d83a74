"""Permissions: which role may perform which action, and what a caller may see of a contest."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from agon.entities.access import Caller, Role
from agon.entities.contests import Contest, Event
from agon.errors import Forbidden, NotFound, Unauthenticated, did_you_mean
from agon.store.session import Session

Who: TypeAlias = Role | Literal["anonymous"]

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

LOCAL: Final = Caller(name="local", user=None, role="operator")
"""The caller of commands with direct access to the database."""

SYSTEM: Final = Caller(name="system", user=None, role="operator")
"""The caller of the service's own workers and timers."""

ANONYMOUS: Final = Caller(name="anonymous", user=None, role=None)
"""The caller of requests without a token."""

_NO_CONTEST: Final = "there is no contest {!r}; see the list of contests"


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


def allow(caller: Caller, action: str, *, contest: Contest | str | None = None) -> None:
    """Require that a caller may perform an action.

    Args:
        caller: the caller.
        action: one of :data:`ACTIONS`.
        contest: the contest it is about (or the id of one to be created); None: no contest.

    Raises:
        Unauthenticated: the action needs a token, and there is none.
        Forbidden: the token's role, scopes or contests do not cover it.
        NotFound: there is no such action.

    Example:
        >>> allow(ANONYMOUS, "contest.read")
        >>> allow(ANONYMOUS, "records.add")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        agon.errors.Unauthenticated: records.add needs a token; ...
    """
    roles = _roles(action)
    if "anonymous" in roles:
        return
    if caller.role is None:
        raise Unauthenticated(
            f"{action} needs a token; send Authorization: Bearer agon_…, or give a command "
            "--token-file F"
        )
    if caller.role not in roles:
        may = ", ".join(sorted(roles))
        raise Forbidden(
            f"the role {caller.role} may not do {action}; use a token of a role of: {may}"
        )
    if not covers(caller.scopes, action):
        raise Forbidden(
            f"this token is limited to {', '.join(caller.scopes)} and does not allow {action}; "
            "use a token with that scope"
        )
    _require_contest_in_scope(caller, action, contest)


def permits(caller: Caller, action: str, *, contest: Contest | str | None = None) -> bool:
    """Return whether :func:`allow` raises nothing."""
    try:
        allow(caller, action, contest=contest)
    except (Forbidden, Unauthenticated):
        return False
    return True


def view_of(contest: Contest, caller: Caller) -> View:
    """Return what a caller may see of a contest.

    All callers see a public contest up to its freeze or its end; organizers and operators see all.

    Raises:
        NotFound: it is private and the caller may not see it. Its existence is not revealed.
    """
    staff = permits(caller, "contest.read-live", contest=contest)
    if contest.visibility == "private" and not staff and not _is_guest(caller, contest):
        raise NotFound(_NO_CONTEST.format(contest.id))
    until = None if staff else contest.public_until
    return View(contest=contest, until=until, staff=staff, user=caller.user)


def find_view(session: Session, contest_id: str, caller: Caller) -> View:
    """Look up a contest and return what a caller may see of it.

    Raises:
        NotFound: there is no such contest, or the caller may not see it; with the same message.
    """
    if not contest_id.isprintable():  # not every database accepts such text
        raise NotFound(_NO_CONTEST.format(contest_id[:80]))
    try:
        contest = session.contests.get(contest_id)
    except NotFound:
        raise NotFound(_NO_CONTEST.format(contest_id)) from None
    return view_of(contest, caller)


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


def _roles(action: str) -> frozenset[Who]:
    if action not in ACTIONS:
        raise NotFound(f"there is no action {action!r}: {did_you_mean(action, ACTIONS)}")
    return ACTIONS[action]


def _is_guest(caller: Caller, contest: Contest) -> bool:
    """Return whether the caller's token allows reading a private contest."""
    return (
        caller.role in _READERS
        and covers(caller.scopes, "contest.read")
        and (caller.contests is None or contest.id in caller.contests)
    )


def _require_contest_in_scope(caller: Caller, action: str, contest: Contest | str | None) -> None:
    if caller.contests is None:
        return
    if contest is None:
        if action in INSTANCE_WIDE:
            raise Forbidden(
                f"this token is limited to some contests, and {action} concerns the whole server; "
                "use a token without that limit"
            )
        return
    name = contest if isinstance(contest, str) else contest.id
    if name not in caller.contests:
        raise Forbidden(
            f"this token is not valid for the contest {name}; use one whose contests include it"
        )
