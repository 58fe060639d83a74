"""Score agent competitions on a stake-weighted network: evaluations become weights (seed 001)."""

from agon.disciplines.challenge.columns import COLUMNS
from agon.disciplines.challenge.records import SCHEMA, SERVICE_VALIDATOR
from agon.disciplines.challenge.rules import BOARDS, ChallengeRules
from agon.disciplines.definition import (
    Demo,
    Discipline,
    PackageParts,
    SubmissionKind,
)
from agon.disciplines.ownership import SENT, LiveProtocol, Owner

_PARTS = PackageParts(__name__)
_TRIALS = LiveProtocol(
    name="trials",
    begins=("submission-received",),
    operations=("submit", "completeJob"),
    instead="send agents as submissions, and the results of other validators as theirs",
)
_OWN_RESULTS = Owner(protocol=_TRIALS, column="validator_id", value=SERVICE_VALIDATOR)


DISCIPLINE = Discipline(
    name="challenge",
    summary="Agents solve tasks; validators evaluate them, and the best share each epoch's pay.",
    schema=SCHEMA,
    rules=ChallengeRules,
    boards=BOARDS,
    score=_PARTS.score,
    find=_PARTS.find,
    simulate=_PARTS.simulate,
    size_unit="evaluations",
    checks=_PARTS.checks,
    attacks=_PARTS.attacks,
    columns=COLUMNS,
    participants=("submissions.miner_uid", "validators.id"),
    board_ids={
        "weights": "submissions.miner_uid",
        "submissions": "submissions.id",
        "validators": "validators.id",
        "competitions": "competitions.id",
    },
    written_by={
        "submissions": Owner(protocol=_TRIALS),
        "evaluations": _OWN_RESULTS,
        "task_results": _OWN_RESULTS,
        "validators": SENT,
        "competitions": SENT,
    },
    submissions=SubmissionKind("trials", fields=("miner_uid", "agent", "competition")),
    demo=Demo(
        size=6_000,
        attacks=("self-serving-validator", "copied-agent"),
        commands=("agon challenge weights {source} --bittensor",),
    ),
)
