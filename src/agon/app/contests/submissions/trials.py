"""Return the run of a submitted agent: its trials with progress, results and costs.

Jobs are deleted some time after their end; what the records have of a trial stays.
"""

import math
from collections import Counter
from typing import Final

from agon.app.access.permissions import View
from agon.app.contests.submissions.agents import challenge_rules
from agon.app.contests.submissions.listing import submission
from agon.app.service import Service
from agon.disciplines import discipline
from agon.disciplines.challenge.recorded_trials import RecordedTrial, recorded_trials
from agon.disciplines.challenge.records import SERVICE_VALIDATOR
from agon.entities.access import Caller
from agon.entities.jobs import Job
from agon.entities.trials import Trial, TrialRun
from agon.errors import NotFound

_RUNNING: Final = frozenset({"queued", "leased"})


def trial_run(service: Service, view: View, submission_id: str, *, by: Caller) -> TrialRun:
    """Return the run of a submission.

    Results that were recorded after what the caller may see of the contest, as while it is frozen,
    are left out; the states of the jobs are not.

    Raises:
        NotFound: there is none of that id, it is another user's, or no trials judge it.
    """
    kind = discipline(view.contest.discipline).submissions
    sent = submission(service, view, submission_id, by=by)
    if kind is None or kind.judging != "trials":
        raise NotFound(f"{view.contest.id} tries no agents on tasks; get the submission itself")
    with service.store.read() as session:
        jobs = session.queue.trials_of(view.contest.no, sent.id, since=sent.at)
    # A retried task counts once.
    shows_stderr = view.staff or challenge_rules(view.contest).agent_stderr == "author"
    by_task = {
        job.payload["task"]: _trial(job, until=view.until, shows_stderr=shows_stderr)
        for job in jobs
    }
    if not any(one.state in _RUNNING for one in by_task.values()):
        for recorded in _from_records(service, view, sent.id):
            by_task.setdefault(recorded.task, _trial_of_record(recorded))
    trials = tuple(by_task[task] for task in sorted(by_task))
    tokens = [one.tokens for one in trials if one.tokens is not None]
    costs = [one.cost_usd for one in trials if one.cost_usd is not None]
    return TrialRun(
        submission=sent.id,
        user=sent.user,
        miner_uid=int(sent.content["miner_uid"]),
        at=sent.at,
        total=len(trials),
        ended=sum(one.state not in _RUNNING for one in trials),
        counts=dict(sorted(Counter(one.result for one in trials if one.result).items())),
        seconds=round(math.fsum(one.seconds or 0.0 for one in trials), 3),
        tokens=sum(tokens) if tokens else None,
        cost_usd=math.fsum(costs) if costs else None,
        trials=trials,
    )


def _from_records(service: Service, view: View, submission_id: str) -> list[RecordedTrial]:
    """Return what the records have of the service's own trials of a submission."""
    with service.replicas.current(service.store, view.contest) as live:
        return recorded_trials(
            live.records(view.until), submission=submission_id, validator=SERVICE_VALIDATOR
        )


def _trial_of_record(recorded: RecordedTrial) -> Trial:
    """Return a trial whose job is stored no more."""
    return Trial(
        task=recorded.task,
        job=None,
        state="done",
        result="passed" if recorded.passed else "failed",
        reason="",
        agent_exit_code=None,
        agent_stderr=(),
        rewards=recorded.rewards,
        agent_network=recorded.agent_network,
        attempts=None,
        progress=None,
        seconds=None,
        tokens=None,
        cost_usd=None,
        ended_at=None,
    )


def _trial(job: Job, *, until: int | None, shows_stderr: bool) -> Trial:
    """Return the trial of a job; without its result if that was recorded after a position."""
    outcome = dict(job.result or {})
    is_visible = until is None or outcome.get("seq", 0) <= until
    if not is_visible:
        outcome = {}
    usage = outcome.get("usage") or {}
    result = outcome.get("result") or ("unscored" if job.state == "failed" else None)
    failure = outcome.get("agent_failure") or {}
    causes = [str(cause.get("cause", "")) for cause in job.causes]
    has_no_score = job.state in {"failed", *_RUNNING}
    return Trial(
        task=str(job.payload["task"]),
        job=job.id,
        state=job.state,
        result=result,
        reason=outcome.get("reason") or (causes[-1] if causes and has_no_score else ""),
        agent_exit_code=failure.get("exit_code"),
        agent_stderr=tuple(failure.get("stderr") or ()) if shows_stderr else (),
        rewards=outcome.get("rewards") or {},
        agent_network=outcome.get("agent_network"),
        attempts=job.attempts,
        progress=job.progress,
        seconds=outcome.get("seconds"),
        tokens=usage.get("tokens"),
        cost_usd=usage.get("cost_usd"),
        ended_at=job.ended_at,
    )
