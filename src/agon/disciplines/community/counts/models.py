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
_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_DATE = rf"(?:20\d\d-{_MONTH}-{_DAY}|20\d\d{_MONTH}{_DAY})"
_REVISION = re.compile(r"-v\d+:\d+$")
_SUFFIXES = (
    re.compile(r":(?:free|nitro|floor|exacto|beta|latest)$"),  # another route to the same model
    _REVISION,
    re.compile(rf"[-@]{_DATE}$"),
    re.compile(rf"-?\({_DATE}\)$"),
    re.compile(rf"-{_MONTH}{_DAY}$"),  # a snapshot
)
_CLOUD = re.compile(r"(?:[a-z][a-z0-9]*\.)+(?=[a-z])")
"""The provider in front of a name with a cloud's revision: ``us.anthropic.``."""
_TOKENS = re.compile(r"[a-z]+|[0-9]+")


def slug(name: str) -> str:
    """Bring a model's name to its normal form, by which models are compared and counted.

    Lower case; blanks and ``_`` to ``-``; without a provider up to the last ``/``; without a route
    (``:free``), a cloud's revision (``-v1:0``, and then its provider ``anthropic.``), a trailing
    date (``-2024-08-06``, ``-20241022``, ``@20240620``, `` (2024-08-06)``) and a snapshot
    (``-0324``), in any order; then the table of aliases.

    Source: community page, SOTA.

    Example:
        >>> slug("openai/GPT_4o-2024-08-06"), slug("gpt-4o-mini"), slug("openai/o1-20241217")
        ('gpt-4o', 'gpt-4o-mini', 'gpt-o1')
        >>> slug("deepseek/deepseek-chat-v3-0324:free"), slug("GPT 4o (2024-08-06)")
        ('deepseek-v3', 'gpt-4o')
    """
    plain = _BLANKS.sub("-", name.strip().lower()).rpartition("/")[2].strip("-")
    if _REVISION.search(plain):
        plain = _CLOUD.sub("", plain, count=1)
    while (shorter := _without_suffix(plain)) not in {"", plain}:
        plain = shorter
    return ALIASES.get(plain, plain)


def _without_suffix(plain: str) -> str:
    """Return a name without one of the suffixes that do not change the model."""
    for suffix in _SUFFIXES:
        plain = suffix.sub("", plain)
    return plain


def likeness(normal: str) -> str:
    """Return what two normal forms have in common that probably name one model.

    Their words and numbers, in any order, whatever separates them.

    Example:
        >>> likeness("claude-3.5-sonnet") == likeness("claude-sonnet-3-5")
        True
        >>> likeness("gpt-4o") == likeness("gpt-4o-mini")
        False
    """
    return " ".join(sorted(_TOKENS.findall(normal)))


def slugs(names: Iterable[str]) -> frozenset[str]:
    """Bring several names to their normal forms.

    Example:
        >>> sorted(slugs(["o1", "GPT 4o", "gpt-4o"]))
        ['gpt-4o', 'gpt-o1']
    """
    return frozenset(slug(name) for name in names)
