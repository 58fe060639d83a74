"""Rounds of arenas and their matches."""

from typing import Annotated

from pydantic import Field

from agon.api.models.base import Items, Page
from agon.api.models.rounds import (
    BoardRobustness,
    DisabledProtection,
    JudgeReport,
    Latency,
    Match,
    MatchSummary,
    NextRound,
    Robustness,
    Round,
)
from agon.api.operation import ContestContext, operation
from agon.api.pages import PageRequest
from agon.api.parameters import AsOf, FreeId
from agon.api.transport import Noun
from agon.app.arena import matches
from agon.app.arena.judges import judge_of
from agon.app.arena.live import views
from agon.app.arena.live.latencies import latencies
from agon.app.arena.live.protections import protections_off
from agon.app.arena.published_robustness import board_robustness, published_robustness

RoundNumber = Annotated[int, Field(ge=1, le=1_000_000_000, description="The round's number.")]


@operation("GET", "/contests/{contest}/rounds", id="listRounds", permission="contest.read",
           cost="quick", summary="List rounds")  # fmt: skip
def list_rounds(ctx: ContestContext, page: PageRequest) -> Page[Round]:
    """Return the rounds of an arena, newest first."""
    stored = views.rounds(ctx.service, ctx.view, before=page.after(int), limit=page.sought)
    return page.page(stored, key=lambda item: item["number"], item=Round.model_validate)


@operation("GET", "/contests/{contest}/rounds/{number}", id="getRound", permission="contest.read",
           cost="quick", summary="Get a round")  # fmt: skip
def get_round(ctx: ContestContext, number: RoundNumber) -> Round:
    """Return a round: its state, what is missing, who waits, and its pairs once it is settled."""
    return Round.model_validate(views.round_of(ctx.service, ctx.view, number))


@operation("GET", "/contests/{contest}/next-round", id="getNextRound", permission="contest.read",
           cost="quick", summary="Get when the next round begins")  # fmt: skip
def get_next_round(ctx: ContestContext) -> NextRound:
    """Return when the next round begins by itself, and everything that is missing for one now."""
    return NextRound(**views.next_round(ctx.service, ctx.view))


@operation("GET", "/contests/{contest}/protections", id="listProtections",
           permission="contest.read",
           cost="quick", summary="List protections that are off")  # fmt: skip
def list_protections(ctx: ContestContext) -> Items[DisabledProtection]:
    """Return what the rules promise and what does not work now, each with the rule and the reason.

    Audits that are drawn and not made, a pool of judges below its minimum, an API judge that cannot
    be asked, honeypots without answers of the arena's own.
    """
    disabled = protections_off(ctx.service, ctx.view)
    return Items(items=tuple(DisabledProtection(**vars(each)) for each in disabled))


@operation("GET", "/contests/{contest}/results", id="listResults", permission="contest.read",
           cost="quick", summary="List results of matches")  # fmt: skip
def list_results(
    ctx: ContestContext,
    page: PageRequest,
    *,
    bot: Annotated[FreeId | None, Field(description="Only the matches of this bot.")] = None,
    judge: Annotated[
        FreeId | None, Field(description="Only the matches that this judge voted on.")
    ] = None,
    kind: Annotated[matches.MatchKind | None, Field(description="Only this kind.")] = None,
    as_of: AsOf = None,
    before: Annotated[
        int | None,
        Field(ge=0, le=1_000_000_000, description="Only matches with a lower index."),
    ] = None,
) -> Page[MatchSummary]:
    """Return the results of the published boards' matches, those played last first."""
    places = [place for place in (before, page.after(int)) if place is not None]
    stored = matches.matches(
        ctx.service, ctx.view, matches.MatchFilter(bot=bot, judge=judge, kind=kind), as_of=as_of,
        before=min(places) if places else None, limit=page.sought,
    )  # fmt: skip
    return page.page(stored, key=lambda each: each["index"], item=MatchSummary.model_validate)


@operation("GET", "/contests/{contest}/matches/{match}", id="getMatch", permission="contest.read",
           cost="quick", summary="Get a match")  # fmt: skip
def get_match(ctx: ContestContext, match: FreeId, *, as_of: AsOf = None) -> Match:
    """Return a match: prompt, answers, votes and the proof of its draw once it is settled.

    The id may be the one that work names; which match of which round it is, is shown when it is
    settled.
    """
    return Match.model_validate(matches.match_of(ctx.service, ctx.view, match, as_of=as_of))


@operation("GET", "/contests/{contest}/latencies", id="listLatencies",
           permission="contest.read-live", cost="quick", summary="List latencies")  # fmt: skip
def list_latencies(ctx: ContestContext) -> Items[Latency]:
    """Return how long answers and votes took: over all participants, then for each of them.

    Faults are left out. For a bot with an endpoint it is the time of its reply; for others that
    from the assignment to the hand-in.
    """
    return Items(items=tuple(Latency(**vars(each)) for each in latencies(ctx.service, ctx.contest)))


@operation("GET", "/contests/{contest}/robustness", id="getRobustness", permission="contest.read",
           cost="reads", summary="State how sure the ranks of bots are")  # fmt: skip
def get_robustness(ctx: ContestContext, *, as_of: AsOf = None) -> Robustness:
    """Return what the Bradley–Terry board does not know, and Elo's noise floor.

    ``probes`` are those of an audit (``agon arena audit``). ``ranks`` are how many matches decide
    each of the first ranks: they are left out by influence; a refit without them proves that the
    rank changes.
    """
    return Robustness.model_validate(published_robustness(ctx.service, ctx.view, as_of=as_of))


@operation("GET", "/contests/{contest}/board-robustness", id="getBoardRobustness",
           permission="contest.read", cost="reads",
           summary="Get what is stored of the robustness of boards")  # fmt: skip
def get_board_robustness(ctx: ContestContext, *, as_of: AsOf = None) -> BoardRobustness:
    """Return how few matches would change the first Bradley–Terry ranks, and Elo's noise floor.

    Nothing is computed for it: a job examines the ranks after they were published.
    """
    return BoardRobustness.model_validate(board_robustness(ctx.service, ctx.view, as_of=as_of))


@operation("GET", "/contests/{contest}/judges/{judge}", id="getJudge", permission="contest.read",
           cost="reads", summary="Report on a judge")  # fmt: skip
def get_judge(ctx: ContestContext, judge: FreeId, *, as_of: AsOf = None) -> JudgeReport:
    """Return how a judge judges: agreement, accuracy, position, honeypots; each with its cases."""
    return JudgeReport.model_validate(judge_of(ctx.service, ctx.view, judge, as_of=as_of))


class Rounds(Noun):
    """Rounds of an arena and their matches."""

    list = list_rounds
    get = get_round
    next = get_next_round
    protections = list_protections
    match = get_match
    latencies = list_latencies
    results = list_results
    robustness = get_robustness
    board_robustness = get_board_robustness
    judge = get_judge
