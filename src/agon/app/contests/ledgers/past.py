"""Return a contest as it was at an earlier position of its ledger."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import orjson

from agon.app.access.permissions import View
from agon.app.contests.ledgers.positions import resolve_as_of
from agon.entities.contests import Contest
from agon.errors import NotFound
from agon.ledger.transitions import TRANSITIONS, Adoption, adoptions_after, apply
from agon.store.session import Session

_DETAILS = ("title", "description", "visibility")


def contest_as_of(session: Session, view: View, as_of: str) -> Contest:
    """Return a contest as a caller sees it at a position or time: title, rules, state, times.

    Of a contest that became public later, the public sees title and description as of then. Whether
    it shows names is always as it is now, so that names that are hidden are on no page of the past.

    Args:
        session: the database.
        view: what the caller may see.
        as_of: a position in digits or a time; a later one than the caller may see is the last one.

    Raises:
        NotFound: the contest did not exist then.
        Unreadable: ``as_of`` is neither a position nor a time.
    """
    contest = view.contest
    until = resolve_as_of(session, view, as_of)
    last = contest.seq if until is None else min(until, contest.seq)
    states = list(_states(session, contest))
    index = bisect_right(states, last, key=lambda state: state.seq) - 1
    if index < 0:
        raise NotFound(f"{contest.id} did not exist by {as_of}; ask for a later time")
    # Who may read a private contest could read it then.
    reads_all = view.staff or contest.visibility == "private"
    shown = next(state for state in states[index:] if reads_all or state.visibility == "public")
    details = {name: getattr(shown, name) for name in _DETAILS}
    return replace(states[index], **details, names=contest.names, seq=last)


def _states(session: Session, contest: Contest) -> Iterator[Contest]:
    """Yield a contest after each entry that changed it, oldest first."""
    state = replace(
        contest, state="draft", frozen_at=None, finalized_at=None, voided_at=None, void_reason=None
    )
    adoptions: list[Adoption] = []
    for stored in session.entries.of_kind(contest.no, TRANSITIONS):
        entry = orjson.loads(stored.line)
        kind, body = entry["kind"], entry["body"]
        adoptions = adoptions_after(adoptions, kind, body)
        state = apply(
            state, kind, body, seq=stored.seq, head=stored.sha256,
            adoptions=partial(tuple, adoptions),
        )  # fmt: skip
        yield state
