"""Describe the dojo's tables: problems and judged submissions."""

from agon.records import Column, Kind, RowCheck, Schema, Table
from agon.records.conditions import Equals, IsNull

VERDICTS = (
    "ok",
    "wrong_answer",
    "rejected_policy",
    "rejected_import",
    "syntax_error",
    "wrong_type",
    "runtime_error",
    "time_limit",
    "memory_limit",
    "output_limit",
    "sandbox_error",
)
"""All verdicts of a submission; ``sandbox_error`` is an internal error of the judge."""

PROBLEMS = Table(
    "problems",
    (
        Column("id", Kind.ID),
        Column("setter_user_id", Kind.ID, required=False),
        Column("title", Kind.TEXT, required=False),
        Column("n_check", Kind.INTEGER, required=False, low=2, high=100_000),
        Column("first_index", Kind.INTEGER, required=False, low=0, high=1),
        Column("freeze_started_at", Kind.TIMESTAMP, required=False),
        Column("p_hash", Kind.TEXT, required=False),
    ),
    required=True,
    key=("id",),
)

SUBMISSIONS = Table(
    "submissions",
    (
        Column("id", Kind.ID),
        Column("problem_id", Kind.ID, references="problems.id"),
        Column("user_id", Kind.ID),
        Column("created_at", Kind.TIMESTAMP),
        Column("source", Kind.TEXT, required=False),
        Column("source_hash", Kind.TEXT, required=False),
        Column("l_chars", Kind.INTEGER, required=False, low=0),
        Column("method_tag", Kind.TEXT, required=False),
        Column("notes", Kind.TEXT, required=False),
        Column("verdict", Kind.TEXT, choices=VERDICTS),
        Column("terms_matched", Kind.INTEGER, required=False, low=0),
        Column("cpu_ms", Kind.NUMBER, required=False, low=0),
        Column("wall_ms", Kind.NUMBER, required=False, low=0),
        Column("memory_kib", Kind.INTEGER, required=False, low=0),
        Column("mode", Kind.TEXT, required=False),
        Column("runner", Kind.TEXT, required=False),
        Column("reason", Kind.TEXT, required=False),
    ),
    required=True,
    key=("id",),
    time="created_at",
    checks=(
        RowCheck(
            "source",
            IsNull("source") & (IsNull("source_hash") | IsNull("l_chars")),
            "is empty, and so is source_hash or l_chars",
            "give the source, or both source_hash and l_chars",
        ),
        RowCheck(
            "terms_matched",
            Equals("verdict", "wrong_answer") & IsNull("terms_matched"),
            "is empty on a wrong_answer",
            "give the length of the equal prefix (0 when the first term differs)",
        ),
    ),
)

SCHEMA = Schema("dojo", (PROBLEMS, SUBMISSIONS))
