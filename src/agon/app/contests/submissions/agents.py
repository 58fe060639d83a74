"""Accept agents that solve the service's tasks; a job per task tries each in containers."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from agon.app.analysis.score import rules_of
from agon.app.contests.ledgers.append import append
from agon.app.contests.submissions.miners import hotkey_for, missing_for_trials, rows_of
from agon.app.contests.submissions.submission import (
    ReceivedSubmission,
    SubmissionContent,
    content_of,
    queue_jobs,
    received_draft,
)
from agon.app.queue.jobs import TrialTask, trial_job
from agon.app.service import Service
from agon.disciplines.challenge.records import MAIN, MAX_UID, SERVICE_VALIDATOR
from agon.disciplines.challenge.rules import ChallengeRules
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Conflict, NotFound, Unreadable, did_you_mean
from agon.kernel.times import written_time
from agon.ledger.entry import Draft
from agon.store.session import Session

_MAX_COMMAND: Final = 2_000
_MAX_FILES: Final = 100
_MAX_BYTES: Final = 1 << 20


def accept_agent(
    service: Service, session: Session, contest: Contest, submission: SubmissionContent, by: Caller
) -> ReceivedSubmission:
    """Enter an agent and queue a trial on every task of the service.

    Raises:
        Unreadable: the content is not an agent.
        Forbidden: a participant submits for another miner.
        NotFound: there is no such competition.
        Conflict: the service has no tasks, or the contest no validator for its trials.
    """
    content = content_of(contest, submission)
    uid = _uid(content.get("miner_uid"))
    hotkey = hotkey_for(session, contest, uid, by)
    agent = _agent(content.get("agent"))
    competition = _competition(session, contest, content.get("competition"))
    tasks = service.tasks()
    if missing := list(missing_for_trials(service, session, contest)):
        raise Conflict("; ".join(missing))
    name = service.new_id()
    stored_content = {"miner_uid": uid, "agent": agent, "competition": competition}
    received = received_draft(service, name, submission, stored_content, by)
    row = {
        "id": name,
        "miner_uid": uid,
        "submitted_at": written_time(received.at),
        "content_hash": hashlib.sha256(
            orjson.dumps(agent, option=orjson.OPT_SORT_KEYS)
        ).hexdigest(),
    }
    if competition is not None:
        row["competition"] = competition
    if hotkey is not None:
        row["miner_hotkey"] = hotkey
    recorded = Draft(
        kind="record-added", body={"table": "submissions", "row": row}, at=received.at, by=by.name
    )
    contest = append(service, session, contest, [received, recorded])
    rules = _trial_rules(contest)
    jobs = [
        trial_job(
            contest,
            TrialTask(
                submission=name, task=task, validator=SERVICE_VALIDATOR, agent=agent, rules=rules
            ),
            id=service.new_id(),
            by=by.name,
        )
        for task in tasks
    ]
    return queue_jobs(service, session, name, contest.seq - 1, jobs)


def challenge_rules(contest: Contest) -> ChallengeRules:
    """Return the rules in force in a contest of the challenge."""
    rules: Any = rules_of(contest.discipline, contest.edition, contest.overrides)[1]
    assert isinstance(rules, ChallengeRules)  # noqa: S101 - for mypy: its kind was checked
    return rules


def _trial_rules(contest: Contest) -> dict[str, str]:
    """Return the contest's rules for those who run tasks."""
    rules = challenge_rules(contest)
    stated = {"reward_source": rules.reward_source} if "reward_source" in contest.overrides else {}
    return {"agent_timeout": rules.agent_timeout, **stated}


def _uid(uid: Any) -> int:
    if type(uid) is not int or not 0 <= uid <= MAX_UID:
        raise Unreadable(
            f"miner_uid is {str(uid)[:40]!r}; give the miner's uid, an integer from 0 to {MAX_UID}"
        )
    return uid


def _agent(agent: Any) -> dict[str, Any]:
    if not isinstance(agent, Mapping) or not set(agent) <= {"command", "files"}:
        raise Unreadable("agent is not an object of command and files; give both")
    command, files = agent.get("command"), agent.get("files") or {}
    if not isinstance(command, str) or not 0 < len(command.strip()) <= _MAX_COMMAND:
        raise Unreadable(f"agent.command has 1 to {_MAX_COMMAND:,} characters; give one")
    texts = isinstance(files, Mapping) and all(
        isinstance(part, str) for pair in files.items() for part in pair
    )
    if not texts or len(files) > _MAX_FILES:
        raise Unreadable(f"agent.files is not an object of up to {_MAX_FILES} names and texts")
    try:
        size = sum(len(text.encode()) for text in files.values())
    except UnicodeEncodeError:
        raise Unreadable("agent.files has a text that is not UTF-8; save it as UTF-8") from None
    if size > _MAX_BYTES:
        raise Unreadable(f"agent.files have {size:,} bytes, the most is {_MAX_BYTES:,}; shorten")
    return {"command": command, "files": dict(files)}


def _competition(session: Session, contest: Contest, name: Any) -> str | None:
    if name is None:
        name = MAIN
        is_given = False
    else:
        is_given = True
    rows = rows_of(session, contest, "competitions")
    competitions = [str(row["id"]) for row in rows] or [MAIN]
    if str(name) not in competitions:
        raise NotFound(
            f"there is no competition {str(name)[:80]!r}: {did_you_mean(str(name), competitions)}"
        )
    return str(name) if is_given else None
