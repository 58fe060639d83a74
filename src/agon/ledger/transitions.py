"""Define the state machine of a contest: what each kind of entry requires and changes.

Both the fold over a complete ledger and the append of one entry use this table. Kinds that are not
in it (records, adjustments, decisions, …) change only the position and head of the contest.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from agon.errors import Conflict
from agon.kernel.text.bidi import closed_text
from agon.ledger.contest_state import ContestState, Lifecycle
from agon.ledger.issues import LedgerIssue

AnyContest = TypeVar("AnyContest", bound=ContestState)


class Adoption(NamedTuple):
    """An edition that was put in force.

    Attributes:
        edition: its full name.
        overrides: rules set to other values than the edition's.
        change: the change set that did it; None at creation.
        rules_sha256: the recorded fingerprint of the rules; None at creation, which records none.
    """

    edition: str
    overrides: Mapping[str, Any]
    change: str | None
    rules_sha256: str | None = None


@dataclass(frozen=True)
class Transition:
    """The state that a kind of entry requires of a contest, and the change that it makes.

    Attributes:
        changes: returns the new values of fields, from the entry's position and body.
        allowed_in: the states it may be made in; empty: all.
        verb: what it does to a contest, for messages.
    """

    changes: Callable[[int, Mapping[str, Any]], Mapping[str, Any]]
    allowed_in: tuple[Lifecycle, ...] = ()
    verb: str = ""


def _times(body: Mapping[str, Any]) -> dict[str, datetime | None]:
    """Return the start and the end that an entry states; without one it is None."""
    texts = {name: body.get(name) for name in ("starts_at", "ends_at")}
    return {
        name: None if text is None else datetime.fromisoformat(text) for name, text in texts.items()
    }


TRANSITIONS: Final[Mapping[str, Transition]] = {
    "contest-created": Transition(
        lambda _, body: {
            **{name: value for name, value in body.items() if name != "contest"},
            "id": body["contest"],
            "boards": tuple(body["boards"]),
            "state": "draft",
            **_times(body),
        },
    ),
    "contest-edited": Transition(lambda _, body: {**body, **_times(body)}),
    "contest-opened": Transition(lambda *_: {"state": "open"}, ("draft",), "opened"),
    "contest-frozen": Transition(
        lambda seq, _: {"state": "frozen", "frozen_at": seq}, ("open",), "frozen"
    ),
    "contest-unfrozen": Transition(
        lambda *_: {"state": "open", "frozen_at": None}, ("frozen",), "unfrozen"
    ),
    "contest-finalised": Transition(
        lambda seq, _: {"state": "final", "frozen_at": None, "finalized_at": seq},
        ("open", "frozen"),
        "finalized",
    ),
    "contest-unfinalised": Transition(
        lambda _, body: {
            "state": "open" if body["frozen_at"] is None else "frozen",
            "frozen_at": body["frozen_at"],
            "finalized_at": None,
        },
        ("final",),
        "made open again",
    ),
    "contest-voided": Transition(
        lambda seq, body: {"state": "void", "voided_at": seq, "void_reason": body["reason"]},
        ("open", "frozen", "final"),
        "declared void",
    ),
    "contest-restored": Transition(
        lambda _, body: {"state": body["state"], "voided_at": None, "void_reason": None},
        ("void",),
        "restored",
    ),
    "edition-adopted": Transition(
        lambda _, body: {"edition": body["edition"], "overrides": body["overrides"]}
    ),
    "change-rolled-back": Transition(lambda *_: {}),  # see adoptions_after
}
"""The kinds of entries that change a contest."""

WHILE_VOID: Final = frozenset(
    {"contest-edited", "contest-restored", "decision-made", "problem-revealed"}
)
"""The kinds of entries that a void contest takes: they are read, and no score follows from them."""

SHOWN_IN_FREEZE: Final = frozenset({"contest-voided", "contest-restored"})
"""The kinds of entries that everyone reads during a freeze as well, without their position."""

_CORRECT: Final = "propose a change set to correct it"
_COUNTING: Final[tuple[Lifecycle, ...]] = ("draft", "open", "frozen", "final")

ADOPTING: Final = ("contest-created", "edition-adopted", "change-rolled-back")
"""The kinds of entries that change which edition is in force."""


def apply(
    contest: AnyContest,
    kind: str,
    body: Mapping[str, Any],
    *,
    seq: int,
    head: bytes,
    adoptions: Callable[[], Iterable[Adoption]],
) -> AnyContest:
    """Return a contest after one more entry.

    Args:
        contest: the contest before it.
        kind: the kind of the entry.
        body: its body.
        seq: its position.
        head: the chain's hash there (32 bytes).
        adoptions: returns the adoptions that are in force after the entry, oldest first. It is
            called for a rollback only, which puts an earlier edition in force again.
    """
    contest = replace(contest, seq=seq, head=head)
    if kind in TRANSITIONS:
        contest = replace(contest, **TRANSITIONS[kind].changes(seq, body))
    if kind == "change-rolled-back":
        for newest in list(adoptions())[-1:]:
            contest = replace(contest, edition=newest.edition, overrides=newest.overrides)
    return contest


def adoptions_after(
    adoptions: Iterable[Adoption], kind: str, body: Mapping[str, Any]
) -> list[Adoption]:
    """Return the adoptions that are in force after one more entry, oldest first.

    Example:
        >>> body = {"edition": "arena/e1", "overrides": {}}
        >>> created = adoptions_after([], "contest-created", body)
        >>> later = {"edition": "arena/e2", "overrides": {}, "change": "c1"}
        >>> both = adoptions_after(created, "edition-adopted", later)
        >>> adoptions_after(both, "change-rolled-back", {"change": "c1"}) == created
        True
    """
    if kind == "change-rolled-back":
        return [adoption for adoption in adoptions if adoption.change != body["change"]]
    if kind in ADOPTING:
        adoption = Adoption(
            body["edition"], body["overrides"], body.get("change"), body.get("rules_sha256")
        )
        return [*adoptions, adoption]
    return list(adoptions)


def state_issue(contest: ContestState, kind: str) -> LedgerIssue | None:
    """Return the issue with an entry of a kind that a contest's state does not allow, if any.

    Example:
        >>> from agon.ledger.contest_state import empty_contest
        >>> str(state_issue(empty_contest("spring"), "contest-frozen"))
        'contest-frozen while the contest is draft; it can follow while the contest is open'
    """
    allowed = _allowed_in(kind)
    if not allowed or contest.state in allowed:
        return None
    remedy = f"it can follow while the contest is {' or '.join(allowed)}"
    return LedgerIssue(f"{kind} while the contest is {contest.state}", remedy)


def require_allowed(contest: ContestState, kind: str) -> None:
    """Check that a contest's state allows an entry of a kind.

    Raises:
        Conflict: it does not.
    """
    if state_issue(contest, kind) is not None:
        require_not_void(contest)
        raise Conflict(
            f"{contest.id} is {contest.state} and cannot be {TRANSITIONS[kind].verb}; it has to "
            f"be {' or '.join(_allowed_in(kind))}"
        )


def require_not_void(contest: ContestState) -> None:
    """Check that a contest counts.

    Raises:
        Conflict: it is void.
    """
    if contest.state == "void":
        raise Conflict(over_text(contest))


def require_not_over(contest: ContestState, *, remedy: str = _CORRECT) -> None:
    """Check that a contest takes records, and whatever else its result follows from.

    Raises:
        Conflict: it is void, or final; then the message ends in ``remedy``.
    """
    if (text := over_text(contest, remedy=remedy)) is not None:
        raise Conflict(text)


def over_text(contest: ContestState, *, remedy: str = _CORRECT) -> str | None:
    """Return why a contest takes nothing more; None: it does.

    Example:
        >>> from agon.ledger.contest_state import empty_contest
        >>> over_text(replace(empty_contest("spring"), state="void", void_reason="a leak"))
        'spring is void (a leak) and takes nothing more; use another contest'
        >>> over_text(replace(empty_contest("spring"), state="final"), remedy="leave it")
        'spring is final and takes nothing more; leave it'
    """
    if contest.state == "void":
        reason = closed_text(contest.void_reason or "")
        return f"{contest.id} is void ({reason}) and takes nothing more; use another contest"
    if contest.state == "final":
        return f"{contest.id} is final and takes nothing more; {remedy}"
    return None


def _allowed_in(kind: str) -> tuple[Lifecycle, ...]:
    """Return the states that allow an entry of a kind; empty: all."""
    allowed = TRANSITIONS[kind].allowed_in if kind in TRANSITIONS else ()
    return allowed or (() if kind in WHILE_VOID else _COUNTING)
