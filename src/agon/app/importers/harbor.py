"""Import the results of Harbor: a job's folder, or a folder of jobs.

Every ``result.json`` below it that names a ``task_name`` is a trial (a job's own ``result.json``
names none). These keys of a trial are read:

====================================  ========================================================
``task_name``                         the task
``agent_info``                        name, version and model: the submission
``started_at``                        when it was submitted: the earliest of all its trials
``verifier_result.rewards``           passed, when the reward (``reward``, else the smallest) is
                                      1 or more, as in ``agon challenge run``
``exception_info.exception_type``     ``AgentTimeoutError`` and ``VerifierTimeoutError`` fail,
                                      as a timeout does in the seed; so do tests that left no
                                      reward (no exception, ``RewardFileNotFoundError``,
                                      ``RewardFileEmptyError``, ``VerifierOutputParseError``);
                                      with any other exception and no reward there is no score
====================================  ========================================================

There is one validator, ``harbor``; miners are numbered from 1 in the order of their submissions.
Links are not followed.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agon.app.containers.pass_rule import REWARD, PassRule, plain_reward
from agon.app.files import FileIssue, InvalidPackage, collect_issues, read_object
from agon.app.importers.trials import STAKES, ImportedTrial, left_out, tables_of
from agon.app.tasks.files import files_under
from agon.disciplines import ImportedRecords
from agon.errors import NotFound, Unreadable
from agon.kernel.times import parse_time

_VALIDATOR = "harbor"
_RESULT = "result.json"
_TIMEOUTS = {"AgentTimeoutError", "VerifierTimeoutError"}
_NO_REWARD = {"RewardFileNotFoundError", "RewardFileEmptyError", "VerifierOutputParseError"}
_MAX_RESULT_BYTES = 64 << 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read(source: str) -> ImportedRecords:
    """Read Harbor's trials as challenge records.

    Raises:
        NotFound: there is no such folder.
        InvalidPackage: with the issues of all invalid trials.
        Unreadable: no trial has a score.
    """
    folder = Path(source)
    if not folder.is_dir():
        raise NotFound(f"{folder}: no such folder")
    issues: list[FileIssue] = []
    results: list[tuple[str, datetime, str, bool]] = []
    unscored: Counter[str] = Counter()
    late: Counter[str] = Counter()
    for path in _result_files(folder):
        where = str(path.relative_to(folder))
        with collect_issues(issues):
            # Written by another program: what is not read may be beyond agon's limits.
            trial = read_object(path, where=where, most=_MAX_RESULT_BYTES, decode=json.loads)
            if "task_name" not in trial:
                continue
            passed = _has_passed(trial, where)
            late[_submission(trial)] += _is_late(trial)
            if passed is None:
                unscored[_submission(trial)] += 1
                continue
            results.append(
                (_submission(trial), _start_time(trial, where), _task(trial, where), passed)
            )
    if issues:
        raise InvalidPackage(*issues)
    if not results:
        raise Unreadable(
            f"{folder} contains no trial with a score; give the folder of a Harbor job"
        )
    uids = {name: at for at, name in enumerate(sorted({name for name, *_ in results}), 1)}
    trials = [
        ImportedTrial(
            submission=name,
            miner_uid=uids[name],
            submitted_at=started,
            validator=_VALIDATOR,
            task=task,
            passed=passed,
        )
        for name, started, task, passed in results
    ]
    notes = ["miners are numbered from 1: do not set weights from these numbers", STAKES]
    for name, number in sorted((+late).items()):
        notes.append(
            f"{name}: trials with a reward after the agent's time limit: {number}; they fail here, "
            "as in agon challenge run, and Harbor's own mean counts them"
        )
    for name, missing in sorted(unscored.items()):
        scored = [passed for other, _, _, passed in results if other == name]
        notes.append(
            left_out(
                name,
                _VALIDATOR,
                passed=sum(scored),
                scored=len(scored),
                trials=len(scored) + missing,
            )
        )
    return ImportedRecords("challenge", tables_of(trials, numbered=True), tuple(notes))


def _result_files(folder: Path) -> Iterator[Path]:
    for path, entry in files_under(folder):
        if entry.name == _RESULT and entry.is_file(follow_symlinks=False):
            yield folder / path


def _submission(trial: Mapping[str, Any]) -> str:
    """Return an agent's name: ``name@version`` and, with a model, ``provider/model`` after it."""
    agent = _table(trial, "agent_info")
    model = _table(agent, "model_info")
    name = str(agent.get("name") or "agent")
    if version := agent.get("version"):
        name += f"@{version}"
    model_name = "/".join(str(model[key]) for key in ("provider", "name") if model.get(key))
    return f"{name} {model_name}".strip()


def _task(trial: Mapping[str, Any], where: str) -> str:
    name = trial["task_name"]
    if not isinstance(name, str) or not name.strip():
        raise InvalidPackage(FileIssue(where, f"task_name is {name!r}", "give the task's name"))
    return name


def _start_time(trial: Mapping[str, Any], where: str) -> datetime:
    text = trial.get("started_at")
    if text is None:
        return _EPOCH
    try:
        started = parse_time(str(text))
    except Unreadable:
        started = None
    if started is None:
        raise InvalidPackage(FileIssue(where, f"started_at is {text!r}", "give ISO 8601"))
    return started


def _has_passed(trial: Mapping[str, Any], where: str) -> bool | None:
    """Return whether a trial passed; None when it has no score."""
    if _table(trial, "exception_info").get("exception_type") in _TIMEOUTS:
        return False
    rewards = _table(trial, "verifier_result").get("rewards")
    if not rewards:
        cause = _table(trial, "exception_info").get("exception_type")
        return False if cause is None or cause in _NO_REWARD else None
    if not isinstance(rewards, Mapping):
        raise InvalidPackage(FileIssue(where, f"rewards is {rewards!r}", "give a table of numbers"))
    chosen = {REWARD: rewards[REWARD]} if REWARD in rewards else rewards
    values = {key: _reward(value, where) for key, value in chosen.items()}
    return not PassRule().failure(values)


def _is_late(trial: Mapping[str, Any]) -> bool:
    """Return whether an agent whose time was up got a reward above 0 all the same."""
    cause = _table(trial, "exception_info").get("exception_type")
    rewards = _table(trial, "verifier_result").get("rewards")
    numbers = rewards.values() if isinstance(rewards, Mapping) else ()
    return cause == "AgentTimeoutError" and any(
        isinstance(number, (int, float)) and number > 0 for number in numbers
    )


def _reward(value: object, where: str) -> float:
    try:
        return plain_reward(value)
    except OverflowError:
        return math.inf if isinstance(value, int) and value > 0 else -math.inf
    except ValueError:
        issue = FileIssue(where, f"a reward is {value!r}", "give a number")
        raise InvalidPackage(issue) from None


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key)
    return value if isinstance(value, Mapping) else {}
