"""Bots of arenas: registration, changes, eligibility, prompts."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field

from agon.api.command import Command, Option
from agon.api.models.base import Items, Page, RecordId
from agon.api.models.bots import (
    Bot,
    BotCreate,
    BotFault,
    BotUpdate,
    BotWithSecret,
    HoneypotBank,
    JudgeEligibility,
    PromptSummary,
    Qualification,
)
from agon.api.models.jobs import Job
from agon.api.operation import ContestContext, operation
from agon.api.operations.jobs import queue_job
from agon.api.operations.records import encode_ndjson, ndjson_body
from agon.api.pages import PageRequest
from agon.api.parameters import FreeId
from agon.api.transport import Noun
from agon.app.arena.live import qualification, views
from agon.app.arena.live.entrants import bots
from agon.app.arena.live.entrants.bot_states import state_at, state_of
from agon.app.arena.live.honeypots.bank import bank_counts
from agon.app.contests.ledgers.positions import last_readable_seq
from agon.entities.arena import BotDescription, LiveBot

_NAME: Final = Option(argument=True, metavar="NAME")
_BOTS = "/contests/{contest}/bots"
_TEXT: Final = {"type": "string"}
_PROMPT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"id": _TEXT, "text": _TEXT, "retired": {"type": "boolean"}},
    "required": ["id", "text"],
}
_HUMAN_ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"id": _TEXT, "prompt_id": _TEXT, "text": _TEXT},
    "required": ["id", "prompt_id", "text"],
}
_HONEYPOT_ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "id": _TEXT,
        "text": _TEXT,
        "prompt_id": _TEXT,
        "retired": {"type": "boolean"},
    },
    "required": ["id", "text"],
}


@operation("POST", _BOTS, id="registerBot", permission="bot.manage",
           cost="endpoints", records="protocol", summary="Register a bot",
           status=201, secret=True, location="/contests/{contest}/bots/{result.id}",
           command=Command(
               "arena register", once="secret", options={"name": _NAME},
               note="bot {result.id} of {contest} is registered"))  # fmt: skip
def register_bot(ctx: ContestContext, request: BotCreate) -> BotWithSecret:
    """Register the caller's bot; the response holds the secret of its endpoint, only once.

    An endpoint must repeat the nonce of a ping before the bot is registered.

    $ agon arena register
        Register the bot NAME in ID; it asks for work, or work is sent to its endpoint.

        The bot is of the person whose token is shown; an organizer, or who uses the database, names
        its owner. The secret of its endpoint is shown only once; an endpoint must repeat a ping
        first.

          agon arena register league 'Ada bot' --author 'Ada Lovelace' --license MIT
          agon arena register league 'Bob bot' --owner bob
          agon arena register league ping --endpoint https://bot.example.org/ --out ping.secret
    """
    fields = request.model_dump()
    described = BotDescription(
        **{name: fields.pop(name) for name in BotDescription.__dataclass_fields__}
    )
    bot, secret = bots.register(
        ctx.service, ctx.contest.id, **fields, described=described, by=ctx.caller
    )
    return BotWithSecret(**_fields(ctx, bot, {}), secret=secret)


@operation("GET", _BOTS, id="listBots", permission="contest.read",
           cost="quick", summary="List bots",
           command=Command("arena bots", without=("bot",), columns=(
               "id", "name", "owner", "status", "version", "author", "license", "link")),
           )  # fmt: skip
def list_bots(
    ctx: ContestContext,
    page: PageRequest,
    *,
    bot: Annotated[
        tuple[RecordId, ...],
        Field(max_length=500, description="Only bots with these ids; none: all."),
    ] = (),
) -> Page[Bot]:
    """Return the bots of an arena in the order of their ids.

    $ agon arena bots
        List the bots of ID: owner, status, and what the owner states of the bot.

          agon arena bots league
    """
    stored = bots.bots(
        ctx.service, ctx.view, named=bot, after=page.after(str), limit=page.sought, by=ctx.caller
    )
    qualified = bots.qualification_times(ctx.service, ctx.view, stored, by=ctx.caller)

    def item(bot: LiveBot) -> Bot:
        return Bot(**_fields(ctx, bot, qualified))

    return page.page(stored, key=lambda bot: bot.id, item=item)


@operation(
    "GET",
    _BOTS + "/{bot}",
    id="getBot",
    permission="contest.read",
    cost="quick",
    summary="Get a bot",
)
def get_bot(ctx: ContestContext, bot: FreeId) -> Bot:
    """Return a bot; its owner and organizers see all of it."""
    registered = bots.bot(ctx.service, ctx.view, bot, by=ctx.caller)
    return Bot(**_fields(ctx, registered, _qualification(ctx, registered)))


@operation("PATCH", _BOTS + "/{bot}", id="changeBot", permission="bot.manage",
           cost="endpoints", records="protocol", summary="Update a bot", secret=True,
           command=Command(
               "arena change", once="secret",
               note="bot {result.id} of {contest} is changed",
               any_of=("nothing to change", "endpoint", "paused", "judges", "version", "author",
                       "license", "link"),
               options={"paused": Option("--pause/--resume", help="Take part in no round, or go "
                                         "on."),
                        "judges": Option("--judges/--no-judges", help="Judge as well, or not.")},
           ))  # fmt: skip
def update_bot(ctx: ContestContext, bot: FreeId, request: BotUpdate) -> BotWithSecret:
    """Change a bot. A first endpoint comes with a secret, which is returned only once.

    $ agon arena change
        Change BOT of ID: its version, what is stated of it, its endpoint; pause it or go on.

        A new version makes its rating provisional again.

          agon arena change league ada-bot --version 1.5 --link https://example.org/ada-bot
          agon arena change league ada-bot --pause
    """
    changes = bots.BotChanges(**request.model_dump())
    changed, secret = bots.change(ctx.service, ctx.contest.id, bot, changes, by=ctx.caller)
    return BotWithSecret(**_fields(ctx, changed, _qualification(ctx, changed)), secret=secret)


@operation("POST", _BOTS + "/{bot}/rotate-secret", id="rotateBotSecret", permission="bot.manage",
           cost="endpoints", records="none",
           summary="Replace a bot's secret", secret=True)  # fmt: skip
def rotate_secret(ctx: ContestContext, bot: FreeId) -> BotWithSecret:
    """Replace the secret of a bot's endpoint; the old one signs too for a day."""
    changed, secret = bots.rotate_secret(ctx.service, ctx.contest.id, bot, by=ctx.caller)
    return BotWithSecret(**_fields(ctx, changed, _qualification(ctx, changed)), secret=secret)


