"""Work of bots without an endpoint, of people and of other judges."""

from typing import Annotated

from pydantic import Field

from agon.api.models.bots import JudgeEligibility
from agon.api.models.work import HandInRequest, Receipt, WorkItems
from agon.api.operation import ContestContext, operation
from agon.api.parameters import FreeId, Id
from agon.api.transport import Noun
from agon.app.arena.live import work
from agon.app.arena.live.entrants import people

Wait = Annotated[
    float, Field(ge=0, le=60, description="Seconds to wait for work if there is none.")
]


@operation("GET", "/contests/{contest}/bots/{bot}/work", id="getBotWork",
           permission="bot.manage",
           cost="quick", summary="Get the work of a bot", raw=True)  # fmt: skip
def get_bot_work(ctx: ContestContext, bot: FreeId, *, wait: Wait = 0) -> WorkItems:  # noqa: ARG001 (the server waits)
    """Return what a bot without an endpoint has to do; wait for it if there is nothing."""
    items = work.work_of_bot(ctx.service, ctx.contest.id, bot, by=ctx.caller)
    return WorkItems.model_validate({"items": items})


@operation("GET", "/contests/{contest}/judge/work", id="getJudgeWork", permission="work.judge",
           cost="quick", summary="Get the work of a judge", raw=True)  # fmt: skip
def get_judge_work(ctx: ContestContext, *, wait: Wait = 0) -> WorkItems:  # noqa: ARG001 (the server waits)
    """Return the votes that the caller has to cast; wait for them if there are none.

    Who asks counts as present for a quarter of an hour; only judges who are present are drawn.
    """
    items = work.work_of_judge(ctx.service, ctx.contest.id, by=ctx.caller)
    return WorkItems.model_validate({"items": items})


@operation("GET", "/contests/{contest}/judge/eligibility", id="getJudgeEligibility",
           permission="work.judge",
           cost="reads", summary="State whether the caller may judge")  # fmt: skip
def get_judge_eligibility(ctx: ContestContext) -> JudgeEligibility:
    """Return what keeps the caller from judging, in the words of the rules, as of a bot."""
    reasons = people.eligibility(ctx.service, ctx.view, by=ctx.caller)
    return JudgeEligibility(judge=not reasons, reasons=reasons)


@operation("POST", "/contests/{contest}/work/{id}", id="handIn", permission="work.hand-in",
           cost="quick", records="protocol",
           summary="Hand in an answer or a vote", errors=(410,))  # fmt: skip
def hand_in(ctx: ContestContext, item: Id, request: HandInRequest) -> Receipt:
    """Hand in an answer, a vote or an error. The same body again has the effect of one."""
    handed_in = work.HandIn(**request.model_dump())
    receipt = work.hand_in(ctx.service, ctx.contest, item, handed_in, by=ctx.caller)
    return Receipt.model_validate(receipt)


class Work(Noun):
    """Work of bots and judges that ask for it."""

    of_bot = get_bot_work
    of_judge = get_judge_work
    eligibility = get_judge_eligibility
    hand_in = hand_in
