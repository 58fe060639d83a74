"""Score agent competitions on a stake-weighted network: evaluations become weights (seed 001)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agon.disciplines.challenge.records import SCHEMA
from agon.disciplines.challenge.rules import BOARDS, ChallengeRules
from agon.disciplines.definition import (
    Demo,
    Discipline,
    LazyMapping,
    ScoredRecords,
    Simulation,
    SubmissionKind,
)

if TYPE_CHECKING:
    from agon.kernel.findings import Finding
    from agon.records import Records


def _score(records: "Records", rules: Any) -> ScoredRecords:
    from agon.disciplines.challenge import scoring

    return scoring.score(records, rules)


def _find(records: "Records", rules: Any) -> "list[Finding]":
    from agon.disciplines.challenge import integrity

    return integrity.find(records, rules)


def _checks() -> Mapping[str, str]:
    from agon.disciplines.challenge import integrity

    return integrity.CHECKS


def _simulate(*, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
    from agon.disciplines.challenge import simulate

    return simulate.simulate(size=size, seed=seed, attacks=attacks)


def _attacks() -> Mapping[str, str]:
    from agon.disciplines.challenge import simulate

    return simulate.ATTACKS


DISCIPLINE = Discipline(
    name="challenge",
    schema=SCHEMA,
    rules=ChallengeRules,
    boards=BOARDS,
    score=_score,
    find=_find,
    simulate=_simulate,
    size_unit="evaluations",
    checks=LazyMapping(_checks),
    attacks=LazyMapping(_attacks),
    participants=("submissions.miner_uid", "validators.id"),
    board_ids={
        "weights": "submissions.miner_uid",
        "submissions": "submissions.id",
        "validators": "validators.id",
        "competitions": "competitions.id",
    },
    submissions=SubmissionKind("trials", fields=("miner_uid", "agent", "competition")),
    demo=Demo(
        size=6_000,
        attacks=("self-serving-validator", "copied-agent"),
        commands=("agon challenge weights {source} --bittensor",),
    ),
)
"""The discipline ``challenge``."""
