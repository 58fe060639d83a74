"""Mark new versions of bots: their ratings are provisional again."""

from dataclasses import replace
from datetime import datetime

from agon.app.access.permissions import SYSTEM
from agon.app.arena.live.entrants.bot_states import with_state
from agon.app.contests.ingest.records import RecordImporter
from agon.app.service import Service
from agon.entities.access import Caller
from agon.entities.arena import ArenaRound, LiveBot
from agon.entities.contests import Contest
from agon.errors import NotFound
from agon.kernel.times import parse_time, written_time
from agon.store.session import Session


def mark_version(
    service: Service,
    session: Session,
    contest: Contest,
    bot: LiveBot,
    version: str,
    *,
    since: datetime,
    by: Caller,
) -> LiveBot:
    """Record a new version of a bot in the ledger; return the bot, which the caller stores."""
    row = {"bot_id": bot.id, "version": version or None, "since": written_time(since)}
    RecordImporter(service, session, contest, by, replace=True).run([("versions", row, None)])
    return replace(bot, version=version, version_at=since)


def mark_stated_versions(
    service: Service, session: Session, contest: Contest, arena_round: ArenaRound
) -> None:
    """Mark the versions that bots stated in their replies of a round, from its time on."""
    stated = session.arena.stated_versions(contest.no, arena_round.id)
    since = parse_time(arena_round.body["at"])
    if since is None:
        raise RuntimeError(f"round {arena_round.id} has no time")
    for name, version in sorted(stated.items()):
        try:
            bot = session.arena.bot(contest.no, name)
        except NotFound:
            continue  # a person
        if bot.version != version:
            locked = session.contests.lock(contest.id)
            marked = mark_version(service, session, locked, bot, version, since=since, by=SYSTEM)
            session.arena.save_bot(with_state(marked, locked))
