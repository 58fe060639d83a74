"""The pages of a dojo contest's problems, and the form that submits a program."""

from itertools import islice
from typing import Final

from pydantic import ValidationError

from agon.api.models.contests import Contest
from agon.app.access.permissions import permits
from agon.app.dojo.conditions import contest_sentences
from agon.disciplines import discipline
from agon.errors import AgonError, NotFound
from agon.kernel.text.bidi import isolated_text
from agon.web import addresses
from agon.web.page import Redirect, SitePage, Visit, error_texts
from agon.web.pages.submit import (
    example,
    obstacle,
    own_submissions,
    own_terms,
    submit_program,
)

_PROBLEMS: Final = 500
_BOARD: Final = "problem:"
"""What the names of problems' boards begin with."""


def problems(visit: Visit) -> SitePage:
    """Return the published problems, and the boards of those that came as records."""
    contest = _dojo(visit)
    listed = list(islice(visit.api.problems.list(contest.id), _PROBLEMS))
    boards = {
        each.board.removeprefix(_BOARD): each
        for each in visit.api.boards.list(contest.id).items
        if each.board.startswith(_BOARD)
    }
    of_records = [
        board for name, board in boards.items() if name not in {each.id for each in listed}
    ]
    return SitePage(
        template="problems.html",
        title=f"Problems · {contest.title}",
        values={
            "contest": contest,
            "problems": listed,
            "boards": boards,
            "of_records": of_records[:_PROBLEMS],
            "now": visit.service.clock(),
        },
        data=addresses.api("contests", contest.id, "problems"),
    )


def problem(visit: Visit, *, error: Exception | None = None, status: int = 200) -> SitePage:
    """Return a problem with its disclosed terms, the form, and the visitor's own submissions."""
    contest, api = _dojo(visit), visit.api
    problem = api.problems.get(contest.id, visit.path["id"])
    problem_id = problem.id
    values = {
        "contest": contest,
        "problem": problem,
        "conditions": contest_sentences(contest),
        "now": visit.service.clock(),
        "may_submit": visit.caller.user is not None
        and permits(visit.caller, "submission.add", contest=contest),
        "signed_in": visit.caller.user is not None,
        "obstacle": obstacle(visit, contest),
        "own_terms": own_terms(visit, contest),
        "errors": error_texts(error),
        "source": visit.form.get("source", example(problem.N_check)),
        "submissions": own_submissions(visit, contest, problem=problem_id),
    }
    return SitePage(
        template="problem.html",
        title=f"{isolated_text(problem.title)} · {contest.title}",
        values=values,
        data=addresses.api("contests", contest.id, "problems", problem_id),
        status=status,
    )


def submit(visit: Visit) -> SitePage | Redirect:
    """Submit a program for the problem in the path."""
    contest, problem_id = _dojo(visit), visit.path["id"]
    try:
        return submit_program(visit, contest, problem_id)
    except (AgonError, ValidationError) as error:
        return problem(visit, error=error, status=422)


def _dojo(visit: Visit) -> Contest:
    """Return the contest in the path.

    Raises:
        NotFound: its discipline has no problems.
    """
    contest = visit.contest()
    if discipline(contest.discipline).problems is None:
        raise NotFound(f"{contest.id} is a {contest.discipline} contest, which has no problems")
    return contest
