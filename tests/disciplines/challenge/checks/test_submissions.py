"""A pass rate over fewer tasks than those of the others is reported."""

from agon.disciplines.challenge.integrity import find
from agon.disciplines.challenge.rules import ChallengeRules
from agon.kernel.findings import Finding, Severity
from disciplines.challenge.networks import records_of

SUBMISSIONS = [
    {"id": name, "miner_uid": uid, "submitted_at": "2026-01-01", "competition": competition}
    for uid, (name, competition) in enumerate(
        [("whole", "c"), ("part", "c"), ("none", "c"), ("other", "d")]
    )
]


def findings(**tasks: str) -> list[Finding]:
    """Return the findings about task results; each submission passes the tasks named."""
    results = [
        {"submission_id": name, "validator_id": "v", "task_id": task, "passed": True}
        for name, all_of_it in tasks.items()
        for task in all_of_it
    ]
    records = records_of(
        {
            "submissions": SUBMISSIONS,
            "validators": [{"id": "v", "stake": 1.0}],
            "task_results": results,
            "competitions": [{"id": name, "emission_share": 0.5} for name in ("c", "d")],
        }
    )
    finding = find(records, ChallengeRules(min_validators=1))
    return [one for one in finding if one.code == "missing-task-results"]


def test_a_submission_without_some_results_is_reported() -> None:
    """Its score is 1 over one task; the other's is over three."""
    (only,) = findings(whole="xyz", part="y", other="x")
    assert (only.severity, only.subjects) == (Severity.WARNING, ("v", "part"))
    assert (only.value, only.expected) == (1.0, 3.0)
    assert "1 of the 3 tasks" in only.message


def test_submissions_on_the_same_tasks_are_not_reported() -> None:
    """Nor those of another competition, nor those that no validator ran."""
    assert findings(whole="xyz", part="xyz", other="u") == []
