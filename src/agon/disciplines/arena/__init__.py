"""Rank bots by Elo and judges by credibility: two bots answer, judges pick the more human."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import BOARDS, ArenaRules
from agon.disciplines.definition import Demo, Discipline, LazyMapping, ScoredRecords, Simulation

if TYPE_CHECKING:
    from agon.kernel.findings import Finding
    from agon.records import Records


def _score(records: "Records", rules: Any) -> ScoredRecords:
    from agon.disciplines.arena import scoring

    return scoring.score(records, rules)


def _find(records: "Records", rules: Any) -> "list[Finding]":
    from agon.disciplines.arena import integrity

    return integrity.find(records, rules)


def _checks() -> Mapping[str, str]:
    from agon.disciplines.arena import integrity

    return integrity.CHECKS


def _simulate(*, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
    from agon.disciplines.arena import simulate

    return simulate.simulate(size=size, seed=seed, attacks=attacks)


def _attacks() -> Mapping[str, str]:
    from agon.disciplines.arena import simulate

    return simulate.ATTACKS


def _intervals(board: str, rules: Any) -> Mapping[str, Any] | None:
    from agon.disciplines.arena import strengths

    return strengths.intervals_of(board, rules)


DISCIPLINE = Discipline(
    name="arena",
    schema=SCHEMA,
    rules=ArenaRules,
    boards=BOARDS,
    score=_score,
    find=_find,
    simulate=_simulate,
    size_unit="matches",
    checks=LazyMapping(_checks),
    attacks=LazyMapping(_attacks),
    participants=("bots.id", "judges.id", "votes.judge_id", "reinstatements.judge_id"),
    board_ids={"bots": "bots.id", "judges": "judges.id", "bradley-terry": "bots.id"},
    shares_ranks=lambda _: True,
    intervals=_intervals,
    addresses={"owners": ("ip", "network")},
    demo=Demo(
        dataset="llmfao",
        commands=(
            "agon score arena {source} --board judges --top 5",
            "agon arena rate {source} --method bradley-terry --ci --top 10",
        ),
    ),
)
"""The discipline ``arena``."""
