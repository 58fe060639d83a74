"""Count the forfeits of bots, pause those with too many in a row, and announce that."""

from dataclasses import replace
from typing import Final

from agon.app.arena.live.entrants.bot_states import with_state
from agon.app.arena.live.matches import SIDES, matches_of
from agon.app.service import Service
from agon.app.webhooks.announcements import announce
from agon.disciplines.arena.rules import ArenaRules
from agon.entities.arena import ArenaRound, LiveBot
from agon.entities.contests import Contest, Event
from agon.store.session import Session

PAUSED: Final = "bot-paused"
"""The kind of the event by which the owner of a bot and organizers learn that it is paused."""


def count_forfeits(
    service: Service, session: Session, contest: Contest, arena_round: ArenaRound
) -> None:
    """Count the forfeits of each bot in a row, and pause those with too many.

    The owner of a paused bot and the organizers get an event.
    """
    rules = ArenaRules(**arena_round.body["rules"])
    playing = {drawn[f"bot_{side}"] for drawn, _ in matches_of(arena_round) for side in SIDES} - {
        None
    }
    bots = session.arena.bots_named(contest.no, playing)
    for drawn, match in matches_of(arena_round):
        if match["outcome"] == "again":
            continue
        for side in SIDES:
            codes = [fault["code"] for fault in match["faults"] if fault["side"] == side]
            before = bots.get(drawn[f"bot_{side}"])
            if before is None:
                continue
            bot = replace(before, forfeits=before.forfeits + 1 if codes else 0)
            if bot.forfeits >= rules.forfeits_paused and bot.paused is None:
                bot = _pause(service, session, contest, bot, code=codes[0])
            if bot != before:
                session.arena.save_bot(bot)


def _pause(
    service: Service, session: Session, contest: Contest, bot: LiveBot, *, code: str
) -> LiveBot:
    cause = (
        f"{bot.forfeits} forfeits in a row, the last with {code}; "
        "repair the bot and set paused to false"
    )
    event = Event(
        no=0,
        contest_no=contest.no,
        seq=contest.seq,
        at=service.clock(),
        kind=PAUSED,
        body={"bot": bot.id, "name": bot.name, "forfeits": bot.forfeits, "cause": cause},
        staff=True,
        user=bot.user or bot.owner_id,
    )
    announce(service, session, event)
    return with_state(replace(bot, paused=cause), contest)
