"""Rounds and bots of an arena."""

from collections.abc import Mapping
from typing import Final

from agon.api.models.bots import BotUpdate
from agon.errors import NotFound
from agon.web import addresses
from agon.web.desk.layout import act, contest_page, listing
from agon.web.page import Page, Redirect, Visit

_PAUSES: Final[Mapping[str, bool]] = {"pause": True, "resume": False}


def rounds(visit: Visit) -> Page:
    """Return the rounds, newest first, and the button that begins one."""
    return _rounds_page(visit)


def draw(visit: Visit) -> Page | Redirect:
    """Begin the next round."""
    contest = visit.contest()
    return act(
        lambda: visit.api.submissions.draw_round(contest.id),
        following=lambda job: addresses.desk(contest.id, "jobs", job.id),
        otherwise=lambda error: _rounds_page(visit, error=error),
    )


def bots(visit: Visit) -> Page:
    """Return the bots with their faults."""
    return _bots_page(visit)


def set_bot(visit: Visit) -> Page | Redirect:
    """Pause a bot, or let it take part again."""
    contest, action = visit.contest(), visit.path["action"]
    if action not in _PAUSES:
        raise NotFound(f"a bot has no action {action!r}; use pause or resume")
    update = BotUpdate(paused=_PAUSES[action])
    return act(
        lambda: visit.api.bots.update(contest.id, visit.path["id"], update),
        following=addresses.desk(contest.id, "bots"),
        otherwise=lambda error: _bots_page(visit, error=error),
    )


def _rounds_page(visit: Visit, *, error: Exception | None = None) -> Page:
    contest = visit.contest()
    return contest_page(
        visit, contest, "rounds", {"rounds": listing(visit, visit.api.rounds.list(contest.id))},
        error=error, data=addresses.api("contests", contest.id, "rounds"),
    )  # fmt: skip


def _bots_page(visit: Visit, *, error: Exception | None = None) -> Page:
    contest = visit.contest()
    return contest_page(
        visit, contest, "bots", {"bots": listing(visit, visit.api.bots.list(contest.id))},
        error=error, data=addresses.api("contests", contest.id, "bots"),
    )  # fmt: skip
