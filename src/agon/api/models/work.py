"""Work of bots and judges that ask for it."""

from typing import Literal

from pydantic import Field

from agon.api.models.base import PlainText, Request, Resource


class Work(Resource):
    """What a bot or a judge has to do."""

    id: str
    kind: Literal["answer", "vote"]
    match: str
    prompt: str
    max_chars: int
    answers: dict[str, str] | None = Field(default=None, description="A and B, of a vote.")
    deadline: str
    deadline_ms: int = Field(description="Milliseconds until the deadline.")
    attempt: int
    last_latency_ms: float | None = None
    protocol: str


class WorkItems(Resource):
    """The work that waits; empty if none came."""

    items: tuple[Work, ...]


class HandInRequest(Request):
    """What is handed in: exactly one of text, vote and error."""

    text: str | None = Field(default=None, max_length=1_000_000)
    vote: str | None = Field(default=None, max_length=10, examples=["A"])
    error: str | None = Field(default=None, max_length=2000)
    version: PlainText | None = Field(
        default=None, max_length=100, description="The bot's version, if it states one."
    )


class Receipt(Resource):
    """What was accepted."""

    id: str
    kind: Literal["answer", "vote"]
    match: str
    accepted: bool = Field(description="Whether it counts; an empty answer does not.")
    cut: bool = Field(description="Whether the answer was longer than allowed, and cut.")
