"""Problems and submissions over HTTP."""

from collections.abc import Iterator, Mapping
from typing import Any

from agon.client.values import ContestTold, JobTold, ProblemTold, SubmissionTold, SubmittedTold
from agon.client.wire import Wire


class RemoteProblems:
    """Pose problems; see :class:`agon.client.ports.Problems`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def list(self, contest: str) -> Iterator[ProblemTold]:
        """Yield a contest's problems in the order of their publication, without answers."""
        for one in self._wire.pages("contests", contest, "problems"):
            yield ProblemTold.model_validate(one)

    def get(self, contest: str, problem: str) -> ProblemTold:
        """Return a problem, with its answer once it is revealed."""
        return ProblemTold.model_validate(self._wire.get("contests", contest, "problems", problem))

    def publish(self, contest: str, package: Mapping[str, Any]) -> tuple[str, JobTold]:
        """Have a setter go through its gate; return the problem's id and the job."""
        body = {"package": dict(package)}
        told = self._wire.send("POST", "contests", contest, "problems", body=body)
        return told["id"], JobTold.model_validate(told["job"])

    def reveal(self, contest: str, problem: str) -> ContestTold:
        """Let everybody see a problem's source and terms."""
        told = self._wire.send("POST", "contests", contest, "problems", problem, "reveal")
        return ContestTold.model_validate(told)


class RemoteSubmissions:
    """Send what is to be judged; see :class:`agon.client.ports.Submissions`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def send(
        self,
        contest: str,
        content: Mapping[str, Any],
        *,
        problem: str | None = None,
        user: str | None = None,
        external_id: str | None = None,
    ) -> SubmittedTold:
        """Send a program or an agent; it is judged by a worker."""
        body = {"content": dict(content), "problem": problem, "user": user,
                "external_id": external_id}  # fmt: skip
        told = self._wire.send("POST", "contests", contest, "submissions", body=body)
        return SubmittedTold.model_validate(told)

    def list(self, contest: str) -> Iterator[SubmissionTold]:
        """Yield submissions, oldest first: the staff's view all, others' their own."""
        for one in self._wire.pages("contests", contest, "submissions"):
            yield SubmissionTold.model_validate(one)

    def get(self, contest: str, submission: str) -> SubmissionTold:
        """Return a submission."""
        told = self._wire.get("contests", contest, "submissions", submission)
        return SubmissionTold.model_validate(told)
