"""Define what a round asks of the network: one request of a bot, and its reply or the fault."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from agon.disciplines.arena.rounds.faults import Fault


@dataclass(frozen=True)
class Endpoint:
    """Where a bot answers.

    Attributes:
        url: its URL.
        secrets: the secrets that sign requests; two while one is rotated, the new one first.
    """

    url: str
    secrets: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class BotReply:
    """A reply with status 200.

    Attributes:
        text: the answer to a prompt.
        vote: the label that a judge chose; whether it is one is not checked yet.
        version: the version that the bot states.
        nonce: what it repeats of a ping.
        latency_ms: milliseconds from the first byte sent to the last received.
    """

    text: str | None = None
    vote: str | None = None
    version: str | None = None
    nonce: str | None = None
    latency_ms: float = 0.0


class BotTransport(Protocol):
    """Sends work to the endpoints of bots; it may be used by several threads."""

    def ask(
        self, endpoint: Endpoint, work: Mapping[str, Any], *, seconds: float
    ) -> BotReply | Fault:
        """Send work once and return the reply, or why there is none.

        Args:
            endpoint: where.
            work: the object to send; its ``id`` is that of the message.
            seconds: the time limit of connecting, sending and receiving together.
        """