@operation("GET", _BOTS + "/{bot}/eligibility", id="getEligibility", permission="bot.manage",
           cost="quick", summary="State whether a bot may judge")  # fmt: skip
def get_eligibility(ctx: ContestContext, bot: FreeId) -> JudgeEligibility:
    """Return what keeps a bot from judging, in the words of the rules."""
    reasons = bots.eligibility(ctx.service, ctx.view, bot, by=ctx.caller)
    return JudgeEligibility(judge=not reasons, reasons=reasons)


@operation("GET", _BOTS + "/{bot}/qualification", id="getQualification", permission="bot.manage",
           cost="quick", summary="State how a bot's attempt to qualify stands")  # fmt: skip
def get_qualification(ctx: ContestContext, bot: FreeId) -> Qualification:
    """Return what the last attempt waits for, how it ended, and when the bot may try again."""
    attempt = qualification.status(ctx.service, ctx.view, bot, by=ctx.caller)
    return Qualification.model_validate(vars(attempt))


@operation("GET", _BOTS + "/{bot}/faults", id="listBotFaults", permission="contest.read",
           cost="quick", summary="List the faults of a bot")  # fmt: skip
def list_bot_faults(ctx: ContestContext, bot: FreeId) -> Items[BotFault]:
    """Return why a bot failed in the settled matches of the latest rounds, newest first."""
    bots.bot(ctx.service, ctx.view, bot, by=ctx.caller)
    faults = views.faults_of_bot(ctx.service, ctx.view, bot)
    return Items(items=tuple(map(BotFault.model_validate, faults)))


@operation("POST", _BOTS + "/{bot}/qualify", id="qualifyBot", permission="bot.manage",
           cost="quick", records="protocol",
           summary="Let a bot qualify", status=202, location="/jobs/{result.id}")  # fmt: skip
def qualify_bot(ctx: ContestContext, bot: FreeId) -> Job:
    """Begin an attempt to qualify: the bot and a person answer one prompt, and a panel chooses."""
    job = qualification.begin(ctx.service, ctx.contest.id, bot, by=ctx.caller)
    return queue_job(ctx.service, job, contest=ctx.contest.id)


@operation("POST", "/contests/{contest}/prompts", id="addPrompts", permission="prompt.manage",
           cost="bodies", records="none", summary="Add prompts", status=201, raw=True,
           body=ndjson_body(_PROMPT, '{"id": "p1", "text": "What did you eat?"}'))  # fmt: skip
def add_prompts(ctx: ContestContext) -> PromptSummary:
    """Add prompts, or replace those with the same id; a retired one is not drawn any more."""
    raise NotImplementedError


@operation("POST", "/contests/{contest}/human-answers", id="addHumanAnswers",
           permission="prompt.manage",
           cost="bodies", records="none", summary="Add human answers", status=201, raw=True,
           body=ndjson_body(
               _HUMAN_ANSWER, '{"id": "h1", "prompt_id": "p1", "text": "Soup."}'
           ))  # fmt: skip
