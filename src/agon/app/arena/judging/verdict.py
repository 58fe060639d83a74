"""Read a model's verdict: a JSON object that repeats the nonce of its question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agon.app.arena.judging.port import Label
from agon.kernel.plain_json import InvalidJson, read_json

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "nonce": {"type": "string", "description": "The code of this message's quotations."},
        "choice": {"type": "string", "enum": ["A", "B"], "description": "The chosen answer."},
    },
    "required": ["nonce", "choice"],
    "additionalProperties": False,
}
"""The JSON schema of a verdict. It does not state the nonce, which the model has to repeat."""

MAX_CHARS: Final = 1000


@dataclass(frozen=True)
class VerdictIssue:
    """Why a text is no verdict; the text itself is not repeated."""

    what: str


def read_verdict(text: str, *, nonce: str) -> Label | VerdictIssue:
    """Return the label in a verdict, or why it is none.

    Only the object of :data:`SCHEMA` with the question's own nonce is a verdict; white space
    around it is allowed, other text is not.

    Example:
        >>> read_verdict('{"nonce": "7f3a", "choice": "B"}', nonce="7f3a")
        'B'
        >>> read_verdict('{"nonce": "0000", "choice": "B"}', nonce="7f3a")
        VerdictIssue(what='the verdict repeats another nonce')
    """
    if len(text) > MAX_CHARS:
        return VerdictIssue(f"the text is longer than {MAX_CHARS:,} characters")
    try:
        verdict = read_json(text.encode())
    except (InvalidJson, UnicodeEncodeError):
        return VerdictIssue("the text is not one JSON object")
    if not isinstance(verdict, dict) or set(verdict) != set(SCHEMA["required"]):
        return VerdictIssue("the JSON is not an object of nonce and choice")
    if verdict["nonce"] != nonce:
        return VerdictIssue("the verdict repeats another nonce")
    choice = verdict["choice"]
    if choice == "A" or choice == "B":  # noqa: PLR1714 (each narrows the type)
        return choice
    return VerdictIssue("the choice is neither A nor B")
