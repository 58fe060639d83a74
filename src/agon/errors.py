"""The errors of agon, each with its exit code.

Exit codes (``interfaces.md``): 0 ok, 1 a check failed, 2 usage or unreadable input, 3 not found,
4 conflict, 5 unavailable. Surfaces turn an :class:`AgonError` into one message and that code;
anything else that escapes is a bug of ours.
"""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar


class AgonError(Exception):
    """Base class of the errors that agon raises: one fact and its remedy.

    Attributes:
        exit_code: what a command ends with.
        code: the class's name in small letters with hyphens; programs branch on it.

    Example:
        >>> NotFound.code, InvalidRule.code
        ('not-found', 'invalid-rule')
    """

    exit_code = 1
    code: ClassVar[str] = "agon-error"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.code = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()


class CheckFailed(AgonError):
    """A check failed: a finding of severity error, a hash that differs."""

    exit_code = 1


class Unreadable(AgonError):
    """An input cannot be read, or is not of the expected form."""

    exit_code = 2


class InvalidRule(AgonError):
    """A rule is unknown, out of bounds or of the wrong type."""

    exit_code = 2


class NotScorable(AgonError):
    """Valid records cannot be scored (for example, there is no stake).

    Attributes:
        instead: values of rules under which they can be, where a rule asks for more than the
            records say; empty: there are none.
    """

    exit_code = 2

    def __init__(self, message: str, *, instead: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.instead = {} if instead is None else dict(instead)


class NotFound(AgonError):
    """An id, board, edition or other name does not exist."""

    exit_code = 3


class Conflict(AgonError):
    """A request contradicts the current state."""

    exit_code = 4


class Changed(Conflict):
    """A resource is not any more as the caller saw it, and the request depends on that."""


class Gone(AgonError):
    """What was possible until a deadline is not possible any more."""

    exit_code = 4


class Forbidden(AgonError):
    """The authenticated caller lacks the permission."""

    exit_code = 4


class Unauthenticated(AgonError):
    """A request needs a valid token."""

    exit_code = 4


class TooMany(AgonError):
    """There are too many requests; retry later.

    Attributes:
        retry_after: seconds until another request may succeed.
    """

    exit_code = 5

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(AgonError):
    """A required package or service is missing or unreachable."""

    exit_code = 5


class DatabaseUnavailable(Unavailable):
    """The database is unreachable or fails; the message is for its operator."""


_MAX_LISTED = 12
_MIN_PART = 3
_MAX_PARTS = 5


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Suggest the closest known word, or those that contain it, or list the known words.

    Upper and lower case are the same.

    Example:
        >>> did_you_mean("self_feedbak", ["self_feedback", "h_index_coefficient"])
        'did you mean self_feedback?'
        >>> did_you_mean("gpt-4", ["GPT 4", "command"])
        'did you mean GPT 4?'
        >>> did_you_mean("h_index", ["self_feedback", "h_index_coefficient"])
        'did you mean h_index_coefficient?'
    """
    choices = sorted(known)
    folded = {choice.casefold(): choice for choice in reversed(choices)}
    close = get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.6)
    if close:
        return f"did you mean {folded[close[0]]}?"
    inner = [choice for choice in choices if word.casefold() in choice.casefold()]
    if len(word) >= _MIN_PART and 0 < len(inner) <= _MAX_PARTS:
        *first, last = inner
        return f"did you mean {', '.join(first)}{' or ' if first else ''}{last}?"
    rest = len(choices) - _MAX_LISTED
    listed = ", ".join(choices[:_MAX_LISTED])
    return f"known: {listed}" + (f" and {rest:,} more" if rest > 0 else "")