def add_human_answers(ctx: ContestContext) -> PromptSummary:
    """Add people's answers to prompts, for the qualification of bots."""
    raise NotImplementedError


@operation("POST", "/contests/{contest}/honeypot-answers", id="addHoneypotAnswers",
           permission="prompt.manage",
           cost="bodies", records="none",
           summary="Add answers for honeypots", status=201, raw=True,
           body=ndjson_body(
               _HONEYPOT_ANSWER, '{"id": "k1", "prompt_id": "p1", "text": "As requested: soup."}'
           ))  # fmt: skip
def add_honeypot_answers(ctx: ContestContext) -> PromptSummary:
    """Add obviously robotic answers of the contest's own, or retire those with the same id.

    Each is shown in one honeypot at most, and published when that is settled; one that is retired
    before is never shown. Answers without ``prompt_id`` fit any prompt. No text is in the ledger
    before, only its salted SHA-256; so a text cannot be changed.
    """
    raise NotImplementedError


@operation("GET", "/contests/{contest}/honeypot-answers", id="getHoneypotBank",
           permission="prompt.manage",
           cost="quick", summary="Count the answers for honeypots")  # fmt: skip
def get_honeypot_bank(ctx: ContestContext) -> HoneypotBank:
    """Return how many answers of the contest's own honeypots can still show, and how many did."""
    return HoneypotBank(**vars(bank_counts(ctx.service, ctx.contest)))


class Prompts(Noun):
    """The private tables of an arena: prompts, people's answers, and answers for honeypots."""

    honeypot_bank = get_honeypot_bank

    def add(self, contest: str, prompts: Iterable[bytes | Mapping[str, Any]]) -> PromptSummary:
        """Add prompts, or replace those with the same id.

        Over HTTP a long stream is sent in several requests; each is stored completely or not at
        all.

        Args:
            contest: the contest's id.
            prompts: dicts ``{"id", "text", "retired"?}``, or the bytes of such lines, cut anywhere.

        Raises:
            InvalidRecords: with all errors (over HTTP as Unreadable).
            Conflict: the contest is not an arena.
        """
        return self.transport.add_prompts(contest, encode_ndjson(prompts), table="prompts")

    def add_human_answers(
        self, contest: str, answers: Iterable[bytes | Mapping[str, Any]]
    ) -> PromptSummary:
        """Add people's answers, or replace those with the same id; as :meth:`add` does.

        Args:
            contest: the contest's id.
            answers: dicts ``{"id", "prompt_id", "text"}``, or the bytes of such lines.

        Raises:
            InvalidRecords: with all errors (over HTTP as Unreadable).
            Conflict: the contest is not an arena.
        """
        return self.transport.add_prompts(contest, encode_ndjson(answers), table="human_answers")

    def add_honeypot_answers(
        self, contest: str, answers: Iterable[bytes | Mapping[str, Any]]
    ) -> PromptSummary:
        """Add robotic answers for honeypots, or retire those with the same id; as :meth:`add` does.

        Args:
            contest: the contest's id.
            answers: dicts ``{"id", "text", "prompt_id"?, "retired"?}``, or the bytes of such lines.

        Raises:
            InvalidRecords: with all errors (over HTTP as Unreadable).
            Conflict: the contest is not an arena, or final.
        """
        rows = encode_ndjson(answers)
        return self.transport.add_prompts(contest, rows, table="honeypot_answers")


class Bots(Noun):
    """Bots of an arena."""

    register = register_bot
    list = list_bots
    get = get_bot
    update = update_bot
    rotate_secret = rotate_secret
    eligibility = get_eligibility
    qualification = get_qualification
    faults = list_bot_faults
    qualify = qualify_bot


def _qualification(ctx: ContestContext, bot: LiveBot) -> Mapping[str, datetime]:
    return bots.qualification_times(ctx.service, ctx.view, [bot], by=ctx.caller)


def _fields(ctx: ContestContext, bot: LiveBot, qualified: Mapping[str, datetime]) -> dict[str, Any]:
    own = bots.is_own(bot, ctx.contest, ctx.caller)
    state = state_of(bot) if own else state_at(bot, last_readable_seq(ctx.view)) or state_of(bot)
    fields: dict[str, Any] = {
        "id": bot.id,
        "name": bot.name,
        "owner": bot.owner_id,
        "registered_at": bot.registered_at,
        "qualified_at": qualified.get(bot.id),
        **vars(state),
    }
    if own:
        fields |= {
            "endpoint": bot.endpoint,
            "paused": bot.paused,
            "forfeits": bot.forfeits,
            "last_latency_ms": bot.latency_ms,
        }
    return fields
