"""Submissions, votes and matches."""

from typing import Annotated, Any, Final

from pydantic import Field

from agon.api.command import Command, Option
from agon.api.models.base import Page
from agon.api.models.jobs import Job
from agon.api.models.records import ImportSummary, Record
from agon.api.models.submissions import (
    Submission,
    SubmissionCreate,
    SubmissionReceipt,
    TrialDetails,
    TrialRun,
    VisibleRun,
)
from agon.api.operation import ContestContext, operation
from agon.api.operations.jobs import queue_job, waiting
from agon.api.operations.records import ndjson_body, records_page
from agon.api.pages import PageRequest
from agon.api.parameters import FreeId
from agon.api.transport import Noun
from agon.app.access.permissions import permits
from agon.app.arena.live.beginning import require_round
from agon.app.contests.submissions import creation, listing
from agon.app.contests.submissions.submission import SubmissionContent as NewSubmission
from agon.app.contests.submissions.trials import trial_details, trial_run, visible_runs
from agon.app.queue.jobs import round_job
from agon.disciplines import Ballot, Rounds, discipline
from agon.errors import Conflict, Unreadable

SubmissionId = Annotated[FreeId, Field(description="The submission's id.")]
TaskName = Annotated[FreeId, Field(description="The task's name.")]
MAX_NAMED: Final = 500
"""Maximum number of submissions that are listed by their ids: as many as a page of a board has."""
NamedIds = Annotated[
    tuple[FreeId, ...],
    Field(max_length=MAX_NAMED, description="Only submissions with these ids; none: all."),
]

_VOTE: Final[dict[str, Any]] = {"type": "object", "additionalProperties": True}
_EXAMPLE: Final = '{"match_id":"m1","judge_id":"judy","vote":"A"}\n'


@operation("POST", "/contests/{contest}/submissions", id="submit", permission="submission.add",
           cost="quick", records="protocol", summary="Create a submission", status=202,
           location="/contests/{contest}/submissions/{result.id}")  # fmt: skip
def submit(ctx: ContestContext, request: SubmissionCreate) -> SubmissionReceipt:
    """Submit a program or an agent; a worker judges it."""
    user = request.user or ctx.caller.user
    if user is None:
        raise Unreadable("the caller has no user; name the participant: user (or --user)")
    new = NewSubmission(
        user=user,
        problem=request.problem,
        content=request.content,
        external_id=request.external_id,
    )
    receipt = creation.submit(ctx.service, ctx.contest.id, new, by=ctx.caller)
    jobs = tuple(waiting(ctx.service, job, contest=ctx.contest.id) for job in receipt.jobs)
    seq = receipt.seq if permits(ctx.caller, "submission.read", contest=ctx.contest) else None
    return SubmissionReceipt(id=receipt.id, seq=seq, jobs=jobs)


@operation("GET", "/contests/{contest}/submissions", id="listSubmissions",
           permission="submission.read-own", cost="quick", summary="List submissions",
           command=Command(
               "contest submissions", without=("id", "user", "problem"),
               columns=("id", "user", "verdict", "terms_matched", "at", "problem"),
               one={"getSubmission": Option("submission", metavar="[SUBMISSION]",
                                            argument=True)}))  # fmt: skip
def list_submissions(
    ctx: ContestContext,
    page: PageRequest,
    *,
    id: NamedIds = (),  # noqa: A002 (an id is called id everywhere)
    user: FreeId | None = None,
    problem: FreeId | None = None,
) -> Page[Submission]:
    """Return submissions, oldest first: all for organizers, their own for participants.

    $ agon contest submissions
        List the submissions to ID, oldest first, or show one with its program.

        Organizers see all, participants their own.

          agon contest submissions autumn
          agon contest submissions autumn 01a2… --format json
    """
    filters = listing.SubmissionFilter(ids=id, user=user, problem=problem)
    stored = listing.submissions(
        ctx.service, ctx.view, filters, by=ctx.caller, after=page.after(str), limit=page.sought
    )
    return page.page(stored, key=lambda submission: submission.id, item=Submission.model_validate)


@operation("GET", "/contests/{contest}/submissions/{id}", id="getSubmission",
           permission="submission.read-own", cost="quick", summary="Get a submission")  # fmt: skip
def get_submission(ctx: ContestContext, submission: SubmissionId) -> Submission:
    """Return a submission, with its verdict once the caller may see one."""
    stored = listing.submission(ctx.service, ctx.view, submission, by=ctx.caller)
    return Submission.model_validate(stored)


@operation("GET", "/contests/{contest}/runs", id="listRuns", permission="contest.read",
           cost="quick", summary="List runs",
           command=Command("challenge runs", top=100, columns=("id", "miner_uid", "at"),
                           without=("id",)))  # fmt: skip
def list_runs(
    ctx: ContestContext,
    page: PageRequest,
    *,
    id: NamedIds = (),  # noqa: A002 (an id is called id everywhere)
) -> Page[VisibleRun]:
    """Return the runs of submitted agents that the caller may see, oldest first.

    Participants see their own, organizers all, and every reader all where the contest's rule
    `trial_details` is `public`.

    $ agon challenge runs
        List the runs of agents that were submitted to the contest ID, oldest first.

        Those of the caller; for organizers, and where the rule trial_details is public, all.

          agon challenge runs subnet
    """
    seen = visible_runs(
        ctx.service, ctx.view, by=ctx.caller, ids=id, after=page.after(str), limit=page.sought
    )
    return page.page(seen, key=lambda run: run.id, item=VisibleRun.model_validate)


