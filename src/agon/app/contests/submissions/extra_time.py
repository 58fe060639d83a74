"""Extra time of one person for one problem: until when the problem takes the person's programs."""

from dataclasses import replace
from datetime import datetime

from agon.app.contests.submissions.problems import published_problem, revealed_at
from agon.app.dojo.lifecycle import PublishedProblem
from agon.entities.contests import Contest
from agon.entities.members import MemberTerms
from agon.errors import Conflict, Unreadable
from agon.kernel.times import written_time
from agon.store.session import Session


def personal_problem(problem: PublishedProblem, terms: MemberTerms | None) -> PublishedProblem:
    """Return a problem with the freeze that holds for a person of some terms."""
    end = None if terms is None else terms.problem_ends.get(problem.id)
    freeze = problem.freeze_started_at
    if end is None or freeze is None or end <= freeze:
        return problem
    return replace(problem, freeze_started_at=end)


def with_problem_end(
    session: Session, contest: Contest, terms: MemberTerms, *, problem_id: str, end: datetime
) -> MemberTerms:
    """Return a person's terms with extra time for a problem.

    Raises:
        NotFound: there is no such problem.
        Conflict: it is revealed or has no freeze, or the contest has no problems.
        Unreadable: the end is not after the freeze, or is after the person's end of the contest.
    """
    problem = published_problem(session, contest, problem_id)
    freeze, user = problem.freeze_started_at, terms.user
    if revealed_at(session, contest, problem.id) is not None:
        raise Conflict(f"problem {problem.id} is revealed; its answer is public, choose another")
    if freeze is None:
        raise Conflict(
            f"problem {problem.id} has no freeze; give {user} a later end of the contest instead"
        )
    if end <= freeze:
        raise Unreadable(
            f"the end {written_time(end)} of {user} is not after the freeze of problem "
            f"{problem.id}, {written_time(freeze)}; give a later one"
        )
    contest_end = contest.ends_at
    if contest_end is not None and terms.ends_at is not None:
        contest_end = max(contest_end, terms.ends_at)
    if contest_end is not None and end > contest_end:
        raise Unreadable(
            f"the end {written_time(end)} is after {contest.id} ends for {user}, "
            f"{written_time(contest_end)}; first give a later end of the contest"
        )
    return replace(terms, problem_ends={**terms.problem_ends, problem.id: end})
