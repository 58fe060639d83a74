"""Describe the tables the challenge scores."""

from agon.records import Column, CrossRowCheck, Kind, RowCheck, Schema, Table
from agon.records.conditions import Compare, IsNull

MAIN = "main"
"""The competition of submissions that name none."""

SERVICE_VALIDATOR = "house"
"""The validator in whose name the service's own trials are recorded; its stake is a record."""

SHARES_MAY_EXCEED = 1e-9
"""Tolerance of the sum of emission shares above 1, for the noise of adding decimals."""

MAX_STAKE = 1e100
"""No coin has that many of its smallest parts; sums and products of such stakes stay finite."""

_MAX_RULE_VALUE = 10**9
_EPOCH = Column(
    "epoch",
    Kind.INTEGER,
    required=False,
    low=-(10**15),
    high=10**15,
    meaning="The epoch.",
    empty="epoch 0",
)

_RULES = (
    Column(
        "evaluation_window",
        Kind.INTEGER,
        required=False,
        low=1,
        high=_MAX_RULE_VALUE,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "min_validators",
        Kind.INTEGER,
        required=False,
        low=1,
        high=_MAX_RULE_VALUE,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "zero_stake_counts",
        Kind.BOOLEAN,
        required=False,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "outlier_threshold",
        Kind.NUMBER,
        required=False,
        low=0,
        high=_MAX_RULE_VALUE,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "outlier_min_values",
        Kind.INTEGER,
        required=False,
        low=2,
        high=_MAX_RULE_VALUE,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "mad_when_zero",
        Kind.NUMBER,
        required=False,
        low=0,
        high=_MAX_RULE_VALUE,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "outlier_weights",
        Kind.TEXT,
        required=False,
        choices=("equal", "stake"),
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "exclude_outliers",
        Kind.BOOLEAN,
        required=False,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "min_stake_fraction",
        Kind.NUMBER,
        required=False,
        low=0,
        high=1,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "min_stake_of",
        Kind.TEXT,
        required=False,
        choices=("submission", "validator"),
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "mean_over",
        Kind.TEXT,
        required=False,
        choices=("included", "reported"),
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "strategy",
        Kind.TEXT,
        required=False,
        choices=("linear", "winner_takes_all", "quadratic", "ranked"),
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "ranked_zero",
        Kind.TEXT,
        required=False,
        choices=("paid", "unpaid"),
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "top_n",
        Kind.INTEGER,
        required=False,
        low=1,
        high=_MAX_RULE_VALUE,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "improvement_threshold",
        Kind.NUMBER,
        required=False,
        low=0,
        high=10,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "improvement",
        Kind.TEXT,
        required=False,
        choices=("relative", "absolute"),
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "improvement_by",
        Kind.TEXT,
        required=False,
        choices=("new_agent", "any"),
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "improvement_stake",
        Kind.NUMBER,
        required=False,
        low=0,
        high=1,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "grace_epochs",
        Kind.INTEGER,
        required=False,
        low=0,
        high=_MAX_RULE_VALUE,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "decay_curve",
        Kind.TEXT,
        required=False,
        choices=("linear", "exponential"),
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "decay_rate",
        Kind.NUMBER,
        required=False,
        low=0,
        high=1,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "max_burn",
        Kind.NUMBER,
        required=False,
        low=0,
        high=100,
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
    Column(
        "burn_application",
        Kind.TEXT,
        required=False,
        choices=("scaled", "added"),
        meaning="Rule of that name, for the competition.",
        empty="the rule of the edition",
    ),
)
"""One column for every rule a competition may set for itself."""

_NETWORK = (
    Column(
        "weight_cap",
        Kind.NUMBER,
        required=False,
        meaning="Rejected: a rule of the network.",
        empty="as it must be",
    ),
    Column(
        "cap_excess",
        Kind.TEXT,
        required=False,
        meaning="Rejected: a rule of the network.",
        empty="as it must be",
    ),
    Column(
        "rounding",
        Kind.TEXT,
        required=False,
        meaning="Rejected: a rule of the network.",
        empty="as it must be",
    ),
)
"""Rules of the network that a competition cannot set; they are rejected rather than ignored."""

SUBMISSIONS = Table(
    "submissions",
    (
        Column("id", Kind.ID, meaning="The submission."),
        Column("miner_uid", Kind.INTEGER, low=0, meaning="Number of the miner on the network."),
        Column("submitted_at", Kind.TIMESTAMP, meaning="Time of the submission."),
        Column("competition", Kind.ID, required=False, meaning="The competition.", empty="main"),
        Column(
            "content_hash",
            Kind.TEXT,
            required=False,
            meaning="Hash of what was submitted; equal hashes are copies.",
            empty="unknown; not compared with others",
        ),
        Column(
            "source",
            Kind.TEXT,
            required=False,
            meaning="The source of the agent.",
            empty="unknown; not compared with others",
        ),
        Column(
            "uid_from",
            Kind.TEXT,
            required=False,
            choices=("subnet", "import"),
            meaning="Origin of miner_uid: the subnet, or the numbers of an import.",
            empty="subnet",
        ),
    ),
    required=True,
    key=("id",),
    time="submitted_at",
    checks=(
        CrossRowCheck(
            "competition",
            f"coalesce(competition::VARCHAR, '{MAIN}') NOT IN (SELECT id::VARCHAR "
            f"FROM {{competitions}} UNION ALL SELECT '{MAIN}' "
            "WHERE NOT EXISTS (SELECT 1 FROM {competitions}))",
            ("competitions",),
            "is not among the competitions",
            f"give an id of the table competitions; without that table there is one, {MAIN}, "
            f"and empty means {MAIN}",
            columns=("competition",),
        ),
    ),
    meaning="The submissions that validators evaluate.",
)

EVALUATIONS = Table(
    "evaluations",
    (
        Column("submission_id", Kind.ID, references="submissions.id", meaning="The submission."),
        Column("validator_id", Kind.ID, references="validators.id", meaning="The validator."),
        Column("score", Kind.NUMBER, low=0, high=1, meaning="The score."),
        _EPOCH,
        Column(
            "evaluated_at",
            Kind.TIMESTAMP,
            required=False,
            meaning="Time of the evaluation.",
            empty="unknown; before all known times",
        ),
    ),
    time="evaluated_at",
    order_within=("submission_id", "validator_id", "epoch", "evaluated_at"),
    meaning="The scores that validators gave to submissions.",
)

TASK_RESULTS = Table(
    "task_results",
    (
        Column("submission_id", Kind.ID, references="submissions.id", meaning="The submission."),
        Column("validator_id", Kind.ID, references="validators.id", meaning="The validator."),
        Column("task_id", Kind.ID, meaning="The task."),
        Column("passed", Kind.BOOLEAN, meaning="Whether the submission passed the task."),
    ),
    key=("submission_id", "validator_id", "task_id"),
    meaning="The results of single tasks, from which evaluations are computed.",
)

_STAKE_OF = "(id::VARCHAR || ' ' || coalesce(epoch, 0))"

VALIDATORS = Table(
    "validators",
    (
        Column("id", Kind.ID, meaning="The validator."),
        Column(
            "stake",
            Kind.NUMBER,
            low=0,
            high=MAX_STAKE,
            meaning="Stake of the validator from this epoch on.",
        ),
        _EPOCH,
    ),
    required=True,
    checks=(
        CrossRowCheck(
            "id",
            f"{_STAKE_OF} IN (SELECT {_STAKE_OF} FROM {{validators}} "
            f"GROUP BY {_STAKE_OF} HAVING count(*) > 1)",
            ("validators",),
            "has more than one stake in the same epoch",
            "give each validator one row per epoch (no epoch means epoch 0)",
            columns=("id", "epoch"),
        ),
    ),
    meaning="The validators with their stakes by epoch.",
)

COMPETITIONS = Table(
    "competitions",
    (
        Column("id", Kind.ID, meaning="The competition."),
        Column(
            "emission_share",
            Kind.NUMBER,
            low=0,
            high=1,
            meaning="Share of the emission that the competition distributes.",
        ),
        *_RULES,
        *_NETWORK,
    ),
    key=("id",),
    checks=(
        CrossRowCheck(
            "emission_share",
            "(SELECT fsum(emission_share) FROM {competitions} "
            f"WHERE isfinite(emission_share)) > 1 + {SHARES_MAY_EXCEED}",
            ("competitions",),
            "is part of shares that sum to more than 1",
            "lower the shares; what they leave of 1 burns",
            columns=("emission_share",),
        ),
        *(
            RowCheck(
                name, Compare(name, "<=", 0), "divides or compares, and cannot be 0", "give more"
            )
            for name in ("outlier_threshold", "mad_when_zero")
        ),
        *(
            RowCheck(
                column.name,
                ~IsNull(column.name),
                "applies to the network, not to one competition",
                f"leave the column out and set the rule {column.name}",
            )
            for column in _NETWORK
        ),
    ),
    meaning="The competitions with their shares of the emission, and rules of their own.",
)

SCHEMA = Schema(
    "challenge",
    (SUBMISSIONS, EVALUATIONS, TASK_RESULTS, VALIDATORS, COMPETITIONS),
    one_table_of=(("evaluations", "task_results"),),
)
