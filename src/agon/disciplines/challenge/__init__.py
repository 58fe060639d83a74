"""Score agent competitions on a stake-weighted network: evaluations become weights (seed 001)."""

from agon.disciplines.challenge.integrity import CHECKS, find
from agon.disciplines.challenge.records import SCHEMA
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.scoring import BOARDS, score
from agon.disciplines.challenge.simulate import ATTACKS, simulate
from agon.disciplines.definition import Demo, Discipline, SubmissionKind

DISCIPLINE = Discipline(
    name="challenge",
    schema=SCHEMA,
    rules=ChallengeRules,
    boards=BOARDS,
    score=score,
    find=find,
    simulate=simulate,
    size_unit="evaluations",
    checks=CHECKS,
    attacks=ATTACKS,
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
