"""Accept what participants submit, and queue the jobs that judge it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from agon.app.contests.ingest.ndjson import require_external_id
from agon.app.contests.ingest.openness import require_open
from agon.app.contests.ledgers.slugs import problem_id
from agon.app.contests.submissions.agents import accept_agent
from agon.app.contests.submissions.programs import accept_program, canonical_program
from agon.app.contests.submissions.submission import ReceivedSubmission, SubmissionContent
from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.errors import Conflict, Forbidden
from agon.ledger.entry import EntryLine, read_line
from agon.store.session import Session


@dataclass(frozen=True)
class _Acceptance:
    """How submissions of one kind of judging are accepted, and their content made canonical."""

    accept: Callable[[Service, Session, Contest, SubmissionContent, Caller], ReceivedSubmission]
    canonical: Callable[[Mapping[str, Any]], dict[str, Any]]


_WAYS: Final[Mapping[str, _Acceptance]] = {
    "program": _Acceptance(accept_program, canonical_program),
    "trials": _Acceptance(accept_agent, dict),
}
"""By ``agon.disciplines.Submissions.judging``."""


def submit(
    service: Service, contest_id: str, submission: SubmissionContent, *, by: Caller
) -> ReceivedSubmission:
    """Enter a submission and queue what it needs, in one transaction.

    Raises:
        Forbidden: ``by`` is another participant than the submission's.
        NotFound: there is no such contest, problem or competition.
        Unreadable: the content is not valid for the discipline.
        Conflict: the contest or the problem takes no submissions, the discipline has none, or the
            external id was used for another one.
    """
    if by.role == "participant" and submission.user != by.user:
        raise Forbidden(f"a participant submits as {by.user} only; leave the user out")
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        require_open(service, session, contest, by)
        if submission.problem is not None:
            problem = problem_id(session, contest, submission.problem)
            submission = replace(submission, problem=problem)
        if submission.external_id is not None:
            require_external_id(submission.external_id)
            earlier = _earlier(session, contest, submission)
            if earlier is not None:
                return earlier
        return _acceptance_of(contest).accept(service, session, contest, submission, by)


def _acceptance_of(contest: Contest) -> _Acceptance:
    """Return how a contest's submissions are judged.

    Raises:
        Conflict: its discipline has none.
    """
    kind = discipline(contest.discipline).submissions
    if kind is None:
        raise Conflict(f"the {contest.discipline} takes no submissions; send its records instead")
    return _WAYS[kind.judging]


def _earlier(
    session: Session, contest: Contest, submission: SubmissionContent
) -> ReceivedSubmission | None:
    """Return the submission that was sent under the same external id."""
    name = submission.external_id or ""
    existing = session.entries.existing(contest.no, external_ids=[name]).get(name)
    if existing is None:
        return None
    entry = next(
        read_line(stored.line)
        for stored in session.entries.after(contest.no, existing.seq - 1, until=existing.seq)
    )
    if not _is_same(contest, entry, submission):
        # Naming the entry would show how much was recorded.
        raise Conflict(f"the external id {name!r} is that of another record; take another one")
    return ReceivedSubmission(id=entry.body["submission"], seq=existing.seq)


def _is_same(contest: Contest, entry: EntryLine, submission: SubmissionContent) -> bool:
    body = entry.body
    if entry.kind != "submission-received" or body["user"] != submission.user:
        return False
    new = {name: value for name, value in submission.content.items() if value is not None}
    stored = {name: value for name, value in body["content"].items() if value is not None}
    return bool(
        body["problem"] == submission.problem and _acceptance_of(contest).canonical(new) == stored
    )
