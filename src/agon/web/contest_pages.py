"""The pages that the navigation of a contest names: for each its address, its link and its view."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from agon.api.models.contests import Contest
from agon.app.access.permissions import permits
from agon.disciplines import Discipline, discipline
from agon.entities.access import Caller
from agon.web import addresses
from agon.web.page import Link, View
from agon.web.pages import cases, epochs, ledger, problems, rules, submit
from agon.web.pages.boards import distribution, matrix
from agon.web.pages.live import bots, matches, vote

IsShown: TypeAlias = Callable[[Discipline, Contest, Caller], bool]


@dataclass(frozen=True, kw_only=True)
class ContestPage:
    """A page of a contest that its navigation links to.

    Attributes:
        name: the last segment of its address.
        text: the text of the link.
        view: reads its content.
        is_shown: whether a contest of a discipline links to it, for a visitor.
    """

    name: str
    text: str
    view: View
    is_shown: IsShown = lambda *_: True


def _has_own_cases(_: Discipline, contest: Contest, visitor: Caller) -> bool:
    """Return whether a visitor may appeal cases, and does not see all of them on the desk."""
    return (
        visitor.user is not None
        and permits(visitor, "case.appeal", contest=contest)
        and not permits(visitor, "case.read", contest=contest)
    )


def _has_rounds(can: Discipline, _contest: Contest, _visitor: Caller) -> bool:
    return can.rounds is not None


CONTEST_PAGES: Final[tuple[ContestPage, ...]] = (
    ContestPage(
        name="problems", text="Problems", view=problems.problems,
        is_shown=lambda can, *_: can.problems is not None,
    ),
    ContestPage(
        name="matrix", text="Matrix", view=matrix.matrix,
        is_shown=lambda can, *_: can.problems is not None and bool(can.problems.matrix),
    ),
    ContestPage(
        name="submit", text="Submit", view=submit.form,
        is_shown=lambda can, *_: can.submissions is not None,
    ),
    ContestPage(name="matches", text="Matches", view=matches.matches, is_shown=_has_rounds),
    ContestPage(name="bots", text="Bots", view=bots.bots, is_shown=_has_rounds),
    ContestPage(name="vote", text="Vote", view=vote.vote, is_shown=_has_rounds),
    ContestPage(
        name="epochs", text="Epochs", view=epochs.epochs,
        is_shown=lambda can, *_: can.epochs is not None,
    ),
    ContestPage(name="distribution", text="Distribution", view=distribution.distribution),
    ContestPage(name="rules", text="Rules", view=rules.rules),
    ContestPage(name="ledger", text="Ledger", view=ledger.ledger),
    ContestPage(name="cases", text="My cases", view=cases.own_cases, is_shown=_has_own_cases),
)  # fmt: skip
"""In the order of the links."""


def links(contest: Contest, visitor: Caller) -> Sequence[Link]:
    """Return the links of a contest's navigation, as a visitor sees them."""
    can = discipline(contest.discipline)
    return [
        Link(address=addresses.part(contest.id, page.name), text=page.text)
        for page in CONTEST_PAGES
        if page.is_shown(can, contest, visitor)
    ]
