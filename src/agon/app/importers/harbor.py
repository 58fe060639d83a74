"""Import the results of Harbor: a job's folder, or a folder of jobs.

Every ``result.json`` below it that names a ``task_name`` is a trial (a job's own ``result.json``
names none). Of a trial are read:

====================================  ========================================================
``task_name``                         the task
``agent_info``                        name, version and model: the submission
``started_at``                        when it was submitted: the earliest of all its trials
``verifier_result.rewards``           passed, when the reward (``reward``, else all) is above 0
``exception_info.exception_type``     ``AgentTimeoutError`` and ``VerifierTimeoutError`` fail,
                                      as time that is up does in the seed; any other exception
                                      without a reward leaves the trial without a score
====================================  ========================================================

There is one validator, ``harbor``; miners are numbered from 1 in the order of their submissions.
A link is not followed.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agon.app.files import FileIssue, InvalidPackage, collect_issues, read_object
from agon.app.importers.imported import Imported
from agon.app.importers.trials import STAKES, Ran, tables_of
from agon.app.tasks.files import files_under
from agon.errors import NotFound, Unreadable
from agon.kernel.times import parse_time

_VALIDATOR = "harbor"
_RESULT = "result.json"
_TIMEOUTS = {"AgentTimeoutError", "VerifierTimeoutError"}
_MOST = 64 << 20
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


def read(source: str) -> Imported:
    """Read Harbor's trials as challenge records.

    Raises:
        NotFound: there is no such folder.
        InvalidPackage: trials that cannot be understood, all at once.
        Unreadable: there is no trial with a score.
    """
    place = Path(source)
    if not place.is_dir():
        raise NotFound(f"{place}: no such folder")
    issues: list[FileIssue] = []
    found: list[tuple[str, datetime, str, bool]] = []
    unscored = 0
    for path in _result_files(place):
        where = str(path.relative_to(place))
        with collect_issues(issues):
            trial = read_object(path, where=where, most=_MOST)
            if "task_name" not in trial:
                continue
            passed = _passed(trial, where)
            if passed is None:
                unscored += 1
                continue
            found.append((_submission(trial), _started(trial, where), _task(trial, where), passed))
    if issues:
        raise InvalidPackage(*issues)
    if not found:
        raise Unreadable(f"{place} holds no trial with a score; give the folder of a Harbor job")
    uids = {name: at for at, name in enumerate(sorted({name for name, *_ in found}), 1)}
    trials = [
        Ran(
            submission=name,
            miner_uid=uids[name],
            submitted_at=started,
            validator=_VALIDATOR,
            task=task,
            passed=passed,
        )
        for name, started, task, passed in found
    ]
    notes = ["miners are numbered from 1: do not set weights from these numbers", STAKES]
    if unscored:
        notes.append(f"{unscored} trials without a score are left out")
    return Imported("challenge", tables_of(trials), tuple(notes))


def _result_files(place: Path) -> Iterator[Path]:
    for path, entry in files_under(place):
        if entry.name == _RESULT and entry.is_file(follow_symlinks=False):
            yield place / path


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


def _started(trial: Mapping[str, Any], where: str) -> datetime:
    given = trial.get("started_at")
    if given is None:
        return _BEGINNING
    try:
        moment = parse_time(str(given))
    except Unreadable:
        moment = None
    if moment is None:
        raise InvalidPackage(FileIssue(where, f"started_at is {given!r}", "give ISO 8601"))
    return moment


def _passed(trial: Mapping[str, Any], where: str) -> bool | None:
    """Return whether a trial passed; None when it has no score."""
    if _table(trial, "exception_info").get("exception_type") in _TIMEOUTS:
        return False
    rewards = _table(trial, "verifier_result").get("rewards")
    if not rewards:
        return None
    chosen = [rewards["reward"]] if "reward" in rewards else list(rewards.values())
    for value in chosen:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
            raise InvalidPackage(FileIssue(where, f"a reward is {value!r}", "give a number"))
    return all(value > 0 for value in chosen)


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key)
    return found if isinstance(found, Mapping) else {}
