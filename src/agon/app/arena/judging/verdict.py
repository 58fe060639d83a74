"""Read a model's verdict: a JSON object that repeats the nonce of its question."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agon.app.arena.judging.port import Choice
from agon.kernel.text.plain_json import InvalidJson, read_json

TIE: Final = "tie"

MAX_CHARS: Final = 1000
"""Length of a verdict, without what the model thought before."""

_THOUGHTS: Final = re.compile(
    r".*(?:</(?:think|thinking|thought|thoughts|reasoning|analysis)>|\[/THINK\]|◁/think▷"
    r"|<\|end_of_thought\|>|<\|begin_of_box\|>|<\|channel\|>final(?:\s*<\|constrain\|>\s*\w+)?\s*<\|message\|>)",
    re.DOTALL | re.IGNORECASE,
)
"""What a model thought, to the last end of it; many templates write the beginning themselves."""

_END: Final = re.compile(r"(?:(?:<\|[a-z_]{1,30}\|>|</s>)\s*){1,4}\Z")
"""Tokens that end a reply, which some servers send with it."""

_END_CHARS: Final = 200

_FENCE: Final = re.compile(r"(?P<fence>```|~~~)[\w+.-]*+\s*+(?P<inside>.*)(?P=fence)", re.DOTALL)


@dataclass(frozen=True)
class VerdictIssue:
    """Why a text is no verdict; the text itself is not repeated."""

    what: str


def verdict_schema(*, allow_tie: bool = False) -> Mapping[str, Any]:
    """Return the JSON schema of a verdict. It does not state the nonce, which has to be repeated.

    Args:
        allow_tie: whether the model may choose neither answer.

    Example:
        >>> verdict_schema(allow_tie=True)["properties"]["choice"]["enum"]
        ['A', 'B', 'tie']
    """
    choices = ["A", "B", *([TIE] if allow_tie else [])]
    return {
        "type": "object",
        "properties": {
            "nonce": {"type": "string", "description": "The code of this message's quotations."},
            "choice": {"type": "string", "enum": choices, "description": "The chosen answer."},
        },
        "required": ["nonce", "choice"],
        "additionalProperties": False,
    }


def written_object(text: str) -> str:
    r"""Return a reply without leading thoughts and without the code fence around all the rest.

    Servers that do not separate a model's thoughts send them before its reply, and some send the
    tokens that end it. What is left must be the JSON object alone, so that a verdict within a text
    is still none.

    Example:
        >>> written_object("<think>A or B?</think>\n\n```json\n{}\n```")
        '{}'
    """
    thought = _THOUGHTS.match(text)
    rest = (text[thought.end() :] if thought else text).strip().removeprefix("\ufeff").strip()
    end = _END.search(rest, max(0, len(rest) - _END_CHARS))
    rest = rest[: end.start()].rstrip() if end else rest
    fence = _FENCE.fullmatch(rest)
    return fence["inside"].strip() if fence else rest


def read_verdict(text: str, *, nonce: str, allow_tie: bool = False) -> Choice | VerdictIssue:
    """Return the choice in a verdict, or why it is none.

    Only the object of :func:`verdict_schema` with the question's own nonce is a verdict. White
    space, a code fence around it and thoughts before it are allowed, other text is not.

    Args:
        text: what the model wrote.
        nonce: the nonce of the question.
        allow_tie: whether ``tie`` is a choice.

    Example:
        >>> read_verdict('{"nonce": "7f3a", "choice": "B"}', nonce="7f3a")
        'B'
        >>> read_verdict('{"nonce": "0000", "choice": "B"}', nonce="7f3a")
        VerdictIssue(what='the verdict repeats another nonce')
    """
    written = written_object(text)
    if len(written) > MAX_CHARS:
        return VerdictIssue(f"the text is longer than {MAX_CHARS:,} characters")
    schema = verdict_schema(allow_tie=allow_tie)
    try:
        verdict = read_json(written.encode())
    except (InvalidJson, UnicodeEncodeError):
        return VerdictIssue("the text is not one JSON object")
    if not isinstance(verdict, dict) or set(verdict) != set(schema["required"]):
        return VerdictIssue("the JSON is not an object of nonce and choice")
    if verdict["nonce"] != nonce:
        return VerdictIssue("the verdict repeats another nonce")
    choice = verdict["choice"]
    if choice == "A" or choice == "B" or (allow_tie and choice == "tie"):  # noqa: PLR1714 (each narrows the type)
        return choice
    return VerdictIssue("the choice is neither A nor B" + (" nor tie" if allow_tie else ""))