@operation("GET", "/contests/{contest}/submissions/{id}/trials", id="getTrials",
           permission="contest.read", cost="quick", summary="Get a submission's trials",
           command=Command("challenge trials"))  # fmt: skip
def get_trials(ctx: ContestContext, submission: SubmissionId) -> TrialRun:
    """Return the run of a submitted agent: progress, and each task's result, reason and cost.

    Participants see their own, organizers all, and every reader all where the contest's rule
    `trial_details` is `public`. While a contest is frozen, results that came later are left out.

    $ agon challenge trials
        Show the run of the SUBMISSION of an agent to the contest ID: each task's result.

        With reason, rewards, reach, seconds, tokens and cost.

          agon challenge trials subnet 0193…
    """
    return TrialRun.model_validate(trial_run(ctx.service, ctx.view, submission, by=ctx.caller))


@operation("GET", "/contests/{contest}/submissions/{id}/trials/{task}", id="getTrialDetails",
           permission="contest.read", cost="quick", summary="Get the details of a trial",
           command=Command("challenge trial"))  # fmt: skip
def get_trial_details(
    ctx: ContestContext, submission: SubmissionId, task: TaskName
) -> TrialDetails:
    """Return what happened in a trial: the agent's steps, commands and outputs, what tests printed.

    Organizers see it, and whom the contest's rule `trial_details` names: who sent the agent, or
    every reader. While a contest is frozen, trials that ended later have none. Texts are bounded,
    and characters that do not show are escaped. They are deleted with the jobs.

    $ agon challenge trial
        Show what happened when the agent of a SUBMISSION to the contest ID was tried on a TASK.

        Its steps, commands and outputs, and what the tests printed.

          agon challenge trial subnet 0193… hello-world
    """
    details = trial_details(ctx.service, ctx.view, submission, task, by=ctx.caller)
    return TrialDetails.model_validate(details)


@operation("POST", "/contests/{contest}/votes", id="addVotes", permission="vote.add",
           cost="bodies", records="votes", summary="Add votes", status=201, raw=True,
           body=ndjson_body(_VOTE, _EXAMPLE))  # fmt: skip
def add_votes(ctx: ContestContext) -> ImportSummary:
    """Add votes, rows of the table votes. Judges add their own, dated by the service.

    In a live arena the rounds ask the judges, and alone write votes.
    """
    raise NotImplementedError


@operation("GET", "/contests/{contest}/votes", id="listVotes", permission="vote.read",
           cost="quick", summary="List votes", page_size=100)  # fmt: skip
def list_votes(ctx: ContestContext, page: PageRequest) -> Page[Record]:
    """Return votes in ledger order."""
    return records_page(ctx, page, ballot_of(ctx).table)


@operation("POST", "/contests/{contest}/matches", id="drawRound", permission="match.draw",
           cost="quick", records="protocol",
           summary="Draw a round", status=202, location="/jobs/{result.id}",
           command=Command(
               "arena round", says="{result.id}", formats=True,
               note="job {result.id} is {result.state}; agon jobs show {result.id} shows how it "
               "ends"))  # fmt: skip
def draw_round(ctx: ContestContext) -> Job:
    """Begin the next round: commit to its secret number, draw it, and ask the bots for answers.

    $ agon arena round
        Begin a round of the arena ID now, besides those that begin by themselves.

        A worker commits to a secret number, draws the pairs, and asks the bots. While a round is
        played, or without two bots of different owners, prompts and judges, none begins: the error
        lists everything that is missing. The id of the job is printed.

          agon arena round spring
          agon jobs show "$(agon arena round spring)"
    """
    _rounds_of(ctx)
    require_round(ctx.service, ctx.view)
    job = round_job(ctx.contest, id=ctx.service.new_id(), by=ctx.caller.name)
    return queue_job(ctx.service, job, contest=ctx.contest.id)


@operation("GET", "/contests/{contest}/matches", id="listMatches", permission="match.read",
           cost="quick", summary="List matches", page_size=100)  # fmt: skip
def list_matches(ctx: ContestContext, page: PageRequest) -> Page[Record]:
    """Return matches in ledger order."""
    return records_page(ctx, page, _rounds_of(ctx).matches)


class Submissions(Noun):
    """Submissions, votes and matches of a contest."""

    create = submit
    list = list_submissions
    get = get_submission
    runs = list_runs
    trials = get_trials
    trial = get_trial_details
    votes = list_votes
    draw_round = draw_round
    matches = list_matches


def ballot_of(ctx: ContestContext) -> Ballot:
    """Return the ballot of a contest.

    Raises:
        Conflict: its discipline has none.
    """
    ballot = discipline(ctx.contest.discipline).ballot
    if ballot is None:
        raise _lacks(ctx, "votes")
    return ballot


def _rounds_of(ctx: ContestContext) -> Rounds:
    rounds = discipline(ctx.contest.discipline).rounds
    if rounds is None:
        raise _lacks(ctx, "matches")
    return rounds


def _lacks(ctx: ContestContext, what: str) -> Conflict:
    return Conflict(f"{ctx.contest.id} is a {ctx.contest.discipline} contest without {what}")
