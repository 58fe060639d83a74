"""Score agent competitions on a network with stakes: evaluations become weights (document 001)."""

from agon.disciplines.capabilities import (
    BoardTraits,
    Demo,
    Epochs,
    Findings,
    Simulator,
    Submissions,
)
from agon.disciplines.challenge.columns import COLUMNS, row_label
from agon.disciplines.challenge.records import SCHEMA, SERVICE_VALIDATOR
from agon.disciplines.challenge.rules import BOARDS, ChallengeRules
from agon.disciplines.definition import Discipline, PackageParts
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
    findings=Findings(find=_PARTS.find, checks=_PARTS.checks),
    simulator=Simulator(simulate=_PARTS.simulate, size_unit="evaluations", attacks=_PARTS.attacks),
    participants=("submissions.miner_uid", "validators.id"),
    traits=BoardTraits(
        columns=COLUMNS,
        ids={
            "weights": "submissions.miner_uid",
            "submissions": "submissions.id",
            "validators": "validators.id",
            "competitions": "competitions.id",
        },
        label=row_label,
    ),
    written_by={
        "submissions": Owner(protocol=_TRIALS),
        "evaluations": _OWN_RESULTS,
        "task_results": _OWN_RESULTS,
        "validators": SENT,
        "competitions": SENT,
        "registrations": SENT,
        "task_rewards": _OWN_RESULTS,
    },
    submissions=Submissions(
        judging="trials", fields=("miner_uid", "agent", "competition"), table="submissions"
    ),
    epochs=Epochs(
        weights="weights",
        submissions="submissions",
        validators="validators",
        competitions="competitions",
    ),
    demo=Demo(
        title="Coding agents on a network",
        size=1_500,
        seed=6,
        attacks=("self-serving-validator", "copied-agent"),
        # Scores that are near each other, and long seasons, hide the strategy and the decay.
        overrides={
            "strategy": "quadratic",
            "improvement_threshold": 0.03,
            "grace_epochs": 3,
            "decay_rate": 0.02,
        },
        days_left=3,
        commands=(
            "agon challenge weights {source} --bittensor",
            (
                "agon score challenge {source} --set strategy=quadratic --set grace_epochs=3 "
                "--set improvement_threshold=0.03 --set decay_rate=0.02"
            ),
        ),
    ),
)
