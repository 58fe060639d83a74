"""Read the reply of a bot: one JSON object with the field that its work asks for."""

from typing import Any, Final

from agon.app.arena.live.network.transport import BotReply
from agon.disciplines.arena.rounds.faults import Fault
from agon.kernel.text.plain_json import InvalidJson, read_json, unstorable

EXPECTED: Final = {"answer": "text", "vote": "vote", "ping": "nonce"}
"""The field of a reply by the kind of work."""
_NAMES: Final = ("text", "vote", "nonce", "version", "error")
_MAX_DETAIL: Final = 200


def read_reply(body: bytes, *, kind: str, latency_ms: float) -> BotReply | Fault:
    """Return the reply in a body, or why it is none.

    Args:
        body: JSON text in UTF-8; further fields are ignored.
        kind: the kind of work: ``answer``, ``vote`` or ``ping``.
        latency_ms: how long the reply took.

    Example:
        >>> read_reply(b'{"text": "Rain, mostly."}', kind="answer", latency_ms=12.0).text
        'Rain, mostly.'
        >>> read_reply(b'{"vote": "A"}', kind="answer", latency_ms=12.0)
        Fault(owner='bot', code='invalid', detail='the reply lacks text')
    """
    if not body.strip():
        return Fault("bot", "empty", "the body is empty")
    try:
        texts = _texts(read_json(body))
    except InvalidJson as error:
        return Fault("bot", "invalid", f"the reply {error.fact}"[:_MAX_DETAIL])
    if "error" in texts:
        return Fault("bot", "refused-work", texts["error"][:_MAX_DETAIL])
    expected = EXPECTED[kind]
    if expected not in texts:
        return Fault("bot", "invalid", f"the reply lacks {expected}")
    if not texts[expected].strip():
        return Fault("bot", "empty", f"{expected} is empty")
    return BotReply(**texts, latency_ms=latency_ms)


def _texts(value: Any) -> dict[str, str]:
    """Return the known fields of a reply.

    Raises:
        InvalidJson: it is not an object, or a field is not text.
    """
    if not isinstance(value, dict):
        raise InvalidJson("is not an object")
    texts = {name: value[name] for name in _NAMES if value.get(name) is not None}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise InvalidJson(f"has another value than text in {name}")
        if (fault := unstorable(text)) is not None:
            raise InvalidJson(f"{fault[0]} in {name}")
    return texts
