"""Show the beginning of what a model or its server sent."""

from typing import Final

from agon.app.arena.judging.visible_text import visible_text

MAX_SHOWN: Final = 200


def excerpt(text: str) -> str:
    r"""Return the first 200 characters of a text in one line, quoted; nothing invisible is in it.

    Example:
        >>> excerpt("I choose\n  A")
        "'I choose A'"
        >>> excerpt("")
        'nothing'
    """
    words = " ".join(visible_text(text[: 10 * MAX_SHOWN]).split())
    return repr(words[:MAX_SHOWN]) if words else "nothing"
