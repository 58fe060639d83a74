"""The errors of a form: next to the fields they are about, or above all of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agon.api.invalid_fields import field_fault
from agon.web.page import error_texts

_MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "missing": "Fill in this field.",
        "too_short": "Fill in this field.",
        "string_too_short": "Write at least {min_length} characters.",
        "string_too_long": "Write at most {max_length} characters.",
        "string_pattern_mismatch": "It has other characters than those listed here, or too few.",
        "int_parsing": "Write a whole number.",
        "int_from_float": "Write a whole number.",
        "float_parsing": "Write a number.",
        "greater_than": "Write a number greater than {gt}.",
        "greater_than_equal": "Write a number of at least {ge}.",
        "less_than_equal": "Write a number of at most {le}.",
        "literal_error": "Choose one of {expected}.",
    }
)


@dataclass(frozen=True, kw_only=True)
class FormErrors:
    """What is wrong with a form.

    Attributes:
        fields: field → messages.
        other: messages about no field.
    """

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    other: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything is wrong."""
        return bool(self.fields or self.other)

    def of(self, name: str) -> str:
        """Return the messages of a field as one text."""
        return " ".join(self.fields.get(name, ()))


def form_errors(error: Exception | None, *, names: Collection[str] = ()) -> FormErrors:
    """Return an error as what is wrong with a form that has fields of these names.

    Example:
        >>> form_errors(ValueError("no")).other
        ('no',)
    """
    if not isinstance(error, ValidationError):
        return FormErrors(other=tuple(error_texts(error)))
    fields: dict[str, tuple[str, ...]] = {}
    other: list[str] = []
    for item in error.errors():
        name = str(item["loc"][0]) if item["loc"] else ""
        message = _message(item)
        if name in names:
            fields[name] = (*fields.get(name, ()), message)
        else:
            other.append(f"{name}: {message}")
    return FormErrors(fields=fields, other=tuple(other))


def _message(item: ErrorDetails) -> str:
    """Return what is wrong with a field in a sentence."""
    context = item.get("ctx", {})
    if context.get("min_length") == 1:
        return _MESSAGES["missing"]
    template = _MESSAGES.get(item["type"])
    return f"{field_fault(item)}." if template is None else template.format_map(context)
