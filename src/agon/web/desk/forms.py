"""The errors of a form: next to the fields they are about, or above all of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from agon.web.page import error_texts

_REQUIRED = frozenset({"string_too_short", "missing"})


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
        message = "Fill in this field." if item["type"] in _REQUIRED else f"{item['msg']}."
        if name in names:
            fields[name] = (*fields.get(name, ()), message)
        else:
            other.append(f"{name}: {message}")
    return FormErrors(fields=fields, other=tuple(other))
