"""Problems of the dojo: what solvers work from, and how organizers publish and reveal them."""

from typing import Annotated

from pydantic import Field

from agon.api.command import Command, Option
from agon.api.models.base import Page
from agon.api.models.contests import Contest
from agon.api.models.submissions import Problem, ProblemCreate, ProblemReceipt
from agon.api.operation import ContestContext, operation
from agon.api.operations.contest_resources import visible_to_staff
from agon.api.operations.jobs import waiting
from agon.api.pages import PageRequest
from agon.api.parameters import FreeId
from agon.api.transport import Noun
from agon.app.contests.submissions import disclosure, problems

ProblemId = Annotated[FreeId, Field(description="The problem's id, its P_hash, or its slug.")]


@operation("GET", "/contests/{contest}/problems", id="listProblems", permission="contest.read",
           cost="quick", summary="List problems",
           command=Command(
               "contest problems",
               columns=("id", "slug", "title", "N_check", "first_index", "freeze_started_at",
                        "revealed"),
               one={"getProblem": Option("--problem", help="Only this problem (id or slug), with "
                                         "its answer once it is revealed.", metavar="P")}),
           )  # fmt: skip
def list_problems(ctx: ContestContext, page: PageRequest) -> Page[Problem]:
    """Return problems in the order of their publication, with their disclosed terms.

    $ agon contest problems
        List the problems of ID; --format json includes the disclosed terms.

        Source and all terms are shown once they are revealed.

          agon contest problems autumn
          agon contest problems autumn --problem 4f6c…
          agon contest problems autumn --format json --output problems.json
    """
    start = page.after(int) or 0
    published = disclosure.problems(
        ctx.service, ctx.view, user=ctx.caller.user, after=start, limit=page.sought
    )
    return page.page(
        published,
        key=lambda published: published[0],
        item=lambda published: Problem.model_validate(published[1]),
    )


@operation("GET", "/contests/{contest}/problems/{id}", id="getProblem",
           permission="contest.read", cost="quick", summary="Get a problem")  # fmt: skip
def get_problem(ctx: ContestContext, problem: ProblemId) -> Problem:
    """Return a problem with its disclosed terms; with source and all terms once it is revealed."""
    published = disclosure.problem(ctx.service, ctx.view, problem, user=ctx.caller.user)
    return Problem.model_validate(published)


@operation("POST", "/contests/{contest}/problems", id="publishProblem",
           permission="problem.manage",
           cost="quick", records="protocol", summary="Publish a problem", status=202)  # fmt: skip
def publish_problem(ctx: ContestContext, request: ProblemCreate) -> ProblemReceipt:
    """Validate a setter and publish its problem; a worker runs the setter."""
    name, job = problems.publish_problem(
        ctx.service, ctx.contest.id, request.package, by=ctx.caller
    )
    return ProblemReceipt(id=name, job=waiting(ctx.service, job, contest=ctx.contest.id))


@operation("POST", "/contests/{contest}/problems/{id}/reveal", id="revealProblem",
           permission="problem.manage", cost="quick", records="none", summary="Reveal a problem",
           command=Command("contest reveal", says="{problem} is revealed"))  # fmt: skip
def reveal_problem(ctx: ContestContext, problem: ProblemId) -> Contest:
    """Show a problem's source and terms to everyone who may see the contest.

    $ agon contest reveal
        Publish source and terms of PROBLEM, whose freeze must have ended.

        Then anyone can verify the problem's hash and repeat the judging.

          agon contest reveal autumn 4f6c…
    """
    revealed = problems.reveal_problem(ctx.service, ctx.contest.id, problem, by=ctx.caller)
    return visible_to_staff(ctx.service, revealed)


class Problems(Noun):
    """Problems of a dojo contest."""

    list = list_problems
    get = get_problem
    publish = publish_problem
    reveal = reveal_problem
