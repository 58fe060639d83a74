"""Convert trials of tasks to challenge records: submissions, validators and task results.

Further trials of a task ``t`` by one submission count as tasks ``t#2``, ``t#3``, …, so that its
score is its pass rate over all trials. A trial without a score has no row: it is not a failure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from agon.errors import Conflict


@dataclass(frozen=True, kw_only=True)
class ImportedTrial:
    """One trial that has a score.

    Attributes:
        submission: id of the submission.
        miner_uid: uid of its miner.
        submitted_at: when the submission was made, according to this trial.
        validator: id of the validator that ran it.
        task: id of the task.
        passed: whether it passed.
        circumstances: what is known of how it was run, by optional columns of ``task_results``.
        rewards: the numbers that its tests wrote, by name.
    """

    submission: str
    miner_uid: int
    submitted_at: datetime
    validator: str
    task: str
    passed: bool
    circumstances: Mapping[str, str] = field(default_factory=dict)
    rewards: Mapping[str, float] = field(default_factory=dict)


def tables_of(trials: Iterable[ImportedTrial], *, numbered: bool = False) -> dict[str, pa.Table]:
    """Return ``submissions``, ``validators`` (each with a stake of 1) and ``task_results``.

    With them ``task_rewards``, where trials have rewards.

    The time of a submission is the start of its first trial.

    Args:
        trials: the trials.
        numbered: whether the import has numbered the miners, so that the numbers are no uids.

    Raises:
        Conflict: one submission has trials of two miners.
    """
    submissions: dict[str, tuple[int, datetime]] = {}
    runs: dict[tuple[str, str, str], int] = {}
    results: list[tuple[Any, ...]] = []
    rewards = []
    for trial in trials:
        uid, earliest = submissions.get(trial.submission, (trial.miner_uid, trial.submitted_at))
        if uid != trial.miner_uid:
            raise Conflict(
                f"the submission {trial.submission} has trials of the miners {uid} and "
                f"{trial.miner_uid}; give them different names"
            )
        submissions[trial.submission] = (uid, min(earliest, trial.submitted_at))
        key = (trial.submission, trial.validator, trial.task)
        nth = runs[key] = runs.get(key, 0) + 1
        task = trial.task if nth == 1 else f"{trial.task}#{nth}"
        known = (trial.circumstances.get(name) or None for name in _CIRCUMSTANCES)
        results.append((trial.submission, trial.validator, task, trial.passed, *known))
        rewards += [
            (trial.submission, trial.validator, task, name, value)
            for name, value in sorted(trial.rewards.items())
        ]
    validators = sorted({validator for _, validator, *_ in results})
    stated = _table(
        results,
        {
            "submission_id": pa.string(),
            "validator_id": pa.string(),
            "task_id": pa.string(),
            "passed": pa.bool_(),
            **dict.fromkeys(_CIRCUMSTANCES, pa.string()),
        },
    )
    unknown = [name for name in _CIRCUMSTANCES if stated[name].null_count == len(stated)]
    return {
        "submissions": _submissions(submissions, numbered=numbered),
        "validators": pa.table(
            {
                "id": pa.array(validators, pa.string()),
                "stake": pa.array([1.0] * len(validators), pa.float64()),
            }
        ),
        "task_results": stated.drop_columns(unknown),
        **({"task_rewards": _table(rewards, _REWARDS)} if rewards else {}),
    }


def _submissions(submissions: Mapping[str, tuple[int, datetime]], *, numbered: bool) -> pa.Table:
    """Return submissions by name, each with its miner and the time of its first trial."""
    names = sorted(submissions)
    uids, times = zip(*(submissions[name] for name in names), strict=True) if names else ((), ())
    columns = {
        "id": pa.array(names, pa.string()),
        "miner_uid": pa.array(uids, pa.int64()),
        "submitted_at": pa.array(times, pa.timestamp("us", tz="UTC")),
    }
    if numbered:
        columns["uid_from"] = pa.array(["import"] * len(names), pa.string())
    return pa.table(columns)


def _table(rows: Sequence[tuple[Any, ...]], kinds: Mapping[str, pa.DataType]) -> pa.Table:
    return pa.table(
        {name: pa.array([row[index] for row in rows], kind)
         for index, (name, kind) in enumerate(kinds.items())}
    )  # fmt: skip


_CIRCUMSTANCES: Final = ("reward_source", "agent_timeout", "agent_network", "allowed_hosts")
_REWARDS: Final = {
    "submission_id": pa.string(),
    "validator_id": pa.string(),
    "task_id": pa.string(),
    "reward_key": pa.string(),
    "reward": pa.float64(),
}


STAKES = (
    "every validator has a stake of 1: put the network's stakes into the table validators; "
    "a submission needs as many validators as the rule min_validators says"
)
"""A note on what imported trials do not contain."""


def left_out(submission: str, validator: str, *, passed: int, scored: int, trials: int) -> str:
    """Return a note about a submission's trials without a score, and what they can change.

    Example:
        >>> left_out("s", "v", passed=1, scored=1, trials=4).partition(": it")[0]
        's, run by v: 3 of 4 trials without a score are left out'
    """
    missing = trials - scored
    rate = f"its pass rate is {passed / scored:.3f}" if scored else "it has no pass rate"
    return (
        f"{submission}, run by {validator}: {missing} of {trials} trials without a score are left "
        f"out: {rate}, with them {passed / trials:.3f} to {(passed + missing) / trials:.3f}; "
        "run them before you rank it"
    )
