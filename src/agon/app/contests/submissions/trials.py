"""Return the run of a submitted agent: its trials with progress, results, costs and details.

Its sender and organizers see it, and every reader where the rule ``trial_details`` is ``public``.
Jobs are deleted some time after their end, and details with them; what the records have of a trial
stays.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from agon.app.access.permissions import SYSTEM, View
from agon.app.contests.submissions.agents import challenge_rules
from agon.app.contests.submissions.listing import SubmissionFilter, submission, submissions
from agon.app.service import Service
from agon.app.tasks.results.details import details_of_json
from agon.disciplines import discipline
from agon.disciplines.challenge.recorded_trials import RecordedTrial, recorded_trials
from agon.disciplines.challenge.records import SERVICE_VALIDATOR
from agon.entities.access import Caller
from agon.entities.jobs import Job
from agon.entities.ledgers import SubmissionView
from agon.entities.trials import Trial, TrialDetails, TrialRun, VisibleRun
from agon.errors import NotFound
from agon.store.session import Session

_RUNNING: Final = frozenset({"queued", "leased"})


def trial_run(service: Service, view: View, submission_id: str, *, by: Caller) -> TrialRun:
    """Return the run of a submission.

    Results that were recorded after what the caller may see of the contest, as while it is frozen,
    are left out; the states of the jobs are not.

    Raises:
        NotFound: there is none of that id that the caller may see, or no trials judge it.
    """
    sent = _sent(service, view, submission_id, by=by)
    own, shows_details = _is_own(view, sent, by), _shows_details(view, sent, by)
    with service.store.read() as session:
        jobs = _jobs(session, view, sent)
        detailed = session.trial_details.among([job.id for job in jobs] if shows_details else [])
    by_task = {
        job.payload["task"]: _trial(
            job, until=view.until, own=own, shows_details=shows_details, detailed=detailed
        )
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
        user=sent.user if own else None,
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


def trial_details(
    service: Service, view: View, submission_id: str, task: str, *, by: Caller
) -> TrialDetails:
    """Return what happened in the last trial of a submission on a task.

    Raises:
        NotFound: there is no such run that the caller may see, or no details of that task that the
            caller may see: of a trial that goes on, of one that ended after what may be seen, of
            one whose job is deleted, or under the rule ``trial_details``.
    """
    sent = _sent(service, view, submission_id, by=by)
    if not _shows_details(view, sent, by):
        raise NotFound(
            f"the details of trials in {view.contest.id} are for organizers; they decide by the "
            "rule trial_details who else sees them"
        )
    with service.store.read() as session:
        of_task = [job for job in _jobs(session, view, sent) if job.payload["task"] == task]
        if not of_task:
            raise NotFound(f"{sent.id} has no trial on {task[:100]!r}; see the tasks of its run")
        job = of_task[-1]
        text = session.trial_details.find(job.id) if _is_visible(job, view.until) else None
    if text is None:
        raise NotFound(
            f"there are no details of the trial on {task[:100]!r}: it has not ended with a score, "
            "its result is not shown yet, or they were deleted with its job"
        )
    return TrialDetails(submission=sent.id, task=task, parts=details_of_json(text))


def visible_runs(
    service: Service,
    view: View,
    *,
    by: Caller,
    ids: Sequence[str] = (),
    after: str | None = None,
    limit: int = 50,
) -> list[VisibleRun]:
    """Return the runs that a caller may see, oldest first; arguments as of ``submissions``.

    Raises:
        Unreadable: the limit is out of range, or there is no submission ``after``.
    """
    if not _has_trials(view):
        return []
    is_public = challenge_rules(view.contest).trial_details == "public"
    if not (is_public or view.staff or by.user is not None):
        return []  # as for most visitors of a board
    reader = SYSTEM if is_public else by
    runs: list[VisibleRun] = []
    while len(runs) < limit:
        read = submissions(
            service, view, SubmissionFilter(ids=ids), by=reader, after=after, limit=limit
        )
        runs += [
            VisibleRun(id=one.id, miner_uid=int(one.content["miner_uid"]), at=one.at)
            for one in read
            if _is_own(view, one, by) or _is_public(view, one)
        ]
        if len(read) < limit:
            break
        after = read[-1].id
    return runs[:limit]


def _sent(service: Service, view: View, submission_id: str, *, by: Caller) -> SubmissionView:
    """Return a submission whose run a caller may see.

    Raises:
        NotFound: there is none of that id that the caller may see, or no trials judge it.
    """
    if not _has_trials(view):
        raise NotFound(f"{view.contest.id} tries no agents on tasks; get the submission itself")
    try:
        return submission(service, view, submission_id, by=by)
    except NotFound:
        if challenge_rules(view.contest).trial_details != "public":
            raise
    sent = submission(service, view, submission_id, by=SYSTEM)
    if not _is_public(view, sent):
        raise NotFound(f"{view.contest.id} has no submission {submission_id!r} that can be seen")
    return sent


def _has_trials(view: View) -> bool:
    kind = discipline(view.contest.discipline).submissions
    return kind is not None and kind.judging == "trials"


def _is_own(view: View, sent: SubmissionView, by: Caller) -> bool:
    """Return whether a submission is the caller's own, or the caller organizes the contest."""
    return view.staff or (by.user is not None and by.user == sent.user)


