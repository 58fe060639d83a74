"""Define what a round asks of a model judge, and what a judge asks of a model's endpoint."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, Protocol

from agon.disciplines.arena.rounds.faults import Fault

Side = Literal["a", "b"]
Choice = Literal["A", "B", "tie"]
"""What a model chooses in one call; ``tie`` where setting ``allow_tie`` is on."""

Preference = Literal["a", "b", "tie"]


@dataclass(frozen=True)
class Exchange:
    """One call of a model: the bodies of request and response, byte for byte.

    Headers are not included, because one of them is the key; if the response repeats the key, it
    has ``***`` instead.
    """

    request: bytes
    response: bytes


@dataclass(frozen=True, kw_only=True)
class ModelVote:
    """The vote of a model: two calls, in which each answer was shown first once.

    Attributes:
        choices: the answer preferred when ``a`` was shown first, and when ``b`` was; ``tie``
            where the model may prefer neither.
        exchanges: the calls in the same order.
        tokens: number of tokens that both calls used.
    """

    choices: tuple[Preference, Preference]
    exchanges: tuple[Exchange, ...]
    tokens: int

    @property
    def is_conflict(self) -> bool:
        """Whether the order changed the choice; rule ``model_conflict`` says what follows."""
        return self.choices[0] != self.choices[1]

    @property
    def winner(self) -> Preference:
        """Return the answer preferred in both orders; ``tie`` if there is none.

        Example:
            >>> ModelVote(choices=("a", "a"), exchanges=(), tokens=0).winner
            'a'
            >>> ModelVote(choices=("a", "b"), exchanges=(), tokens=0).winner
            'tie'
        """
        return "tie" if self.is_conflict else self.choices[0]


class JudgeModel(Protocol):
    """A model that judges matches; it may be used by several threads."""

    @property
    def name(self) -> str:
        """The judge's name in records: provider and model."""

    def compare(self, *, prompt: str, a: str, b: str, seconds: float) -> ModelVote | Fault:
        """Return the model's vote on two answers, or why there is none.

        Args:
            prompt: the prompt that was answered.
            a: the answer of side a.
            b: the answer of side b.
            seconds: the time limit of both calls with all their repetitions.
        """

    def pause(self) -> Fault | None:
        """Return why no call would be made now; None if one would.

        The budget is used up, or the endpoint is down. No call is made.
        """


@dataclass(frozen=True, kw_only=True)
class Question:
    """One call of a model.

    Attributes:
        instructions: what the judge is asked to do (the system prompt).
        content: the prompt and both answers, quoted.
        nonce: what the reply must repeat.
        reply: what the reply is, such as ``verdict``, and its JSON schema.
    """

    instructions: str
    content: str
    nonce: str
    reply: tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """A response with status 200 that could be read.

    Attributes:
        exchange: request and response.
        text: the text that the model wrote; None if it declined, was cut off, or wrote none.
        tokens: number of tokens that the endpoint reports; None if it reports none.
        issue: why there is no text, and how what came instead begins.
    """

    exchange: Exchange
    text: str | None
    tokens: int | None
    issue: str = ""


@dataclass(frozen=True, kw_only=True)
class CallFailure:
    """A call without a usable response.

    Attributes:
        fault: why.
        retryable: whether the same call may succeed later.
        wait: the pause that the endpoint asks for.
        is_free: whether the endpoint certainly used no tokens.
    """

    fault: Fault
    retryable: bool
    wait: timedelta | None = None
    is_free: bool = False


class ModelEndpoint(Protocol):
    """An endpoint of a model; one call is one HTTP request."""

    @property
    def name(self) -> str:
        """Provider and model, such as ``anthropic/claude-opus-4-5``."""

    def token_limit(self, question: Question) -> int:
        """Return a number of tokens that the call of a question cannot exceed."""

    def ask(self, question: Question, *, seconds: float) -> ModelReply | CallFailure:
        """Make one call, which ends within the time limit; errors are returned, not raised."""
