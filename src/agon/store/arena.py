"""Store live arenas: bots, prompts, rounds and work."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, TypeVar

from sqlalchemy import Row, Select, Table, bindparam, func, select, update

from agon.entities.arena import (
    ArenaRound,
    HumanAnswer,
    LiveBot,
    Prompt,
    RoundPhase,
    RoundState,
    Work,
    WorkKind,
)
from agon.errors import NotFound
from agon.kernel.times import to_micros
from agon.store.arena_rows import StoredResult, columns_of, entity_of
from agon.store.connection.locks import lock_row
from agon.store.connection.transaction import Transaction, json_text, parse_json
from agon.store.schema import (
    HUMAN_ANSWERS,
    LIVE_BOTS,
    PRESENT_JUDGES,
    PROMPTS,
    ROUNDS,
    WORK,
)

T = TypeVar("T")

_BATCH: Final = 1_000
"""Number of ids one query asks for."""

_RESULT: Final = ("result", "result_at", "handed_in", "latency_ms")
"""Columns of the result of work."""


_STATE: Final = [ROUNDS.c[name] for name in RoundState.__dataclass_fields__]
"""Columns of a round without its body."""

_RESULT_COLUMNS: Final = [column for column in WORK.c if column.name not in {"body", "handed_in"}]
"""Columns of work without what was asked."""

_IS_ROUND: Final = ROUNDS.c.kind == "round"


class Arena:
    """Bots, prompts, rounds and work of live arenas in the database."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save_bot(self, bot: LiveBot) -> None:
        """Insert or update a bot."""
        self._transaction.upsert(LIVE_BOTS, columns_of(bot))

    def set_latencies(self, contest_no: int, latencies: Mapping[str, float]) -> None:
        """Store how long the last replies of bots took; owners may change these bots meanwhile."""
        changing = update(LIVE_BOTS).where(
            LIVE_BOTS.c.contest_no == contest_no, LIVE_BOTS.c.id == bindparam("bot")
        )
        rows = [{"bot": name, "milliseconds": value} for name, value in latencies.items()]
        self._transaction.change_many(changing.values(latency_ms=bindparam("milliseconds")), rows)

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
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
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

    def record_presence(self, contest_no: int, judge: str, at: datetime) -> None:
        """Record that a judge asked for work."""
        values = {"contest_no": contest_no, "id": judge, "seen_at": to_micros(at)}
        adding = self._transaction.insert(PRESENT_JUDGES).values(**values, recent_templates="[]")
        self._transaction.change(
            adding.on_conflict_do_update(
                index_elements=["contest_no", "id"], set_={"seen_at": values["seen_at"]}
            )
        )

    def recent_templates(
        self, contest_no: int, judges: Iterable[str]
    ) -> dict[str, tuple[str, ...]]:
        """Return the templates of honeypots that judges saw lately; of a bot, what the bot saw.

        Unknown judges are left out.
        """
        names, seen = sorted(set(judges)), dict[str, tuple[str, ...]]()
        for table in (PRESENT_JUDGES, LIVE_BOTS):
            for start in range(0, len(names), _BATCH):
                listing = select(table.c.id, table.c.recent_templates).where(
                    table.c.contest_no == contest_no, table.c.id.in_(names[start : start + _BATCH])
                )
                for row in self._transaction.all(listing):
                    seen[row.id] = tuple(parse_json(row.recent_templates))
        return seen

    def present(self, contest_no: int, *, since: datetime) -> frozenset[str]:
        """Return the judges that asked for work since a time."""
        asking = select(PRESENT_JUDGES.c.id).where(
            PRESENT_JUDGES.c.contest_no == contest_no, PRESENT_JUDGES.c.seen_at >= to_micros(since)
        )
        return frozenset(row.id for row in self._transaction.all(asking))

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

    def save_round(self, of: ArenaRound) -> None:
        """Insert or update a round."""
        self._transaction.upsert(ROUNDS, {**columns_of(of), "summary": json_text(of.summary)})

    def round(self, contest_no: int, round_id: str) -> ArenaRound:
        """Return a round or an attempt to qualify.

        Raises:
            NotFound: the contest has no such round.
        """
        row = self._transaction.first(_of(ROUNDS, contest_no, round_id))
        return entity_of(ArenaRound, _require_round(row, round_id))

    def phase(self, contest_no: int, round_id: str) -> RoundPhase:
        """Return the phase of a round or an attempt to qualify.

        Raises:
            NotFound: the contest has no such round.
        """
        asking = select(ROUNDS.c.phase).where(
            ROUNDS.c.contest_no == contest_no, ROUNDS.c.id == round_id
        )
        phase: RoundPhase = _require_round(self._transaction.first(asking), round_id).phase
        return phase

    def lock_round(self, contest_no: int, round_id: str) -> ArenaRound:
        """Return a round and lock it against other writers until the session ends.

        Raises:
            NotFound: the contest has no such round.
        """
        row = lock_row(self._transaction, _of(ROUNDS, contest_no, round_id), "rounds")
        return entity_of(ArenaRound, _require_round(row, round_id))

    def require_lock(self, contest_no: int, round_id: str) -> None:
        """Lock a round as :meth:`lock_round` does, without reading it.

        Raises:
            NotFound: the contest has no such round.
        """
        identity = select(ROUNDS.c.id).where(
            ROUNDS.c.contest_no == contest_no, ROUNDS.c.id == round_id
        )
        _require_round(lock_row(self._transaction, identity, "rounds"), round_id)

    def rounds(
        self, contest_no: int, *, kind: str = "round", before: int | None = None, limit: int = 100
    ) -> list[ArenaRound]:
        """Return rounds, newest first, those with a lower number."""
        listing = select(ROUNDS).where(ROUNDS.c.contest_no == contest_no, ROUNDS.c.kind == kind)
        return self._all(ArenaRound, _newest_rounds(listing, before=before, limit=limit))

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
        return entity_of(RoundState, _require_round(row, f"r{number}"))

    def last_number(self, contest_no: int) -> int:
        """Return the highest number of a round or an attempt to qualify; 0: there is none."""
        asking = select(func.max(ROUNDS.c.number)).where(ROUNDS.c.contest_no == contest_no)
        return self._transaction.scalar(asking) or 0

    def add_work(self, items: Iterable[Work]) -> None:
        """Insert work; what is assigned already stays as it is."""
        adding = self._transaction.insert(WORK).on_conflict_do_nothing()
        self._transaction.change_many(adding, [columns_of(item) for item in items])

    def work(self, work_id: str) -> Work:
        """Return a piece of work.

        Raises:
            NotFound: there is none of that id.
        """
        row = self._transaction.first(select(WORK).where(WORK.c.id == work_id))
        if row is None:
            raise NotFound(f"there is no work {work_id!r}; ask for the work that waits")
        return entity_of(Work, row)

    def results_of(self, contest_no: int, round_id: str, kind: WorkKind) -> list[Work]:
        """Return a round's work of a kind, by match and assignee, without what was asked."""
        listing = select(*_RESULT_COLUMNS).where(
            WORK.c.contest_no == contest_no, WORK.c.round == round_id, WORK.c.kind == kind
        )
        rows = self._transaction.all(listing.order_by(WORK.c.match, WORK.c.assignee))
        return [entity_of(Work, row, body={}) for row in rows]

    def stated_versions(self, contest_no: int, round_id: str) -> dict[str, str]:
        """Return the last version that each bot stated in its replies of a round."""
        listing = select(WORK.c.assignee, WORK.c.result).where(
            WORK.c.contest_no == contest_no,
            WORK.c.round == round_id,
            WORK.c.result.like('%"version"%'),
        ).order_by(WORK.c.created_at, WORK.c.match, WORK.c.kind)  # fmt: skip
        results = [(row.assignee, parse_json(row.result)) for row in self._transaction.all(listing)]
        return {name: result["version"] for name, result in results if "version" in result}

    def work_to_send(self, contest_no: int, round_id: str) -> list[Work]:
        """Return the work of a round for endpoints that has no result, by match and assignee."""
        listing = select(WORK).where(
            WORK.c.contest_no == contest_no,
            WORK.c.round == round_id,
            WORK.c.pushed.is_(True),
            WORK.c.result.is_(None),
        )
        return self._all(Work, listing.order_by(WORK.c.match, WORK.c.assignee))

    def waiting_work(self, contest_no: int, assignee: str, *, now: datetime) -> list[Work]:
        """Return what an assignee has to do before a deadline to come, oldest first."""
        listing = select(WORK).where(
            WORK.c.contest_no == contest_no,
            WORK.c.assignee == assignee,
            WORK.c.result.is_(None),
            WORK.c.deadline > to_micros(now),
            WORK.c.pushed.is_(False),
        )
        return self._all(Work, listing.order_by(WORK.c.created_at, WORK.c.id))

    def assignees(self, *, now: datetime) -> set[tuple[int, str]]:
        """Return contest and assignee of all work that is asked for and has no result in time."""
        asking = select(WORK.c.contest_no, WORK.c.assignee).distinct()
        asking = asking.where(
            WORK.c.result.is_(None), WORK.c.deadline > to_micros(now), WORK.c.pushed.is_(False)
        )
        return {(row.contest_no, row.assignee) for row in self._transaction.all(asking)}

    def waiting_count(self, contest_no: int, round_id: str) -> int:
        """Return how much work of a round has no result."""
        waiting = _waiting(contest_no, round_id).subquery()
        return self._transaction.scalar(select(func.count()).select_from(waiting)) or 0

    def latencies(self, contest_no: int) -> list[tuple[WorkKind, str, float]]:
        """Return kind, assignee and milliseconds of all work that was done without a fault.

        For work that was not sent to an endpoint, it is the time from its assignment.
        """
        listing = select(WORK.c.kind, WORK.c.assignee, WORK.c.latency_ms, WORK.c.created_at,
                         WORK.c.result_at).where(
            WORK.c.contest_no == contest_no,
            WORK.c.result.is_not(None),
            WORK.c.result.not_like('{"fault"%'),
        ).order_by(WORK.c.assignee, WORK.c.kind)  # fmt: skip
        return [
            (row.kind, row.assignee, row.latency_ms or (row.result_at - row.created_at) / 1000)
            for row in self._transaction.all(listing)
        ]

    def set_result(self, done: Work) -> StoredResult:
        """Store the result of work whose round is locked, unless it has one; a single statement."""
        written = columns_of(done)
        others = _waiting(done.contest_no, done.round, other_than=done.id).exists()
        row = self._transaction.first(
            update(WORK)
            .where(WORK.c.id == done.id, WORK.c.result.is_(None))
            .values({name: written[name] for name in _RESULT})
            .returning(others.label("waits"))
        )
        return StoredResult(is_stored=row is not None, is_last=row is not None and not row.waits)

    def set_results(self, done: Sequence[Work]) -> list[Work]:
        """Store the results of work that has none, whose round is locked; return that work."""
        missing = select(WORK.c.id).where(
            WORK.c.id.in_([each.id for each in done]), WORK.c.result.is_(None)
        )
        ids = {row.id for row in self._transaction.all(missing)}
        saved = [each for each in done if each.id in ids]
        changing = update(WORK).where(WORK.c.id == bindparam("work_id"))
        rows = []
        for each in saved:
            written = columns_of(each)
            rows.append({"work_id": each.id, **{f"new_{name}": written[name] for name in _RESULT}})
        values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _RESULT}
        self._transaction.change_many(changing.values(**values), rows)
        return saved

    def _all(self, kind: type[T], listing: Select[Any]) -> list[T]:
        return [entity_of(kind, row) for row in self._transaction.all(listing)]


def _of(table: Table, contest_no: int, name: str) -> Select[Any]:
    return select(table).where(table.c.contest_no == contest_no, table.c.id == name)


def _newest_rounds(listing: Select[Any], *, before: int | None, limit: int) -> Select[Any]:
    if before is not None:
        listing = listing.where(ROUNDS.c.number < before)
    return listing.order_by(ROUNDS.c.number.desc()).limit(limit)


def _waiting(contest_no: int, round_id: str, *, other_than: str = "") -> Select[Any]:
    """Return the query for work of a round without a result; it may be a part of an UPDATE."""
    work = WORK.alias("waiting")
    return select(work.c.id).where(
        work.c.contest_no == contest_no,
        work.c.round == round_id,
        work.c.result.is_(None),
        work.c.id != other_than,
    )


def _require_round(row: Row[Any] | None, round_id: str) -> Row[Any]:
    if row is None:
        raise NotFound(f"the contest has no round {round_id!r}; list its rounds")
    return row
