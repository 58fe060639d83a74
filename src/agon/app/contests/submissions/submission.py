"""A submission, and the steps of accepting one that all kinds of judging share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agon.app.service import Service
from agon.disciplines import discipline
from agon.entities.access import Caller
from agon.entities.contests import Contest
from agon.entities.jobs import Job, NewJob
from agon.errors import Unreadable, did_you_mean
from agon.ledger.drafts import submission_draft
from agon.ledger.entry import Draft
from agon.store.session import Session


@dataclass(frozen=True, kw_only=True)
class SubmissionContent:
    """The content that a participant submits.

    Attributes:
        user: the participant.
        problem: the id or the slug of the problem a program answers; None for an agent.
        content: of a program ``source`` and optionally ``method_tag`` and ``notes``; of an agent
            ``miner_uid``, ``agent`` (``command``, ``files``) and optionally ``competition``.
        external_id: the sender's own id for it: sent twice, it is one submission.
    """

    user: str
    content: Mapping[str, Any] = field(repr=False)
    problem: str | None = None
    external_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReceivedSubmission:
    """A received submission and the jobs that judge it.

    Attributes:
        id: its id; its verdict or its results are recorded under it.
        seq: position of its entry.
        jobs: the jobs that were queued; none when it was sent before.
    """

    id: str
    seq: int
    jobs: tuple[Job, ...] = ()

    @property
    def job(self) -> Job | None:
        """Return the first job, None when there is none."""
        return self.jobs[0] if self.jobs else None


def content_of(contest: Contest, submission: SubmissionContent) -> Mapping[str, Any]:
    """Return a submission's content when all its fields are known to the discipline.

    Raises:
        Unreadable: it is not an object, or has an unknown field.
    """
    kind = discipline(contest.discipline).submissions
    names = () if kind is None else kind.fields
    content = submission.content
    if not isinstance(content, Mapping):
        raise Unreadable(f"the content is not an object; give {', '.join(names)}")
    for name in content:
        if name not in names:
            raise Unreadable(
                f"the content has {str(name)[:80]!r}: {did_you_mean(str(name), names)}"
            )
    return content


def received_draft(
    service: Service,
    name: str,
    submission: SubmissionContent,
    content: Mapping[str, Any],
    by: Caller,
) -> Draft:
    """Return the draft of a ``submission-received`` entry.

    Args:
        service: the service.
        name: the id the submission gets.
        submission: what was sent.
        content: its content in canonical form.
        by: who sent it.
    """
    return submission_draft(
        name,
        user=submission.user,
        problem=submission.problem,
        content=content,
        at=service.clock(),
        by=by.name,
        external_id=submission.external_id,
    )


def queue_jobs(
    service: Service, session: Session, name: str, seq: int, jobs: Sequence[NewJob]
) -> ReceivedSubmission:
    """Queue the jobs that judge a submission, and return it with them."""
    now = service.clock()
    return ReceivedSubmission(
        id=name, seq=seq, jobs=tuple(session.queue.add(job, now=now) for job in jobs)
    )
