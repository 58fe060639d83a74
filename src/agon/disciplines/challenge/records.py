"""Describe the tables the challenge scores."""

from agon.records import Column, CrossRowCheck, Kind, RowCheck, Schema, Table
from agon.records.conditions import Compare, IsNull

MAIN = "main"
"""The competition of submissions that name none."""

SHARES_MAY_EXCEED = 1e-9
"""Tolerance of the sum of emission shares above 1, for the noise of adding decimals."""

MAX_STAKE = 1e100
"""No coin has that many of its smallest parts; sums and products of such stakes stay finite."""

_MAX_RULE_VALUE = 10**9
_EPOCH = Column("epoch", Kind.INTEGER, required=False, low=-(10**15), high=10**15)

_RULES = (
    Column("evaluation_window", Kind.INTEGER, required=False, low=1, high=_MAX_RULE_VALUE),
    Column("min_validators", Kind.INTEGER, required=False, low=1, high=_MAX_RULE_VALUE),
    Column("outlier_threshold", Kind.NUMBER, required=False, low=0, high=_MAX_RULE_VALUE),
    Column("outlier_min_values", Kind.INTEGER, required=False, low=2, high=_MAX_RULE_VALUE),
    Column("mad_when_zero", Kind.NUMBER, required=False, low=0, high=_MAX_RULE_VALUE),
    Column("exclude_outliers", Kind.BOOLEAN, required=False),
    Column("min_stake_fraction", Kind.NUMBER, required=False, low=0, high=1),
    Column(
        "strategy",
        Kind.TEXT,
        required=False,
        choices=("linear", "winner_takes_all", "quadratic", "ranked"),
    ),
    Column("ranked_zero", Kind.TEXT, required=False, choices=("paid", "unpaid")),
    Column("top_n", Kind.INTEGER, required=False, low=1, high=_MAX_RULE_VALUE),
    Column("improvement_threshold", Kind.NUMBER, required=False, low=0, high=10),
    Column("improvement", Kind.TEXT, required=False, choices=("relative", "absolute")),
    Column("grace_epochs", Kind.INTEGER, required=False, low=0, high=_MAX_RULE_VALUE),
    Column("decay_curve", Kind.TEXT, required=False, choices=("linear", "exponential")),
    Column("decay_rate", Kind.NUMBER, required=False, low=0, high=1),
    Column("max_burn", Kind.NUMBER, required=False, low=0, high=100),
)
"""One column for every rule a competition may set for itself."""

_NETWORK = (
    Column("weight_cap", Kind.NUMBER, required=False),
    Column("cap_excess", Kind.TEXT, required=False),
    Column("rounding", Kind.TEXT, required=False),
)
"""Rules of the network that a competition cannot set; they are rejected rather than ignored."""

SUBMISSIONS = Table(
    "submissions",
    (
        Column("id", Kind.ID),
        Column("miner_uid", Kind.INTEGER, low=0),
        Column("submitted_at", Kind.TIMESTAMP),
        Column("competition", Kind.ID, required=False),
        Column("content_hash", Kind.TEXT, required=False),
        Column("source", Kind.TEXT, required=False),
        Column("uid_from", Kind.TEXT, required=False, choices=("subnet", "import")),
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
)

EVALUATIONS = Table(
    "evaluations",
    (
        Column("submission_id", Kind.ID, references="submissions.id"),
        Column("validator_id", Kind.ID, references="validators.id"),
        Column("score", Kind.NUMBER, low=0, high=1),
        _EPOCH,
        Column("evaluated_at", Kind.TIMESTAMP, required=False),
    ),
    time="evaluated_at",
    order_within=("submission_id", "validator_id", "epoch", "evaluated_at"),
)

TASK_RESULTS = Table(
    "task_results",
    (
        Column("submission_id", Kind.ID, references="submissions.id"),
        Column("validator_id", Kind.ID, references="validators.id"),
        Column("task_id", Kind.ID),
        Column("passed", Kind.BOOLEAN),
    ),
    key=("submission_id", "validator_id", "task_id"),
)

_STAKE_OF = "(id::VARCHAR || ' ' || coalesce(epoch, 0))"

VALIDATORS = Table(
    "validators",
    (
        Column("id", Kind.ID),
        Column("stake", Kind.NUMBER, low=0, high=MAX_STAKE),
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
)

COMPETITIONS = Table(
    "competitions",
    (
        Column("id", Kind.ID),
        Column("emission_share", Kind.NUMBER, low=0, high=1),
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
)

SCHEMA = Schema(
    "challenge",
    (SUBMISSIONS, EVALUATIONS, TASK_RESULTS, VALIDATORS, COMPETITIONS),
    one_table_of=(("evaluations", "task_results"),),
)
