"""The statistics of an arena's judges, and the rules that keep one from the pool."""

from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from agon.app.access.permissions import View
from agon.app.arena.judging.measurements import MEASURES, measure
from agon.app.arena.live.entrants.eligibility import judge_obstacles
from agon.app.arena.matches import open_arena
from agon.app.contests.ledgers.positions import last_readable_seq, require_storable_name
from agon.app.service import Service
from agon.disciplines.arena.boards import API_JUDGE
from agon.disciplines.arena.facts import API
from agon.disciplines.arena.formulas import NONE
from agon.disciplines.arena.judges.judge_figures import judge_figures
from agon.disciplines.arena.judges.pool import candidates_of, obstacles
from agon.disciplines.arena.records import JUDGE_KINDS
from agon.disciplines.arena.scoring import ScoredArena
from agon.entities.arena_reports import JudgeReport
from agon.errors import NotFound
from agon.kernel.figures import JudgeFigure


def judge_of(
    service: Service, view: View, judge_id: str, *, as_of: str | None = None
) -> JudgeReport:
    """Return how a judge judges, at the position of the published boards.

    Of a model judge the measurements of the service are added: they are of all contests.

    Raises:
        NotFound: there is no such judge, or nothing was published yet.
        Conflict: the contest is no arena.
        Unreadable: ``as_of`` is neither a position nor a time.
    """
    require_storable_name(judge_id)
    with open_arena(service, view, as_of) as (arena, _, snapshot):
        facts = arena.facts
        ids = pc.cast(facts.judges.ids, pa.string())
        number = int(pc.index(ids, pa.scalar(judge_id, pa.string())).as_py())
        if number == NONE:
            raise NotFound(f"there is no judge {judge_id!r}; see the board of judges")
        figures = judge_figures(number, facts=facts, results=arena.results, rules=arena.rules)
        kind = JUDGE_KINDS[int(facts.judges.kind[number])]
        is_now = as_of is None and last_readable_seq(view) is None
        reasons: tuple[str, ...] = (API_JUDGE,)
        if facts.judges.kind[number] != API:
            reasons = _obstacles(
                service, view, arena, judge_id, None if is_now else snapshot.published_at
            )
        return JudgeReport(
            id=judge_id,
            kind=kind,
            figures=(*figures, *_measurements(service, arena, judge_id)),
            obstacles=reasons,
        )


def _obstacles(
    service: Service, view: View, arena: ScoredArena, judge: str, at: datetime | None
) -> tuple[str, ...]:
    """Return what keeps a judge from the pool now, or kept it at a time by the records alone."""
    if at is None:
        with service.store.read() as session:
            answer = judge_obstacles(session, view.contest, judge, scored=arena, at=service.clock())
        return answer or ()
    candidates = candidates_of(
        arena.facts, arena.standings.games, arena.credibilities, arena.rules, only={judge}
    )
    return tuple(
        reason for each in candidates for reason in obstacles(each, at=at, rules=arena.rules)
    )


def _measurements(service: Service, arena: ScoredArena, judge_id: str) -> tuple[JudgeFigure, ...]:
    """Return the standing measurements of a model judge; none of others."""
    with service.store.read() as session:
        counts = [count for count in session.judging.counts() if count.judge == judge_id]
    return tuple(
        JudgeFigure(
            name={"flip": "flip rate"}.get(each.measure, f"model: {each.measure}"),
            value=each.share,
            low=each.interval.low,
            high=each.interval.high,
            cases=each.trials,
            meaning=MEASURES[each.measure],
        )
        for each in measure(counts, confidence=arena.rules.confidence)
    )
