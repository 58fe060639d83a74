"""Run a challenge submission on a task: the worker runs containers, the service records."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, get_args

from agon.app.containers import AgentTrial, Containers, Outcome
from agon.app.queue.leases import Commit, InvalidOutcome, Retry
from agon.app.queue.source import Assignment, JobProgress
from agon.app.tasks.agent_failure import MAX_CHARACTERS, MAX_LINES
from agon.app.tasks.agents import Agent
from agon.app.tasks.formats.discovery import read_tasks
from agon.app.tasks.formats.variables import VariableNames, with_variables
from agon.app.tasks.services import build
from agon.app.tasks.trials import Clock, TrialResult, TrialRunner
from agon.app.worker.outcome_records import record_once, worker_name
from agon.app.worker.trial_details import checked_details, written_details
from agon.disciplines.challenge.records import TASK_RESULTS
from agon.entities.jobs import Job
from agon.errors import NotFound, NotScorable, Unreadable, did_you_mean
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

MAX_UNSCORED_TRIALS: Final = 3
"""Maximum number of trials that end without a score; then the job fails with the cause."""

_NAME: Final = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,99}){0,8}"
)
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_MAX_REASON_LENGTH: Final = 2000
_MAX_EXIT_CODE: Final = 255
_FAULT: Final = "unscored"
_MAX_REWARDS: Final = 1000
_MAX_KEY_LENGTH: Final = 200
_MAX_TAKEN: Final = 10**15
"""Seconds, tokens and dollars are below this."""

MakeAgent = Callable[[str, Path], Agent]
"""Returns an agent for a command line and the folder with its files."""


def trial(
    tasks: Path, containers: Containers, make_agent: MakeAgent, *, now: Clock
) -> Callable[[Assignment, JobProgress], dict[str, Any]]:
    """Return the function that runs trials.

    Args:
        tasks: the folder with one folder for each task, by name.
        containers: the worker's engine.
        make_agent: returns the submitted agent; it must not resolve names of built-in agents.
        now: returns the time.

    Returns:
        A function from a job to its outcome: ``result``, ``reason``, ``task_sha256``, ``rewards``,
        what the record says of the run (``reward_source``, ``agent_timeout``, ``agent_network``),
        ``agent_failure`` where the agent's command failed, what it took: ``seconds``, and
        ``usage`` by the agent's own account, if there is one, and ``details``: what happened in it.
    """

    def run(assignment: Assignment, progress: JobProgress) -> dict[str, Any]:
        payload = assignment.payload
        rules = payload["rules"]
        folder = _task_folder(tasks, payload["task"])
        (task,) = read_tasks((folder,), reward_source=rules.get("reward_source"))
        (task,) = with_variables((task,), VariableNames(), environment={}, solutions=False)
        with TemporaryDirectory(prefix="agon-trial-") as place:
            files, traces = Path(place, "agent"), Path(place, "trial")
            traces.mkdir()
            agent = make_agent(payload["agent"]["command"], write_files(payload["agent"], files))
            if missing := agent.missing_for(task):
                raise NotScorable(f"the agent cannot work on {task.name}: {missing}")
            image = build(task, containers)
            progress.check()
            name = re.sub(r"[^a-z0-9]", "", assignment.id.lower())[:40] or "trial"
            result = TrialRunner(
                agent=agent,
                containers=containers,
                image=image,
                now=now,
                attempts=assignment.attempt,
            ).run(
                task,
                AgentTrial(
                    run=name,
                    name=f"{name}-{assignment.attempt}",
                    folder=traces,
                    agent_timeout=rules["agent_timeout"],
                ),
            )
            details = written_details(traces, result)
        progress.check()
        return _outcome(result) | {"details": details}

    return run


def _outcome(result: TrialResult) -> dict[str, Any]:
    """Return what a worker reports of a trial."""
    usage = result.usage
    return {
        "result": result.result,
        "reason": result.reason[:_MAX_REASON_LENGTH],
        "task_sha256": result.task_sha256,
        "rewards": {key: value for key, value in result.rewards.items() if _is_reward(key, value)},
        "reward_source": result.reward_source,
        "agent_timeout": result.agent_timeout,
        "agent_network": result.agent_network,
        "agent_failure": result.agent_failure and asdict(result.agent_failure),
        "seconds": result.timings["total_s"],
        "usage": None
        if usage is None
        else {"tokens": usage.input_tokens + usage.output_tokens, "cost_usd": usage.cost_usd},
    }


def write_files(agent: Mapping[str, Any], folder: Path) -> Path:
    """Write an agent's files into a new folder and return it.

    Raises:
        Unreadable: a file does not have a plain relative name, or is not a text.
    """
    folder.mkdir()
    for name, text in dict(agent.get("files") or {}).items():
        if _NAME.fullmatch(name) is None or not isinstance(text, str):
            raise Unreadable(
                f"the agent's file {name[:100]!r} cannot be written; give names such as "
                "lib/main.py and text"
            )
        file = folder / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError:
            raise Unreadable(
                f"the agent's files name {name!r} as a file and as a folder; rename one"
            ) from None
        file.chmod(0o755)
    return folder


def store_trial(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit | Retry:
    """Record a trial's result in ``task_results``, and its rewards in ``task_rewards``, once.

    Its details are stored beside its job, and deleted with it; no ledger has them.

    Raises:
        InvalidOutcome: the outcome is not valid for this job.
        NotScorable: it ended without a score too often.
    """
    result, reason = outcome.get("result"), outcome.get("reason", "")
    sha256 = outcome.get("task_sha256")
    if result not in get_args(Outcome):
        raise InvalidOutcome(
            f"result is not one of {', '.join(get_args(Outcome))}; send one of them"
        )
    if not isinstance(reason, str) or len(reason) > _MAX_REASON_LENGTH:
        raise InvalidOutcome(
            f"reason is not a text of {_MAX_REASON_LENGTH} characters at most; shorten it"
        )
    if not isinstance(sha256, str) or _SHA256.fullmatch(sha256) is None:
        raise InvalidOutcome("task_sha256 is not a SHA-256 in hex; send that of the task's folder")
    if result == _FAULT:
        before = sum(str(cause.get("cause", "")).startswith(_FAULT) for cause in job.causes)
        if before + 1 < MAX_UNSCORED_TRIALS:
            return Retry(f"{_FAULT}: {reason}")
        raise NotScorable(f"{_FAULT} after {MAX_UNSCORED_TRIALS} trials: {reason}; retry the job")
    rewards = _rewards(outcome.get("rewards"))
    payload = job.payload
    place = {
        "submission_id": payload["submission"],
        "validator_id": payload["validator"],
        "task_id": payload["task"],
    }
    circumstances = _circumstances(outcome)
    row = {**place, "passed": result == "passed", **circumstances}
    shown = {
        "rewards": rewards,
        "agent_network": circumstances["agent_network"],
        "agent_failure": _agent_failure(outcome.get("agent_failure")),
        **_took(outcome),
    }

    details = checked_details(outcome.get("details"))

    def finish(session: Session) -> Mapping[str, Any]:
        contest = session.contests.lock(payload["contest"])
        if details is not None:
            session.trial_details.save(job.id, details)
        rows = [
            ("task_results", row),
            *(
                ("task_rewards", {**place, "reward_key": key, "reward": reward})
                for key, reward in rewards.items()
            ),
        ]
        recorded = record_once(service, session, contest, rows, by=worker_name(job))
        return {"result": result, "reason": reason, "task_sha256": sha256, **shown, **recorded}

    return finish


def _circumstances(outcome: Mapping[str, Any]) -> dict[str, str]:
    """Return what the record says of how the trial was run.

    Raises:
        InvalidOutcome: a value is not among those that the column may have.
    """
    said = {}
    for name in ("reward_source", "agent_timeout", "agent_network"):
        choices = TASK_RESULTS.column(name).choices
        if outcome.get(name) not in choices:
            raise InvalidOutcome(f"{name} is not one of {', '.join(choices)}; send one of them")
        said[name] = str(outcome[name])
    return said


def _agent_failure(failure: Any) -> dict[str, Any] | None:
    """Return how the agent's command failed, as its worker says; None: it did not.

    Raises:
        InvalidOutcome: it has no such exit code, or more text than a worker sends.
    """
    if failure is None:
        return None
    given: Mapping[str, Any] = failure if isinstance(failure, Mapping) else {}
    code, lines = given.get("exit_code"), given.get("stderr")
    ended = type(code) is int and 0 < code <= _MAX_EXIT_CODE
    if not ended or not isinstance(lines, list | tuple) or len(lines) > MAX_LINES or not all(
        isinstance(line, str) and len(line) <= MAX_CHARACTERS for line in lines
    ):  # fmt: skip
        raise InvalidOutcome(
            f"agent_failure has no exit_code from 1 to {_MAX_EXIT_CODE}, or its stderr is not a "
            f"list of at most {MAX_LINES} lines of {MAX_CHARACTERS} characters; send both, or null"
        )
    return {"exit_code": code, "stderr": list(lines)}


def _took(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a trial took, as far as its worker says so: no record has it.

    Raises:
        InvalidOutcome: a value is no number of seconds, tokens or dollars.
    """
    usage = outcome.get("usage") or {}
    if not isinstance(usage, Mapping):
        raise InvalidOutcome("usage is not an object; send tokens and cost_usd, or null")
    values = {
        "seconds": outcome.get("seconds"),
        "usage.tokens": usage.get("tokens"),
        "usage.cost_usd": usage.get("cost_usd"),
    }
    for name, value in values.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and 0 <= value < _MAX_TAKEN):
            raise InvalidOutcome(f"{name} is not a number from 0 to {_MAX_TAKEN:,}; send one")
    tokens = values["usage.tokens"]
    return {
        "seconds": values["seconds"],
        "usage": {
            "tokens": None if tokens is None else int(tokens),
            "cost_usd": values["usage.cost_usd"],
        },
    }


