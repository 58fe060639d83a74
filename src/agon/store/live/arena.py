"""Store live arenas: bots, prompts, rounds and work."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, TypeVar

from sqlalchemy import Select, Table, bindparam, func, select, update

from agon.entities.arena import (
    ArenaRound,
    HoneypotAnswer,
    HumanAnswer,
    LiveBot,
    Presence,
    Prompt,
    RoundPhase,
    RoundState,
)
from agon.errors import NotFound
from agon.kernel.times import to_micros
from agon.store.connection.entity_rows import columns_of, entity_of
from agon.store.connection.transaction import json_text, parse_json
from agon.store.live.arena_work import BATCH, ArenaWork, require_round
from agon.store.schema import (
    HONEYPOT_ANSWERS,
    HUMAN_ANSWERS,
    LIVE_BOTS,
    PRESENT_JUDGES,
    PROMPTS,
    ROUNDS,
)

T = TypeVar("T")

_STATE: Final = [ROUNDS.c[name] for name in RoundState.__dataclass_fields__]
"""Columns of a round without its body."""

_IS_ROUND: Final = ROUNDS.c.kind == "round"


class Arena(ArenaWork):
    """Bots, prompts, rounds and, inherited, work of live arenas in the database."""

    def save_bot(self, bot: LiveBot) -> None:
        """Insert or update a bot."""
        self._transaction.upsert(LIVE_BOTS, columns_of(bot))

    def set_recent_templates(self, contest_no: int, templates: Mapping[str, Sequence[str]]) -> None:
        """Store the templates of honeypots that bots and other judges saw lately, oldest first.

        Of those who are not bots, only judges that asked for work ever have them.
        """
        rows = [{"judge": name, "names": json_text(list(seen))} for name, seen in templates.items()]
        for table in (LIVE_BOTS, PRESENT_JUDGES):
            changing = update(table).where(
                table.c.contest_no == contest_no, table.c.id == bindparam("judge")
            )
            self._transaction.change_many(
                changing.values(recent_templates=bindparam("names")), rows
            )

    def set_recent_prompts(self, contest_no: int, prompts: Mapping[str, Sequence[str]]) -> None:
        """Store the ids of the last prompts that bots were asked, oldest first."""
        changing = update(LIVE_BOTS).where(
            LIVE_BOTS.c.contest_no == contest_no, LIVE_BOTS.c.id == bindparam("bot")
        )
        rows = [{"bot": name, "ids": json_text(list(ids))} for name, ids in prompts.items()]
        self._transaction.change_many(changing.values(recent_prompts=bindparam("ids")), rows)

    def bots_named(self, contest_no: int, names: Iterable[str]) -> dict[str, LiveBot]:
        """Return those bots that the contest has, by their ids."""
        wanted, bots = sorted(set(names)), dict[str, LiveBot]()
        for start in range(0, len(wanted), BATCH):
            batch = wanted[start : start + BATCH]
            listing = select(LIVE_BOTS).where(
                LIVE_BOTS.c.contest_no == contest_no, LIVE_BOTS.c.id.in_(batch)
            )
            bots |= {bot.id: bot for bot in self._all(LiveBot, listing)}
        return bots

    def bot(self, contest_no: int, bot_id: str) -> LiveBot:
        """Return a bot.

        Raises:
            NotFound: the contest has no such bot.
        """
        row = self._transaction.first(_of(LIVE_BOTS, contest_no, bot_id))
        if row is None:
            raise NotFound(f"the contest has no bot {bot_id!r}; list its bots")
        return entity_of(LiveBot, row)

    def bots(self, contest_no: int, *, after: str = "", limit: int | None = None) -> list[LiveBot]:
        """Return a contest's bots in the order of their ids, those after an id."""
        listing = select(LIVE_BOTS).where(
            LIVE_BOTS.c.contest_no == contest_no, LIVE_BOTS.c.id > after
        )
        return self._all(LiveBot, listing.order_by(LIVE_BOTS.c.id).limit(limit))

    def record_presence(self, contest_no: int, judge: Presence, at: datetime) -> None:
        """Record that a judge asked for work."""
        values = {**vars(judge), "seen_at": to_micros(at)}
        adding = self._transaction.insert(PRESENT_JUDGES).values(
            contest_no=contest_no, **values, recent_templates="[]"
        )
        self._transaction.change(
            adding.on_conflict_do_update(index_elements=["contest_no", "id"], set_=values)
        )

    def recent_templates(
        self, contest_no: int, judges: Iterable[str]
    ) -> dict[str, tuple[str, ...]]:
        """Return the templates of honeypots that judges saw lately; of a bot, what the bot saw.

        Unknown judges are left out.
        """
        names, seen = sorted(set(judges)), dict[str, tuple[str, ...]]()
        for table in (PRESENT_JUDGES, LIVE_BOTS):
            for start in range(0, len(names), BATCH):
                listing = select(table.c.id, table.c.recent_templates).where(
                    table.c.contest_no == contest_no, table.c.id.in_(names[start : start + BATCH])
                )
                for row in self._transaction.all(listing):
                    seen[row.id] = tuple(parse_json(row.recent_templates))
        return seen

    def present(self, contest_no: int, *, since: datetime, until: datetime) -> list[Presence]:
        """Return who asked for work between two times, in the order of their ids.

        What a clock recorded while it ran far ahead is later, and shows nobody there.
        """
        columns = [PRESENT_JUDGES.c[name] for name in Presence.__dataclass_fields__]
        listing = select(*columns).where(
            PRESENT_JUDGES.c.contest_no == contest_no,
            PRESENT_JUDGES.c.seen_at.between(to_micros(since), to_micros(until)),
        )
        return self._all(Presence, listing.order_by(PRESENT_JUDGES.c.id))

    def save_prompts(self, contest_no: int, prompts: Iterable[Prompt]) -> None:
        """Insert or update prompts."""
        for prompt in prompts:
            self._transaction.upsert(PROMPTS, {"contest_no": contest_no, **asdict(prompt)})

    def prompts(self, contest_no: int) -> list[Prompt]:
        """Return a contest's prompts in the order of their ids, retired ones too."""
        listing = select(PROMPTS).where(PROMPTS.c.contest_no == contest_no)
        return self._all(Prompt, listing.order_by(PROMPTS.c.id))

    def save_human_answers(self, contest_no: int, answers: Iterable[HumanAnswer]) -> None:
        """Insert or update human answers."""
        for answer in answers:
            self._transaction.upsert(HUMAN_ANSWERS, {"contest_no": contest_no, **asdict(answer)})

    def human_answers(self, contest_no: int) -> list[HumanAnswer]:
        """Return a contest's human answers in the order of their ids."""
        listing = select(HUMAN_ANSWERS).where(HUMAN_ANSWERS.c.contest_no == contest_no)
        return self._all(HumanAnswer, listing.order_by(HUMAN_ANSWERS.c.id))

    def save_honeypot_answers(self, contest_no: int, answers: Iterable[HoneypotAnswer]) -> None:
        """Insert or update answers for honeypots."""
        for answer in answers:
            values = {"contest_no": contest_no, **asdict(answer)}
            self._transaction.upsert(HONEYPOT_ANSWERS, values)

    def honeypot_answers(self, contest_no: int) -> list[HoneypotAnswer]:
        """Return a contest's answers for honeypots in the order of their ids, used ones too."""
        listing = select(HONEYPOT_ANSWERS).where(HONEYPOT_ANSWERS.c.contest_no == contest_no)
        return self._all(HoneypotAnswer, listing.order_by(HONEYPOT_ANSWERS.c.id))

    def save_round(self, arena_round: ArenaRound) -> None:
        """Insert or update a round."""
        self._transaction.upsert(
            ROUNDS, {**columns_of(arena_round), "summary": json_text(arena_round.summary)}
        )

    def round(self, contest_no: int, round_id: str) -> ArenaRound:
        """Return a round or an attempt to qualify.

        Raises:
            NotFound: the contest has no such round.
        """
        row = self._transaction.first(_of(ROUNDS, contest_no, round_id))
        return entity_of(ArenaRound, require_round(row, round_id))

    def phase(self, contest_no: int, round_id: str) -> RoundPhase:
        """Return the phase of a round or an attempt to qualify.

        Raises:
            NotFound: the contest has no such round.
        """
        asking = select(ROUNDS.c.phase).where(
            ROUNDS.c.contest_no == contest_no, ROUNDS.c.id == round_id
        )
        phase: RoundPhase = require_round(self._transaction.first(asking), round_id).phase
        return phase

    def lock_round(self, contest_no: int, round_id: str) -> ArenaRound:
        """Return a round and lock it against other writers until the session ends.

        Raises:
            NotFound: the contest has no such round.
        """
        row = self._transaction.lock_row(_of(ROUNDS, contest_no, round_id), "rounds")
        return entity_of(ArenaRound, require_round(row, round_id))

    def rounds(
        self, contest_no: int, *, kind: str = "round", before: int | None = None, limit: int = 100
    ) -> list[ArenaRound]:
        """Return rounds, newest first, those with a lower number."""
        listing = select(ROUNDS).where(ROUNDS.c.contest_no == contest_no, ROUNDS.c.kind == kind)
        return self._all(ArenaRound, _newest_rounds(listing, before=before, limit=limit))

    def rounds_after(self, contest_no: int, number: int, *, limit: int) -> list[ArenaRound]:
        """Return rounds with a higher number, oldest first."""
        listing = select(ROUNDS).where(
            ROUNDS.c.contest_no == contest_no, _IS_ROUND, ROUNDS.c.number > number
        )
        return self._all(ArenaRound, listing.order_by(ROUNDS.c.number).limit(limit))

    def round_states(
        self, contest_no: int, *, before: int | None = None, limit: int = 100
    ) -> list[RoundState]:
        """Return rounds as :meth:`rounds` does, without reading their bodies."""
        listing = select(*_STATE).where(ROUNDS.c.contest_no == contest_no, _IS_ROUND)
        return self._all(RoundState, _newest_rounds(listing, before=before, limit=limit))

    def round_state(self, contest_no: int, number: int) -> RoundState:
        """Return a round without reading its body.

        Raises:
            NotFound: the contest has no such round.
        """
        asking = select(*_STATE).where(
            ROUNDS.c.contest_no == contest_no, _IS_ROUND, ROUNDS.c.number == number
        )
        row = self._transaction.first(asking)
        return entity_of(RoundState, require_round(row, f"r{number}"))

    def newest_attempt(self, contest_no: int, bot_id: str, *, limit: int) -> RoundState | None:
        """Return a bot's last attempt to qualify, if it is among the newest of the contest."""
        listing = select(*_STATE).where(
            ROUNDS.c.contest_no == contest_no, ROUNDS.c.kind == "qualification"
        )
        newest = self._all(RoundState, _newest_rounds(listing, before=None, limit=limit))
        return next((attempt for attempt in newest if attempt.summary.get("bot") == bot_id), None)

    def last_number(self, contest_no: int, *, prefix: str) -> int:
        """Return the highest number among the ids with a prefix, ``r`` or ``q``; 0: there is none.

        Earlier versions named attempts to qualify as rounds.
        """
        asking = select(func.max(ROUNDS.c.number)).where(
            ROUNDS.c.contest_no == contest_no, ROUNDS.c.id.startswith(prefix)
        )
        return self._transaction.scalar(asking) or 0


def _of(table: Table, contest_no: int, name: str) -> Select[Any]:
    return select(table).where(table.c.contest_no == contest_no, table.c.id == name)


def _newest_rounds(listing: Select[Any], *, before: int | None, limit: int) -> Select[Any]:
    if before is not None:
        listing = listing.where(ROUNDS.c.number < before)
    return listing.order_by(ROUNDS.c.number.desc()).limit(limit)
