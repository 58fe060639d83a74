"""Know a model by its slug: one normal form per model, and which are state of the art.

Slugs are compared in full, never by substring: ``gpt-4o-mini`` is not ``gpt-4o``.
"""

import re
from collections.abc import Iterable

SOTA_VERSION = "2025-01-04"
"""Version of the list of state-of-the-art models and of the aliases below."""

ALIASES = {
    "claude-4.5-sonnet": "claude-sonnet-4.5",
    "claude-4-5-sonnet": "claude-sonnet-4.5",
    "claude-sonnet-4-5": "claude-sonnet-4.5",
    "gpt4o": "gpt-4o",
    "gpt-4-o": "gpt-4o",
    "o1": "gpt-o1",
    "openai-o1": "gpt-o1",
    "gemini-2-0-flash": "gemini-2.0-flash",
    "gemini-2-flash": "gemini-2.0-flash",
    "gemini-2.0-flash-001": "gemini-2.0-flash",
    "gemini-flash-2.0": "gemini-2.0-flash",
    "gemini-2-0-pro": "gemini-2.0-pro",
    "gemini-2-pro": "gemini-2.0-pro",
    "gemini-pro-2.0": "gemini-2.0-pro",
    "deepseek-chat-v3": "deepseek-v3",
    "deepseek-v3-chat": "deepseek-v3",
}
"""Other names of the same model, in normal form, and the name they go by."""

_BLANKS = re.compile(r"[\s_]+")
_DATE = re.compile(r"-20\d\d(-?)(0[1-9]|1[0-2])\1(0[1-9]|[12]\d|3[01])$")


def slug(name: str) -> str:
    """Bring a model's name to its normal form, by which models are compared and counted.

    Lower case; blanks and ``_`` to ``-``; without a provider up to the last ``/``; without a
    trailing date (``-2024-08-06``, ``-20241022``); then the table of aliases.

    Source: community page, SOTA.

    Example:
        >>> slug("openai/GPT_4o-2024-08-06"), slug("gpt-4o-mini"), slug("openai/o1-20241217")
        ('gpt-4o', 'gpt-4o-mini', 'gpt-o1')
    """
    plain = _BLANKS.sub("-", name.strip().lower()).rpartition("/")[2].strip("-")
    undated = _DATE.sub("", plain)
    return ALIASES.get(undated, undated)


def slugs(names: Iterable[str]) -> frozenset[str]:
    """Bring several names to their normal forms.

    Example:
        >>> sorted(slugs(["o1", "GPT 4o", "gpt-4o"]))
        ['gpt-4o', 'gpt-o1']
    """
    return frozenset(slug(name) for name in names)