def _rewards(rewards: Any) -> dict[str, float]:
    """Return the rewards of a trial by key, sorted.

    Raises:
        InvalidOutcome: they are no object of a few names and finite numbers.
    """
    fits = isinstance(rewards, Mapping) and len(rewards) <= _MAX_REWARDS
    if not fits or not all(_is_reward(key, value) for key, value in rewards.items()):
        raise InvalidOutcome(
            f"rewards is not an object of up to {_MAX_REWARDS} names, of {_MAX_KEY_LENGTH} "
            "characters at most, and finite numbers; send one, {} where there are none"
        )
    return {key: float(rewards[key]) for key in sorted(rewards)}


def _is_reward(key: Any, value: Any) -> bool:
    """Return whether a record can have a reward: a plain name and a finite number."""
    is_name = isinstance(key, str) and 0 < len(key) <= _MAX_KEY_LENGTH and key.isprintable()
    return is_name and key == key.strip() and type(value) in {int, float} and math.isfinite(value)


def _task_folder(tasks: Path, name: str) -> Path:
    names = [path.name for path in tasks.iterdir() if path.is_dir()] if tasks.is_dir() else []
    if name not in names:
        raise NotFound(f"{tasks} has no task {name!r}: {did_you_mean(name, names)}")
    return tasks / name
