"""Rank bots by Elo and judges by credibility: two bots answer, judges pick the more human."""

from collections.abc import Mapping
from typing import Any

from agon.disciplines.arena.ballots import obstacle
from agon.disciplines.arena.columns import COLUMNS
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import BOARDS, ArenaRules
from agon.disciplines.capabilities import (
    BoardTraits,
    Demo,
    Findings,
    Names,
    PersonalData,
    Rounds,
    ScoredRecords,
    Simulator,
)
from agon.disciplines.definition import Discipline, PackageParts
from agon.disciplines.ownership import SENT, Ballot, LiveProtocol, Owner

_PARTS = PackageParts(__name__)
_ROUNDS = LiveProtocol(
    name="rounds",
    begins=("draw-committed",),
    operations=("drawRound", "handIn", "completeJob"),
    instead="judges vote on the matches they are asked about",
)


def _intervals(board: str, rules: Any) -> Mapping[str, Any] | None:
    from agon.disciplines.arena.ratings import strengths

    return strengths.intervals_of(board, rules)


def _score_contest(records: Any, rules: Any) -> ScoredRecords:
    from agon.disciplines.arena import scoring

    return scoring.score_contest(records, rules)


def _further_columns(rules: Any) -> Mapping[str, str]:
    from agon.disciplines.arena.ratings import covariates

    return covariates.columns_of(rules)


def _rules_obstacle(rules: Any) -> str | None:
    from agon.disciplines.arena.ratings import covariates

    return covariates.obstacle_to_controls(rules)


DISCIPLINE = Discipline(
    name="arena",
    summary="Bots answer the same prompts; judges choose, and ratings follow.",
    schema=SCHEMA,
    rules=ArenaRules,
    boards=BOARDS,
    score=_PARTS.score,
    score_contest=_score_contest,
    further_columns=_further_columns,
    rules_obstacle=_rules_obstacle,
    findings=Findings(find=_PARTS.find, checks=_PARTS.checks),
    simulator=Simulator(simulate=_PARTS.simulate, size_unit="matches", attacks=_PARTS.attacks),
    participants=("bots.id", "judges.id", "votes.judge_id", "reinstatements.judge_id"),
    traits=BoardTraits(
        ids={"bots": "bots.id", "judges": "judges.id", "bradley-terry": "bots.id"},
        columns=COLUMNS,
        shares_ranks=lambda _: True,
        intervals=_intervals,
        relational=True,
    ),
    names=Names(column="bots.name", shown=True),
    personal=PersonalData(people=("owners.id",), addresses={"owners": ("ip", "network")}),
    written_by={
        "owners": Owner(also=("registerBot",)),
        "bots": Owner(also=("registerBot", "changeBot", "qualifyBot")),
        "judges": Owner(also=("drawRound",)),
        "matches": Owner(protocol=_ROUNDS),
        "votes": Owner(protocol=_ROUNDS),
        "reinstatements": SENT,
        "versions": Owner(also=("changeBot", "handIn")),
    },
    ballot=Ballot(table="votes", voter="judge_id", obstacle=obstacle),
    rounds=Rounds(
        matches="matches",
        votes="votes",
        ratings="bots",
        strengths="bradley-terry",
        judges="judges",
    ),
    demo=Demo(
        title="Language models, judged by a crowd",
        dataset="llmfao",
        days_left=0,
        commands=(
            "agon score arena {source} --board judges --top 5",
            "agon arena rate {source} --method bradley-terry --ci --top 10",
        ),
    ),
)
