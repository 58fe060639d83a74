"""Accept programs that answer a published problem; a job judges each in the sandbox."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from agon.app.contests.ledgers.append import append
from agon.app.contests.submissions.extra_time import personal_problem
from agon.app.contests.submissions.feedback import require_submissions_left
from agon.app.contests.submissions.problems import optional_text, published_problem
from agon.app.contests.submissions.submission import (
    ReceivedSubmission,
    SubmissionContent,
    content_of,
    queue_jobs,
    received_draft,
)
from agon.app.dojo.inspection import judging_rules, rules_in_force
from agon.app.dojo.lifecycle import PublishedProblem, require_open
from agon.app.queue.jobs import JudgingTask, judge_job
from agon.app.service import Service
from agon.disciplines.dojo.canonical import canonicalize
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Unreadable
from agon.kernel.times import written_time
from agon.store.session import Session

_MAX_NOTES: Final = 10_000
_MAX_TAG: Final = 100


def accept_program(
    service: Service, session: Session, contest: Contest, submission: SubmissionContent, by: Caller
) -> ReceivedSubmission:
    """Enter a program and queue the job that judges it.

    Raises:
        Unreadable: the content is not a program.
        NotFound, Conflict: there is no such problem, or it is frozen, or the user has made as
            many submissions to it as the rule ``max_submissions`` allows.
    """
    content = content_of(contest, submission)
    source = _source(content.get("source"))
    stored_content = {
        "source": source,
        "method_tag": optional_text("method_tag", content.get("method_tag"), _MAX_TAG),
        "notes": optional_text("notes", content.get("notes"), _MAX_NOTES),
    }
    if submission.problem is None:
        raise Unreadable("a submission to the dojo names its problem; give its id")
    problem = published_problem(session, contest, submission.problem)
    terms = session.members.terms(contest.no, submission.user)
    own, now = personal_problem(problem, terms), service.clock()
    require_open(own, now=now)
    require_submissions_left(
        service, session, contest, user=submission.user, problem=submission.problem
    )
    name = service.new_id()
    draft = received_draft(service, name, submission, stored_content, by)
    contest = append(service, session, contest, [draft])
    judging = JudgingTask(
        submission=name,
        seq=contest.seq,
        problem_seq=problem.seq,
        source=source,
        n_check=problem.n_check,
        extended_until=_extended_until(problem, own, now=now),
        **judging_rules(rules_in_force(contest.edition, contest.overrides)),
    )
    job = judge_job(contest, judging, id=service.new_id(), by=by.name)
    return queue_jobs(service, session, name, contest.seq, [job])


def _extended_until(
    problem: PublishedProblem, own: PublishedProblem, *, now: datetime
) -> str | None:
    """Return the end of the user's extra time; None where the problem is open for everyone."""
    if problem.freeze_started_at is None or now < problem.freeze_started_at:
        return None
    return None if own.freeze_started_at is None else written_time(own.freeze_started_at)


def canonical_program(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content as it is entered, to compare it with an earlier submission's."""
    if not isinstance(content.get("source"), str):
        return dict(content)
    return {**content, "source": _source(content["source"])}


def _source(source: Any) -> str:
    most = rules_in_force().max_source_bytes
    if not isinstance(source, str) or not source.strip():
        raise Unreadable("source is not a program; give the text of solver.py")
    try:
        canonical = canonicalize(source.encode())
    except UnicodeEncodeError:
        raise Unreadable("source is not a UTF-8 text; save the file as UTF-8") from None
    if len(canonical) > most:
        raise Unreadable(f"source has {len(canonical):,} bytes, the most is {most:,}; shorten it")
    return canonical.decode()