def _is_public(view: View, sent: SubmissionView) -> bool:
    """Return whether the run of a submission that the system read is for every reader by now."""
    if challenge_rules(view.contest).trial_details != "public":
        return False
    return view.until is None or (sent.seq is not None and sent.seq <= view.until)


def _shows_details(view: View, sent: SubmissionView, by: Caller) -> bool:
    """Return whether a caller who sees a run may see what happened in its trials."""
    readers = challenge_rules(view.contest).trial_details
    return view.staff or readers == "public" or (readers == "author" and _is_own(view, sent, by))


def _jobs(session: Session, view: View, sent: SubmissionView) -> list[Job]:
    """Return the jobs of a run, oldest first: of a task tried again, the last one counts.

    A later one left the record of the first as it was: a reader of results up to a position sees
    the first.
    """
    jobs = session.queue.trials_of(view.contest.no, sent.id, since=sent.at)
    if view.until is None:
        return jobs
    return [job for job in jobs if (job.result or {}).get("recorded", True)]


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
        details=False,
    )


def _is_visible(job: Job, until: int | None) -> bool:
    """Return whether the result of a job was recorded up to a position."""
    return until is None or (job.result or {}).get("seq", 0) <= until


def _trial(
    job: Job, *, until: int | None, own: bool, shows_details: bool, detailed: Collection[str]
) -> Trial:
    """Return the trial of a job; without its result if that was recorded after a position.

    Why a job failed is for its sender and organizers: that may be a fault of the worker's machine.
    """
    is_visible = _is_visible(job, until)
    outcome = dict(job.result or {}) if is_visible else {}
    usage = outcome.get("usage") or {}
    result = outcome.get("result") or ("unscored" if job.state == "failed" else None)
    failure = outcome.get("agent_failure") or {}
    causes = [str(cause.get("cause", "")) for cause in job.causes]
    has_no_score = own and job.state in {"failed", *_RUNNING}
    return Trial(
        task=str(job.payload["task"]),
        job=job.id,
        state=job.state,
        result=result,
        reason=outcome.get("reason") or (causes[-1] if causes and has_no_score else ""),
        agent_exit_code=failure.get("exit_code"),
        agent_stderr=tuple(failure.get("stderr") or ()) if shows_details else (),
        rewards=outcome.get("rewards") or {},
        agent_network=outcome.get("agent_network"),
        attempts=job.attempts,
        progress=job.progress,
        seconds=outcome.get("seconds"),
        tokens=usage.get("tokens"),
        cost_usd=usage.get("cost_usd"),
        ended_at=job.ended_at,
        details=is_visible and job.id in detailed,
    )
