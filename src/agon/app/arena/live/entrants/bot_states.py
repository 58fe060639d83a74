"""State what the public sees of a bot; in a frozen contest, what it saw before the freeze."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agon.entities.arena import STATED, BotDescription, LiveBot
from agon.entities.contests import Contest
from agon.kernel.times import parse_time, written_time


@dataclass(frozen=True, kw_only=True)
class BotState(BotDescription):
    """The public state of a bot.

    Attributes:
        status: ``registered`` or ``paused``.
        judges: whether it votes.
        version_at: since when it has its version.
        answers: ``push`` or ``pull``.
    """

    status: str
    judges: bool
    version_at: datetime
    answers: str


def state_of(bot: LiveBot) -> BotState:
    """Return the newest state of a bot."""
    return BotState(
        status="registered" if bot.paused is None else "paused",
        judges=bot.judges,
        version_at=bot.version_at,
        answers="pull" if bot.endpoint is None else "push",
        **{name: getattr(bot, name) for name in STATED},
    )


def state_at(bot: LiveBot, until: int | None) -> BotState | None:
    """Return the state of a bot at a position of the ledger; None: it was not registered.

    Args:
        bot: the bot.
        until: the last position that may be seen; None: the newest state.
    """
    if until is None:
        return state_of(bot)
    seen = [state for state in bot.states if state["seq"] <= until]
    return _read(seen[-1]) if seen else None


def with_state(bot: LiveBot, contest: Contest) -> LiveBot:
    """Return a bot whose newest state is seen from the position after the contest's on.

    Of earlier states only that at the freeze is needed, because a later freeze shows the newest.

    Args:
        bot: the bot with its changes.
        contest: the contest before the entries that come with the changes.
    """
    seq = contest.seq + 1
    before = [state for state in bot.states if state["seq"] < seq]
    if contest.public_until is None:
        before = []
    state = state_of(bot)
    stored = {"seq": seq, **vars(state), "version_at": written_time(state.version_at)}
    at_freeze = [each for each in before if each["seq"] <= (contest.public_until or 0)]
    return replace(bot, states=(*at_freeze[-1:], stored))


def _read(state: Mapping[str, Any]) -> BotState:
    fields = {name: value for name, value in state.items() if name != "seq"}
    return BotState(**{**fields, "version_at": parse_time(state["version_at"])})
