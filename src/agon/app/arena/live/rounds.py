"""Play a round step by step; each step is a job that is stored completely or not at all.

A job does its input and output outside of any transaction and then, with the round locked, moves it
as far as what is stored allows. So a job that is run again, or one more job than needed, changes
nothing: every step follows from the round and its work in the database.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from agon.app.arena.live.answers import assign_answers, judge_answers
from agon.app.arena.live.beginning import commit_round, draw, read_scores
from agon.app.arena.live.earlier_answers import earlier_answers
from agon.app.arena.live.honeypots.texts import HoneypotTexts
from agon.app.arena.live.models import ask_models, needs_models, store_models
from agon.app.arena.live.network.asking import ask_endpoints
from agon.app.arena.live.network.ports import ArenaPorts
from agon.app.arena.live.network.results import expire, stop
from agon.app.arena.live.qualification import commit_qualification
from agon.app.arena.live.settlement import settle
from agon.app.arena.live.votes import advance_votes, is_judged
from agon.app.queue.jobs import round_job
from agon.app.queue.source import Assignment, JobProgress
from agon.entities.arena import ArenaRound, Work, WorkKind
from agon.entities.contests import Contest
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

GRACE: Final = timedelta(seconds=1)
"""How long after a deadline a reply that arrived before it may be stored."""

MODEL_RETRY: Final = timedelta(minutes=1)
"""Time between two tries to have a round judged by a model that is not available."""


def play(
    service: "Service", ports: ArenaPorts
) -> Callable[[Assignment, JobProgress], Mapping[str, Any]]:
    """Return the function that does the input and output of a round's step."""

    def run(assignment: Assignment, progress: JobProgress) -> Mapping[str, Any]:
        payload = assignment.payload
        if payload["round"] is None:
            return read_scores(service, payload["contest"], has_model=ports.judge is not None)
        with service.store.read() as session:
            contest = session.contests.get(payload["contest"])
            phase = session.arena.phase(contest.no, payload["round"])
            if contest.is_over:
                return {}
            judging = phase == "judging" and payload["ask"]
            current = session.arena.round(contest.no, payload["round"]) if judging else None
        if current is not None:
            return {"models": ask_models(ports, current, at=service.clock())}
        if payload["ask"] and phase in {"answering", "voting"}:
            count = ask_endpoints(service, ports, contest, payload["round"], check=progress.check)
            return {"asked": count}
        return {}

    return run


def advance(
    service: "Service",
    session: Session,
    payload: Mapping[str, Any],
    outcome: Mapping[str, Any],
    *,
    by: str,
) -> Mapping[str, Any]:
    """Move a round as far as its stored work allows, and queue its next steps.

    Raises:
        Conflict: a new round cannot begin.
    """
    if payload.get("qualify") is not None:
        return commit_qualification(service, session, payload, outcome, by=by)
    if payload["round"] is None:
        return commit_round(
            service, session, payload["contest"], outcome, automatic=payload["automatic"], by=by
        )
    contest = session.contests.lock(payload["contest"])
    phase = session.arena.phase(contest.no, payload["round"])
    if phase == "settled" or contest.is_over:  # a timer, mostly
        return {"round": payload["round"], "phase": phase}
    before = session.arena.lock_round(contest.no, payload["round"])
    after = _Steps(service, session, contest).step(before, outcome)
    if after != before:
        session.arena.save_round(after)
    return {"round": after.id, "phase": after.phase}


