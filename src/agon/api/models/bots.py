"""Bots of arenas, and the prompts they answer."""

from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from agon.api.models.base import PlainText, Request, Resource
from agon.entities import arena_reports

_NAME = Field(min_length=1, max_length=200, examples=["Ada's bot"])
Endpoint = Annotated[
    PlainText, Field(min_length=1, max_length=2048, examples=["https://bot.example.org/"])
]
Version = Annotated[PlainText, Field(max_length=100, examples=["1.4"])]
Author = Annotated[PlainText, Field(max_length=200, examples=["Ada Lovelace"])]
License = Annotated[PlainText, Field(max_length=100, examples=["MIT"])]
_VERSION = "Its version; a new one makes its rating provisional again."
_AUTHOR = "Who made the bot; empty: not stated."
_LICENSE = "Its license, such as MIT; empty: not stated."
_LINK = "Where it is described, an http or https address; empty: not stated."


def _web_address(text: str) -> str:
    parts = urlsplit(text) if text else None
    if parts is not None and (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or "@" in parts.netloc
        or not text.isprintable()
        or " " in text
    ):
        raise ValueError("is no web address; write one such as https://example.org/bot")
    return text


Link = Annotated[
    PlainText,
    Field(max_length=2048, examples=["https://example.org/bot"]),
    AfterValidator(_web_address),
]


class BotCreate(Request):
    """A new bot."""

    name: PlainText = _NAME
    endpoint: Endpoint | None = Field(
        default=None, description="Where work is sent; null: the bot asks for its work."
    )
    version: Version = Field(default="", description=_VERSION)
    author: Author = Field(default="", description=_AUTHOR)
    license: License = Field(default="", description=_LICENSE)
    link: Link = Field(default="", description=_LINK)
    judges: bool = Field(default=False, description="Whether the bot wants to judge as well.")
    owner: PlainText | None = Field(
        default=None, max_length=500, description="Id of the owner; only for organizers."
    )


class BotUpdate(Request):
    """Changes of a bot; null leaves a field as it is."""

    endpoint: Endpoint | None = Field(default=None, description="Where work is sent.")
    paused: bool | None = Field(default=None, description="Whether it takes part in no round.")
    judges: bool | None = Field(default=None, description="Whether it judges as well.")
    version: Version | None = Field(default=None, description=_VERSION)
    author: Author | None = Field(default=None, description=_AUTHOR)
    license: License | None = Field(default=None, description=_LICENSE)
    link: Link | None = Field(default=None, description=_LINK)


class Bot(Resource):
    """A bot; what only its owner and organizers see is null for others."""

    id: str
    name: str
    owner: str
    status: str = Field(description="registered, or paused.")
    judges: bool
    version: str = Field(description="Its version; empty: not stated.")
    version_at: datetime
    author: str = Field(description=_AUTHOR)
    license: str = Field(description=_LICENSE)
    link: str = Field(description=_LINK)
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


class JudgeEligibility(Resource):
    """Whether a bot may judge."""

    judge: bool
    reasons: tuple[str, ...] = Field(description="What keeps it from judging.")


class Qualification(Resource, arena_reports.AttemptStatus):
    """How a bot's last attempt to qualify stands."""


class BotFault(Resource):
    """A failure of a bot in a settled match."""

    match: str
    outcome: str | None = Field(description="What became of the match.")
    owner: str = Field(description="Whose fault it is: ours, transport, or bot.")
    code: str
    detail: str | None


class HoneypotBank(Resource, arena_reports.BankCounts):
    """How many answers of its own an arena has for honeypots."""


class PromptSummary(Resource):
    """The result of adding prompts, human answers or answers for honeypots."""

    saved: int
