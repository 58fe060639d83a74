"""Require that a bot's endpoint answers a ping before it is registered."""

from collections.abc import Callable
from typing import Final

from agon.app.arena.live.network.transport import BotTransport, Endpoint
from agon.disciplines.arena.rounds.faults import Fault
from agon.errors import Unreadable

PROTOCOL: Final = "agon-arena-1"
"""The protocol that every piece of work names."""

PING_SECONDS: Final = 10.0
_NONCE_BYTES: Final = 16
_REMEDIES: Final = {
    "address-refused": "name another endpoint",
    "dns": "correct the endpoint's name",
    "status-401": "a bot that is not registered yet has no secret: let it answer pings without "
    "verifying them",
}


def endpoint_check(
    transport: BotTransport, *, random: Callable[[int], bytes], new_id: Callable[[], str]
) -> Callable[[str, bytes], None]:
    """Return a function that requires of an endpoint (URL, secret) that it repeats a nonce.

    The function raises Unreadable if the endpoint cannot be reached, or returns something else.
    """

    def check(url: str, secret: bytes) -> None:
        nonce = random(_NONCE_BYTES).hex()
        ping = {"id": new_id(), "kind": "ping", "nonce": nonce, "protocol": PROTOCOL}
        reply = transport.ask(Endpoint(url, (secret,)), ping, seconds=PING_SECONDS)
        if isinstance(reply, Fault):
            cause = f"{reply.code}: {reply.detail}" if reply.detail else reply.code
            remedy = _REMEDIES.get(reply.code, "start the bot, and try again")
            raise Unreadable(f"the endpoint did not answer the ping ({cause}); {remedy}")
        if reply.nonce != nonce:
            raise Unreadable(
                'the endpoint did not repeat the nonce; answer {"kind": "ping", "nonce": N} with '
                '{"nonce": N}'
            )

    return check