@dataclass(frozen=True)
class _Steps:
    """The steps of the rounds of a locked contest; each returns the round as it is after it."""

    service: "Service"
    session: Session
    contest: Contest

    def step(self, arena_round: ArenaRound, outcome: Mapping[str, Any]) -> ArenaRound:
        """Do the step of the round's phase; ``outcome`` is what its job found outside."""
        match arena_round.phase:
            case "committed":
                drawn = draw(self.service, self.session, self.contest, arena_round)
                return self._ask_answers(drawn)
            case "answering":
                return self._answer(arena_round)
            case "voting":
                return self._vote(arena_round)
            case "judging":
                return self._judge(arena_round, outcome)
            case _:  # settling: a settled round has no further step
                return settle(self.service, self.session, self.contest, arena_round)

    def _ask_answers(self, arena_round: ArenaRound) -> ArenaRound:
        deadline = assign_answers(self.service, self.session, self.contest, arena_round)
        self._queue(arena_round, ask=True)
        self._queue(arena_round, not_before=deadline + GRACE)
        return replace(arena_round, phase="answering")

    def _answer(self, arena_round: ArenaRound) -> ArenaRound:
        items = self._expire(arena_round, "answer")
        if any(item.result is None for item in items):
            return arena_round
        answered = judge_answers(
            self.service,
            self.contest,
            arena_round,
            items,
            HoneypotTexts(self.session, self.contest, arena_round),
            earlier=earlier_answers(self.service, self.session, self.contest, arena_round),
        )
        return self._vote(replace(answered, phase="voting"))

    def _vote(self, arena_round: ArenaRound) -> ArenaRound:
        votes = self._expire(arena_round, "vote")
        voted, new = advance_votes(self.service, self.session, self.contest, arena_round, votes)
        if any(item.pushed for item in new):
            self._queue(arena_round, ask=True)
        if new:
            self._queue(arena_round, not_before=new[0].deadline + GRACE)
        if not is_judged(voted):
            return voted
        # A round that needs no model waits for a job as well: if it were settled here, a reader of
        # one between voting and settlement would know that a match of it is audited.
        phase = replace(voted, phase="judging" if needs_models(voted) else "settling")
        self._queue(phase, ask=phase.phase == "judging")
        return phase

    def _judge(self, arena_round: ArenaRound, outcome: Mapping[str, Any]) -> ArenaRound:
        models = outcome.get("models")
        if models is None:
            return arena_round
        judged = store_models(self.session, self.contest, arena_round, models)
        if judged.body["waits_for"] is not None:
            time = self.service.clock() + MODEL_RETRY
            self._queue(arena_round, ask=True, not_before=time)
            return judged
        settling = replace(judged, phase="settling")
        self._queue(settling)
        return settling

    def _expire(self, arena_round: ArenaRound, kind: WorkKind) -> list[Work]:
        """Give late work, and that of withdrawn people, a fault; return all of a round and a kind.

        What is open has a job queued for its deadline. The one queued before may have run too
        early: work that a clock made while it ran ahead has its whole time again once the clock is
        right.
        """
        now = self.service.clock()
        items = self.session.arena.results_of(self.contest.no, arena_round.id, kind)
        if any(item.result is None and item.created_at > now for item in items):
            self.session.arena.restart_work(self.contest.no, now=now, made_after=now)
            items = self.session.arena.results_of(self.contest.no, arena_round.id, kind)
        late = [
            item
            for item in items
            if item.result is None
            and item.deadline + (GRACE if item.pushed else timedelta()) <= now
        ]
        done = [expire(item, now) for item in late]
        done += [stop(item, now) for item in self._of_withdrawn(items) if item not in late]
        self.session.arena.set_results(done)
        ended = {item.id for item in done}
        for deadline in {
            item.deadline for item in items if item.result is None and item.id not in ended
        }:
            self._queue(arena_round, not_before=deadline + GRACE)
        return (
            self.session.arena.results_of(self.contest.no, arena_round.id, kind) if done else items
        )

    def _of_withdrawn(self, items: Sequence[Work]) -> list[Work]:
        """Return the open work of people whom organizers withdrew, and of their bots."""
        withdrawn = self.session.members.withdrawn(self.contest.no)
        if not withdrawn:
            return []
        assignees = {item.assignee for item in items}
        bots = self.session.arena.bots_named(self.contest.no, assignees)
        stopped = withdrawn | {bot.id for bot in bots.values() if bot.is_of(withdrawn)}
        return [item for item in items if item.result is None and item.assignee in stopped]

    def _queue(
        self, arena_round: ArenaRound, *, ask: bool = False, not_before: datetime | None = None
    ) -> None:
        new_id = self.service.new_id()
        job = round_job(
            self.contest, id=new_id, round_id=arena_round.id, ask=ask, not_before=not_before
        )
        self.session.queue.add(job, now=self.service.clock())
