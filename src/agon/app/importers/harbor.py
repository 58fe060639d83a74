"""Import the results of Harbor: a job's folder, or a folder of jobs.

Every ``result.json`` below it that names a ``task_name`` is a trial (a job's own ``result.json``
names none). These keys of a trial are read:

====================================  ========================================================
``task_name``                         the task
``agent_info``                        name, version and model: the submission
``started_at``                        when it was submitted: the earliest of all its trials
``verifier_result.rewards``           ``task_rewards``; passed, when ``reward`` (else the smallest)
                                      is 1 or more, as in ``agon challenge run``
``exception_info.exception_type``     ``AgentTimeoutError`` and ``VerifierTimeoutError`` fail,
                                      as a timeout does in the source (the first unless
                                      ``agent_timeout`` is ``verify``); so do tests that left no
                                      reward (no exception, ``RewardFileNotFoundError``,
                                      ``RewardFileEmptyError``, ``VerifierOutputParseError``),
                                      and a health check that never passed (``HealthcheckError``);
                                      with any other exception and no reward there is no score
``step_results``                      the same of each step, as in ``agon challenge run``: a step
                                      out of time or without a reward decides on the trial, where
                                      Harbor leaves it out of the mean
====================================  ========================================================

There is one validator, ``harbor``; miners are numbered from 1 in the order of their submissions.
Links are not followed.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agon.app.containers import AgentTimeout
from agon.app.containers.pass_rule import REWARD, PassRule, plain_reward
from agon.app.files import FileIssue, InvalidPackage, collect_issues, read_object
from agon.app.importers.trials import STAKES, ImportedTrial, left_out, tables_of
from agon.app.tasks.files import files_under
from agon.disciplines import ImportedRecords
from agon.errors import NotFound, Unreadable
from agon.kernel.times import parse_time

_VALIDATOR = "harbor"
_RESULT = "result.json"
_LATE_AGENT = "AgentTimeoutError"
_TIMEOUTS = {_LATE_AGENT, "VerifierTimeoutError"}
_NO_REWARD = {"RewardFileNotFoundError", "RewardFileEmptyError", "VerifierOutputParseError"}
_NOT_READY = "HealthcheckError"
_MAX_RESULT_BYTES = 64 << 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read(source: str, *, agent_timeout: AgentTimeout = "fail") -> ImportedRecords:
    """Read Harbor's trials as challenge records.

    Args:
        source: the folder.
        agent_timeout: whether a verified reward after the agent's time limit fails, or counts.

    Raises:
        NotFound: there is no such folder.
        InvalidPackage: with the issues of all invalid trials.
        Unreadable: no trial has a score.
    """
    folder = Path(source)
    if not folder.is_dir():
        raise NotFound(f"{folder}: no such folder")
    issues: list[FileIssue] = []
    trials: list[ImportedTrial] = []
    unscored: Counter[str] = Counter()
    late: Counter[str] = Counter()
    for path in _result_files(folder):
        where = str(path.relative_to(folder))
        with collect_issues(issues):
            # Written by another program: what is not read may be beyond agon's limits.
            trial = read_object(path, where=where, most=_MAX_RESULT_BYTES, decode=json.loads)
            if "task_name" not in trial:
                continue
            passed = _has_passed(trial, where, late_passes=agent_timeout == "verify")
            parts = (trial, *_steps(trial, where))
            late[_submission(trial)] += any(map(_is_late, parts))
            if passed is None:
                unscored[_submission(trial)] += 1
                continue
            trials.append(
                ImportedTrial(
                    submission=_submission(trial),
                    miner_uid=0,
                    submitted_at=_start_time(trial, where),
                    validator=_VALIDATOR,
                    task=_task(trial, where),
                    passed=passed,
                    rewards=_numbers(trial),
                )
            )
    if issues:
        raise InvalidPackage(*issues)
    if not trials:
        raise Unreadable(
            f"{folder} contains no trial with a score; give the folder of a Harbor job"
        )
    names = sorted({trial.submission for trial in trials})
    uids = {name: uid for uid, name in enumerate(names, 1)}
    trials = [replace(trial, miner_uid=uids[trial.submission]) for trial in trials]
    notes = (
        "miners are numbered from 1: do not set weights from these numbers",
        STAKES,
        *_late_notes(late, agent_timeout),
        *_unscored_notes(trials, unscored),
    )
    return ImportedRecords("challenge", tables_of(trials, numbered=True), notes)


def _unscored_notes(trials: Sequence[ImportedTrial], unscored: Counter[str]) -> Iterator[str]:
    """Yield how many trials of each submission have no score."""
    for name, missing in sorted(unscored.items()):
        scored = [trial.passed for trial in trials if trial.submission == name]
        yield left_out(
            name,
            _VALIDATOR,
            passed=sum(scored),
            scored=len(scored),
            trials=len(scored) + missing,
        )


def _late_notes(late: Counter[str], agent_timeout: AgentTimeout) -> Iterator[str]:
    """Yield how many trials of each submission got a reward too late, and what became of it."""
    counted = "they count (agent_timeout = verify), as in Harbor's own mean"
    if agent_timeout == "fail":
        counted = (
            "they fail here, as in agon challenge run, and Harbor's own mean counts them "
            "(agent_timeout = fail | verify)"
        )
    for name, number in sorted((+late).items()):
        yield f"{name}: trials with a reward after the agent's time limit: {number}; {counted}"


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


def _has_passed(trial: Mapping[str, Any], where: str, *, late_passes: bool) -> bool | None:
    """Return whether a trial passed; None when it has no score."""
    for part in (*_steps(trial, where), trial):
        cause = _cause(part)
        if cause in _TIMEOUTS and not (late_passes and cause == _LATE_AGENT):
            return False
        if not _table(part, "verifier_result").get("rewards"):
            return (
                False if cause is None or cause in {*_NO_REWARD, _LATE_AGENT, _NOT_READY} else None
            )
    rewards = _table(trial, "verifier_result").get("rewards")
    if not isinstance(rewards, Mapping):
        raise InvalidPackage(FileIssue(where, f"rewards is {rewards!r}", "give a table of numbers"))
    chosen = {REWARD: rewards[REWARD]} if REWARD in rewards else rewards
    values = {key: _reward(value, where) for key, value in chosen.items()}
    return not PassRule().failure(values)


def _numbers(trial: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers among a trial's rewards."""
    rewards = _table(trial, "verifier_result").get("rewards")
    numbers: dict[str, float] = {}
    for key, value in rewards.items() if isinstance(rewards, Mapping) else ():
        with suppress(ValueError, OverflowError):
            numbers[str(key)] = plain_reward(value)
    return numbers


def _steps(trial: Mapping[str, Any], where: str) -> list[Mapping[str, Any]]:
    """Return the results of a trial's steps; none: its task has no steps."""
    steps = trial.get("step_results") or []
    if not isinstance(steps, list) or not all(isinstance(step, Mapping) for step in steps):
        raise InvalidPackage(
            FileIssue(where, f"step_results is {steps!r}", "give a list of tables")
        )
    return steps


def _cause(part: Mapping[str, Any]) -> object:
    """Return the type of the exception that ended a trial or a step; None: nothing did."""
    return _table(part, "exception_info").get("exception_type")


def _is_late(part: Mapping[str, Any]) -> bool:
    """Return whether an agent whose time was up got a reward above 0 all the same."""
    cause = _cause(part)
    rewards = _table(part, "verifier_result").get("rewards")
    numbers = rewards.values() if isinstance(rewards, Mapping) else ()
    return cause == _LATE_AGENT and any(
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
