"""Bots of arenas, and the prompts they answer."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from agon.api.models.base import PlainText, Request, Resource

_NAME = Field(min_length=1, max_length=200, examples=["Ada's bot"])
Endpoint = Annotated[
    PlainText, Field(min_length=1, max_length=2048, examples=["https://bot.example.org/"])
]
Version = Annotated[PlainText, Field(max_length=100, examples=["1.4"])]


class BotCreate(Request):
    """A new bot."""

    name: PlainText = _NAME
    endpoint: Endpoint | None = Field(
        default=None, description="Where work is sent; null: the bot asks for its work."
    )
    version: Version = ""
    judges: bool = Field(default=False, description="Whether the bot wants to judge as well.")
    owner: PlainText | None = Field(
        default=None, max_length=500, description="Id of the owner; only for organizers."
    )


class BotUpdate(Request):
    """Changes of a bot; null leaves a field as it is."""

    endpoint: Endpoint | None = None
    paused: bool | None = None
    judges: bool | None = None
    version: Version | None = None


class Bot(Resource):
    """A bot; what only its owner and organizers see is null for others."""

    id: str
    name: str
    owner: str
    status: str = Field(description="registered, or paused.")
    judges: bool
    version: str
    version_at: datetime
    registered_at: datetime
    qualified_at: datetime | None = Field(description="Null: it has not qualified.")
    answers: str = Field(description="push: work is sent to its endpoint; pull: it asks for work.")
    endpoint: str | None = None
    paused: str | None = Field(default=None, description="Why it takes part in no round.")
    forfeits: int | None = Field(default=None, description="Forfeits since its last answer.")
    last_latency_ms: float | None = None


class BotWithSecret(Bot):
    """A bot with the secret of its endpoint, which is returned only once."""

    secret: str | None = Field(
        default=None, description="The key of the signatures (Standard Webhooks)."
    )


class Eligibility(Resource):
    """Whether a bot may judge."""

    judge: bool
    reasons: tuple[str, ...] = Field(description="What keeps it from judging.")


class Qualification(Resource):
    """How a bot's last attempt to qualify stands."""

    state: Literal["none", "playing", "qualified", "not-qualified", "no-verdict"] = Field(
        description="no-verdict: the network, the service or the panel failed; it does not count."
    )
    attempt: str | None = Field(description="Its id, q3; its match is q3-1.")
    began_at: datetime | None
    waits_for: str | None = Field(description="What it waits for; null: nothing.")
    cause: str | None = Field(
        description="Why it has no verdict; null: it has one, or is being played."
    )
    next_attempt_at: datetime | None = Field(
        description="From when the bot may try again; null: now."
    )


class BotFault(Resource):
    """A failure of a bot in a settled match."""

    match: str
    outcome: str | None = Field(description="What became of the match.")
    owner: str = Field(description="Whose fault it is: ours, transport, or bot.")
    code: str
    detail: str | None


class HoneypotBank(Resource):
    """How many answers of its own an arena has for honeypots.

    Attributes:
        unused: answers that honeypots may still show; without any, built-in templates are shown.
        used: answers that a honeypot shows.
        retired: answers that were retired before one showed them.
    """

    unused: int
    used: int
    retired: int


class PromptSummary(Resource):
    """The result of adding prompts, human answers or answers for honeypots."""

    saved: int
