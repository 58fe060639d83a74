"""Problems and submissions beside the database; jobs they need wait for a worker."""

from collections.abc import Iterator, Mapping
from typing import Any

from agon.app.access.permissions import View, viewed
from agon.app.contests.submissions import creation, disclosure, listing, problems
from agon.app.contests.submissions.submission import Submission
from agon.app.service import Service
from agon.client.values import ContestTold, JobTold, ProblemTold, SubmissionTold, SubmittedTold
from agon.entities.access import Caller
from agon.entities.jobs import Job
from agon.errors import Unreadable

_PAGE = 200


class LocalProblems:
    """Pose problems; see :class:`agon.client.ports.Problems`."""

    def __init__(self, service: Service, by: Caller) -> None:
        self._service = service
        self._by = by

    def list(self, contest: str) -> Iterator[ProblemTold]:
        """Yield a contest's problems in the order of their publication, without answers."""
        view, after = _view(self._service, contest, self._by), 0
        while True:
            found = disclosure.problems(self._service, view, after=after, limit=_PAGE)
            for after, told in found:  # noqa: B007 (the next page begins behind the last)
                yield ProblemTold.model_validate(told)
            if len(found) < _PAGE:
                return

    def get(self, contest: str, problem: str) -> ProblemTold:
        """Return a problem, with its answer once it is revealed."""
        view = _view(self._service, contest, self._by)
        return ProblemTold.model_validate(disclosure.problem(self._service, view, problem))

    def publish(self, contest: str, package: Mapping[str, Any]) -> tuple[str, JobTold]:
        """Have a setter go through its gate; return the problem's id and the job."""
        name, job = problems.publish_problem(self._service, contest, package, by=self._by)
        return name, _job_told(job, contest)

    def reveal(self, contest: str, problem: str) -> ContestTold:
        """Let everybody see a problem's source and terms."""
        done = problems.reveal_problem(self._service, contest, problem, by=self._by)
        return ContestTold.model_validate(done)


class LocalSubmissions:
    """Send what is to be judged; see :class:`agon.client.ports.Submissions`."""

    def __init__(self, service: Service, by: Caller) -> None:
        self._service = service
        self._by = by

    def send(
        self,
        contest: str,
        content: Mapping[str, Any],
        *,
        problem: str | None = None,
        user: str | None = None,
        external_id: str | None = None,
    ) -> SubmittedTold:
        """Send a program or an agent; it is judged by a worker.

        Raises:
            Unreadable: nobody is named, and who asks is no user.
        """
        whose = user or self._by.user
        if whose is None:
            raise Unreadable("name the user whose submission it is: --user U, or user")
        sent = Submission(user=whose, problem=problem, content=content, external_id=external_id)
        done = creation.submit(self._service, contest, sent, by=self._by)
        jobs = tuple(_job_told(job, contest) for job in done.jobs)
        return SubmittedTold(id=done.id, seq=done.seq, jobs=jobs)

    def list(self, contest: str) -> Iterator[SubmissionTold]:
        """Yield submissions, oldest first: the staff's view all, others' their own."""
        view, after = _view(self._service, contest, self._by), None
        while True:
            found = listing.submissions(self._service, view, by=self._by, after=after, limit=_PAGE)
            yield from map(SubmissionTold.model_validate, found)
            if len(found) < _PAGE:
                return
            after = found[-1].id

    def get(self, contest: str, submission: str) -> SubmissionTold:
        """Return a submission."""
        view = _view(self._service, contest, self._by)
        found = listing.submission(self._service, view, submission, by=self._by)
        return SubmissionTold.model_validate(found)


def _view(service: Service, contest: str, by: Caller) -> View:
    with service.store.read() as session:
        return viewed(session, contest, by)


def _job_told(job: Job, contest: str) -> JobTold:
    return JobTold.model_validate(job).model_copy(update={"contest": contest})
