"""Convert trials of tasks to challenge records: who submitted, who ran them, what passed.

A submission's further trials of a task ``t`` count as tasks of their own, ``t#2``, ``t#3``, …, so
that its score is its pass rate over all trials. A trial without a score leaves no row: it is never
a fail.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from agon.errors import Conflict


@dataclass(frozen=True, kw_only=True)
class Ran:
    """One trial that has a score.

    Attributes:
        submission: whose work it is.
        miner_uid: who is paid for it.
        submitted_at: when that submission was made, as far as this trial shows.
        validator: who ran it.
        task: on what.
        passed: whether it passed.
    """

    submission: str
    miner_uid: int
    submitted_at: datetime
    validator: str
    task: str
    passed: bool


def tables_of(trials: Iterable[Ran]) -> dict[str, pa.Table]:
    """Return ``submissions``, ``validators`` (each with a stake of 1) and ``task_results``.

    A submission counts as made when its first trial began.

    Raises:
        Conflict: one submission has trials of two miners.
    """
    submissions: dict[str, tuple[int, datetime]] = {}
    seen: dict[tuple[str, str, str], int] = {}
    results = []
    for one in trials:
        uid, earliest = submissions.get(one.submission, (one.miner_uid, one.submitted_at))
        if uid != one.miner_uid:
            raise Conflict(
                f"the submission {one.submission} has trials of the miners {uid} and "
                f"{one.miner_uid}; name the submissions apart"
            )
        submissions[one.submission] = (uid, min(earliest, one.submitted_at))
        key = (one.submission, one.validator, one.task)
        nth = seen[key] = seen.get(key, 0) + 1
        task = one.task if nth == 1 else f"{one.task}#{nth}"
        results.append((one.submission, one.validator, task, one.passed))
    validators = sorted({validator for _, validator, _, _ in results})
    names = sorted(submissions)
    return {
        "submissions": pa.table(
            {
                "id": pa.array(names, pa.string()),
                "miner_uid": pa.array([submissions[name][0] for name in names], pa.int64()),
                "submitted_at": pa.array(
                    [submissions[name][1] for name in names], pa.timestamp("us", tz="UTC")
                ),
            }
        ),
        "validators": pa.table(
            {
                "id": pa.array(validators, pa.string()),
                "stake": pa.array([1.0] * len(validators), pa.float64()),
            }
        ),
        "task_results": pa.table(
            {
                name: pa.array([row[at] for row in results], kind)
                for at, (name, kind) in enumerate(
                    {
                        "submission_id": pa.string(),
                        "validator_id": pa.string(),
                        "task_id": pa.string(),
                        "passed": pa.bool_(),
                    }.items()
                )
            }
        ),
    }


STAKES = (
    "every validator has a stake of 1: put the network's stakes into the table validators; "
    "a submission needs as many validators as the rule min_validators says"
)
"""What a reader of these records must know."""
