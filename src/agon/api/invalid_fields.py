"""Say what is wrong with a field of a request, and what would be right, in one place for all."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

_FAULTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing": "is missing; give it",
        "extra_forbidden": "is not a field of this request; leave it out",
        "too_short": "has fewer than {min_length} items; give more",
        "too_long": "has more than {max_length:,} items; give fewer",
        "string_type": "is not text; give text",
        "string_too_short": "has fewer than {min_length} characters; write more",
        "string_too_long": "has more than {max_length:,} characters; shorten it",
        "string_pattern_mismatch": "is not of the form {pattern}; write it in this form",
        "int_type": "is not a whole number; give one",
        "int_parsing": "is not a whole number; give one",
        "int_from_float": "is not a whole number; give one",
        "float_type": "is not a number; give one",
        "float_parsing": "is not a number; give one",
        "bool_type": "is neither true nor false; give one of them",
        "bool_parsing": "is neither true nor false; give one of them",
        "greater_than": "is not greater than {gt}; give more",
        "greater_than_equal": "is less than {ge}; give at least that",
        "less_than": "is not less than {lt}; give less",
        "less_than_equal": "is more than {le}; give at most that",
        "literal_error": "is none of {expected}; give one of them",
        "dict_type": "is not an object; give one",
        "list_type": "is not a list; give one",
        "tuple_type": "is not a list; give one",
        "datetime_type": "is not a time; write one such as 2026-12-24T18:00Z",
        "datetime_parsing": "is not a time; write one such as 2026-12-24T18:00Z",
        "datetime_from_date_parsing": "is not a time; write one such as 2026-12-24T18:00Z",
    }
)
"""What is wrong by pydantic's kind of error; the value is not repeated, as it may be a secret."""

_FORMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "^[a-z0-9][a-z0-9-]{1,62}$": "has other characters than a-z, 0-9 and -, begins with -, or "
        "is not 2 to 63 long; write one such as spring-2027",
        "^[a-z0-9][a-z0-9._-]{0,62}$": "has other characters than a-z, 0-9, '.', _ and -, begins "
        "with another one than a-z or 0-9, or is longer than 63; write one such as ada-2",
    }
)
"""The faults of texts that have to match a pattern, by pattern."""


def field_fault(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a field, of an error of pydantic, and what would be right.

    Example:
        >>> field_fault({"type": "missing", "msg": "Field required"})
        'is missing; give it'
        >>> field_fault({"type": "less_than_equal", "msg": "Input …", "ctx": {"le": 500}})
        'is more than 500; give at most that'
    """
    context = error.get("ctx") or {}
    kind, cause = error["type"], context.get("error")
    if isinstance(cause, Exception) or kind == "json_invalid":
        return str(cause)
    if kind == "string_pattern_mismatch" and context["pattern"] in _FORMS:
        return _FORMS[context["pattern"]]
    if kind in {"string_too_short", "too_short"} and context.get("min_length") == 1:
        return "is empty; give something"
    template = _FAULTS.get(kind)
    return str(error["msg"]) if template is None else template.format_map(context)


def field_lines(error: ValidationError) -> list[str]:
    """Return a line for each invalid field of a request: its name, and what is wrong with it."""
    return [
        f"{'.'.join(map(str, item['loc']))}: {field_fault(item)}".removeprefix(": ")
        for item in error.errors()
    ]
