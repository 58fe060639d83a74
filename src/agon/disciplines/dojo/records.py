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
        Column("id", Kind.ID, meaning="The problem."),
        Column(
            "setter_user_id",
            Kind.ID,
            required=False,
            meaning="The user who set the problem.",
            empty="unknown",
        ),
        Column(
            "title",
            Kind.TEXT,
            required=False,
            meaning="Title of the problem.",
            empty="named by its id",
        ),
        Column(
            "n_check",
            Kind.INTEGER,
            required=False,
            low=2,
            high=100_000,
            meaning="Number of terms that are compared.",
            empty="the rule of the edition",
        ),
        Column(
            "first_index",
            Kind.INTEGER,
            required=False,
            meaning="Index of the first term.",
            empty="1",
        ),
        Column(
            "freeze_started_at",
            Kind.TIMESTAMP,
            required=False,
            meaning="Time from which submissions are late.",
            empty="never",
        ),
        Column(
            "p_hash",
            Kind.TEXT,
            required=False,
            meaning="Hash of the setter's program, published before.",
            empty="not published",
        ),
    ),
    required=True,
    key=("id",),
    meaning="The problems, published as hashes.",
)

SUBMISSIONS = Table(
    "submissions",
    (
        Column("id", Kind.ID, meaning="The submission."),
        Column("problem_id", Kind.ID, references="problems.id", meaning="The problem."),
        Column("user_id", Kind.ID, meaning="The user."),
        Column("created_at", Kind.TIMESTAMP, meaning="Time of the submission."),
        Column(
            "extended_until",
            Kind.TIMESTAMP,
            required=False,
            meaning="End of the extra time that the user had for the problem: a submission up to "
            "then counts as one before the freeze.",
            empty="no extra time",
        ),
        Column(
            "source",
            Kind.TEXT,
            required=False,
            meaning="The program.",
            empty="source_hash and l_chars are used as recorded",
            empty_text="\n",  # a program without a line, which has the same canonical form
        ),
        Column(
            "source_hash",
            Kind.TEXT,
            required=False,
            meaning="SHA-256 of the canonical source.",
            empty="computed from the source",
        ),
        Column(
            "l_chars",
            Kind.INTEGER,
            required=False,
            low=0,
            meaning="Bytes of the canonical source.",
            empty="computed from the source",
        ),
        Column(
            "method_tag",
            Kind.TEXT,
            required=False,
            meaning="Tag of the method, as declared.",
            empty="not declared",
        ),
        Column(
            "notes",
            Kind.TEXT,
            required=False,
            meaning="Notes on the method, as declared.",
            empty="none",
        ),
        Column("verdict", Kind.TEXT, choices=VERDICTS, meaning="Verdict of the judge."),
        Column(
            "terms_matched",
            Kind.INTEGER,
            required=False,
            low=0,
            meaning="Length of the prefix that equals the answer.",
            empty="not recorded",
        ),
        Column(
            "cpu_ms",
            Kind.NUMBER,
            required=False,
            low=0,
            meaning="CPU time of the run, in ms.",
            empty="not recorded",
        ),
        Column(
            "wall_ms",
            Kind.NUMBER,
            required=False,
            low=0,
            meaning="Duration of the run, in ms.",
            empty="not recorded",
        ),
        Column(
            "memory_kib",
            Kind.INTEGER,
            required=False,
            low=0,
            meaning="Peak memory of the run, in KiB.",
            empty="not recorded",
        ),
        Column(
            "mode", Kind.TEXT, required=False, meaning="Isolation of the run.", empty="not recorded"
        ),
        Column(
            "runner",
            Kind.TEXT,
            required=False,
            meaning="Versions of the judge's runner.",
            empty="not recorded",
        ),
        Column("reason", Kind.TEXT, required=False, meaning="Reason of the verdict.", empty="none"),
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
    meaning="The submitted programs with their verdicts.",
)

SCHEMA = Schema("dojo", (PROBLEMS, SUBMISSIONS))
