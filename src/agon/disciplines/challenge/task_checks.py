"""Check task results: submissions that were not scored on all tasks."""

from collections.abc import Iterator

from agon.disciplines.challenge.records import MAIN
from agon.kernel.findings import Finding, RecordRefs, Severity
from agon.records import Records


def missing_task_results(records: Records) -> Iterator[Finding]:
    """Report submissions that lack results of tasks on which their validator ran others.

    A pass rate over fewer tasks may be that of the easier ones: of a run with unscored trials, only
    the scored ones are records.
    """
    rows = records.sql(
        "WITH results AS (SELECT e.validator_id::VARCHAR AS validator, s._row AS place, "
        "s.id::VARCHAR AS submission, e.task_id::VARCHAR AS task, "
        f"coalesce(s.competition::VARCHAR, '{MAIN}') AS competition "
        "FROM task_results e JOIN submissions s ON e.submission_id = s.id), "
        "tasks AS (SELECT validator, competition, count(DISTINCT task) AS total FROM results "
        "GROUP BY ALL) "
        "SELECT validator, competition, submission, count(DISTINCT task) AS made, "
        "any_value(total) AS total FROM results JOIN tasks USING (validator, competition) "
        "GROUP BY validator, competition, submission, place HAVING made < any_value(total) "
        "ORDER BY place, validator"
    )
    for row in rows.to_pylist():
        validator, submission = row["validator"], row["submission"]
        yield Finding(
            "missing-task-results",
            Severity.WARNING,
            (validator, submission),
            "tasks with a result",
            float(row["made"]),
            float(row["total"]),
            None,
            f"{validator} has results of {submission} for {row['made']:,} of the "
            f"{row['total']:,} tasks on which it ran submissions of {row['competition']}; the pass "
            "rate leaves the others out",
            (RecordRefs.of("submissions", [submission]),),
        )
