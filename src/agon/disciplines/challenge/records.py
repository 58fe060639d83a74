"""Describe the tables the challenge scores."""

from agon.disciplines.challenge.rule_columns import COMPETITION_COLUMNS, NETWORK_COLUMNS
from agon.records import Column, CrossRowCheck, Kind, RowCheck, Schema, Table
from agon.records.conditions import Compare, IsNull

MAIN = "main"
"""The competition of submissions that name none."""

SERVICE_VALIDATOR = "house"
"""The validator in whose name the service's own trials are recorded; its stake is a record."""

SHARES_MAY_EXCEED = 1e-9
"""Tolerance of the sum of emission shares above 1, for the noise of adding decimals."""

MAX_UID = 65_535
"""Uids of a subnet have 16 bits."""

MAX_STAKE = 1e100
"""No coin has that many of its smallest parts; sums and products of such stakes stay finite."""

_EPOCH = Column(
    "epoch",
    Kind.INTEGER,
    required=False,
    low=-(10**15),
    high=10**15,
    meaning="The epoch.",
    empty="epoch 0",
)

SUBMISSIONS = Table(
    "submissions",
    (
        Column("id", Kind.ID, meaning="The submission."),
        Column(
            "miner_uid",
            Kind.INTEGER,
            low=0,
            high=MAX_UID,
            meaning="Number of the miner on the network.",
        ),
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
            "miner_hotkey",
            Kind.TEXT,
            required=False,
            meaning="Hotkey of the miner; it scores for the uid that the hotkey holds in the epoch "
            "(table registrations).",
            empty="unknown; the miner is miner_uid",
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
        Column(
            "reward_source",
            Kind.TEXT,
            required=False,
            choices=("exit_code", "reward_file", "both"),
            meaning="What made the run a pass (rule reward_source).",
            empty="unknown",
        ),
        Column(
            "agent_timeout",
            Kind.TEXT,
            required=False,
            choices=("fail", "verify"),
            meaning="Whether an agent whose time was up failed or was judged (rule agent_timeout).",
            empty="unknown",
        ),
        Column(
            "agent_network",
            Kind.TEXT,
            required=False,
            choices=("none", "allowlist", "public"),
            meaning="What the agent could reach: nothing, listed hosts, everything.",
            empty="unknown",
        ),
        Column(
            "allowed_hosts",
            Kind.TEXT,
            required=False,
            meaning="With allowlist, the hosts as HOST:PORT, with a comma between them.",
            empty="none",
        ),
    ),
    key=("submission_id", "validator_id", "task_id"),
    meaning="The results of single tasks, from which evaluations are computed.",
)

TASK_REWARDS = Table(
    "task_rewards",
    (
        Column("submission_id", Kind.ID, references="submissions.id", meaning="The submission."),
        Column("validator_id", Kind.ID, references="validators.id", meaning="The validator."),
        Column("task_id", Kind.ID, meaning="The task."),
        Column("reward_key", Kind.ID, meaning="The name of the reward; reward where it is one."),
        Column("reward", Kind.NUMBER, meaning="The number that the tests wrote, fractions too."),
    ),
    key=("submission_id", "validator_id", "task_id", "reward_key"),
    meaning="The rewards of single tasks as their tests wrote them. No formula reads them: what "
    "passes is in task_results.",
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
        *COMPETITION_COLUMNS,
        *NETWORK_COLUMNS,
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
            for column in NETWORK_COLUMNS
        ),
    ),
    meaning="The competitions with their shares of the emission, and rules of their own.",
)

_SEAT = "(uid::VARCHAR || ' ' || coalesce(from_epoch, 0))"
_PERIODS = (
    "(SELECT *, lead(low) OVER (PARTITION BY uid ORDER BY low) AS high FROM "
    "(SELECT uid, hotkey, coalesce(from_epoch, 0) AS low FROM {registrations}))"
)

REGISTRATIONS = Table(
    "registrations",
    (
        Column("uid", Kind.INTEGER, low=0, high=MAX_UID, meaning="The seat."),
        Column(
            "hotkey",
            Kind.TEXT,
            nullable=True,
            meaning="The miner that holds the seat from this epoch on.",
            empty="no hotkey: the seat is vacant",
        ),
        Column(
            "from_epoch",
            Kind.INTEGER,
            required=False,
            low=-(10**15),
            high=10**15,
            meaning="The epoch.",
            empty="epoch 0",
        ),
    ),
    checks=(
        CrossRowCheck(
            "uid",
            f"{_SEAT} IN (SELECT {_SEAT} FROM {{registrations}} "
            f"GROUP BY {_SEAT} HAVING count(*) > 1)",
            ("registrations",),
            "has more than one hotkey from the same epoch",
            "give each uid one row per epoch: the hotkey that holds it then",
            columns=("uid", "from_epoch"),
        ),
        CrossRowCheck(
            "hotkey",
            f"hotkey IN (SELECT one.hotkey FROM {_PERIODS} one JOIN {_PERIODS} other "
            "ON one.hotkey = other.hotkey AND one.uid <> other.uid "
            "AND one.low < coalesce(other.high, 2**62) "
            "AND other.low < coalesce(one.high, 2**62))",
            ("registrations",),
            "holds two uids at the same time",
            "end the earlier seat: a row of its uid with the next hotkey, or without one",
            columns=("uid", "hotkey", "from_epoch"),
        ),
    ),
    meaning="The seats of a subnet: which hotkey holds which uid, and from which epoch on.",
)

SCHEMA = Schema(
    "challenge",
    (SUBMISSIONS, EVALUATIONS, TASK_RESULTS, VALIDATORS, COMPETITIONS, REGISTRATIONS, TASK_REWARDS),
    one_table_of=(("evaluations", "task_results"),),
)
