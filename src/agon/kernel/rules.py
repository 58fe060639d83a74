"""Declare rules: named values with bounds, a default, a meaning and a reason.

A discipline's ``rules.py`` is one frozen class of these. *Basic* rules are those of the source
document: every edition states them, and every fingerprint contains them. An *added* rule states the
version of agon that added it (``since``). Its default switches it off, so an edition may leave it
out, and its default is not part of a fingerprint: adding a rule changes no released edition.
Overrides go through :meth:`Rules.override`, which rejects unknown names and values out of bounds,
all in one error.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agon.errors import InvalidRule, did_you_mean

FIRST_VERSION: Final = "0.1"
"""The first version of agon, which has all basic rules."""


def rule(
    default: Any,
    *,
    meaning: str,
    reason: str,
    source: str,
    since: str | None = None,
    **bounds: Any,
) -> Any:
    """Declare one rule.

    Args:
        default: the value in the reference edition. For an added rule, the value in every edition
            that does not state it: the one that switches the rule off, or that the code had before
            there was a rule. It never changes.
        meaning: what the rule controls.
        reason: why it has this default.
        source: the clause it comes from.
        since: the version of agon that added the rule; None: it is a basic rule.
        bounds: pydantic's own (``ge``, ``gt``, ``le``, ``lt``, ``min_length`` …).
    """
    extra: dict[str, Any] = {"reason": reason, "source": source, "since": since}
    return Field(default, description=meaning, json_schema_extra=extra, **bounds)


@dataclass(frozen=True)
class RuleText:
    """The documentation of one rule; ``since`` is the version of agon that has it first."""

    name: str
    default: Any
    bounds: str
    meaning: str
    reason: str
    source: str
    since: str


def version_key(version: str) -> tuple[int, ...]:
    """Return a key that orders versions.

    Raises:
        ValueError: it is not a version such as ``0.1``.

    Example:
        >>> version_key("0.10") > version_key("0.9")
        True
    """
    return tuple(int(part) for part in version.split("."))


class Rules(BaseModel):
    """The rules of one discipline, frozen; every field is declared with :func:`rule`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def stated_values(self) -> dict[str, Any]:
        """Return the values that identify these rules, as JSON values by name.

        They are the values of all basic rules, and of added rules those that differ from their
        default: to leave an added rule out and to state its default is the same. So equal rules
        have equal values here, and a rule that is added to the class changes nothing.
        """
        defaults, basic = _defaults(type(self)), self.basic()
        return {
            name: value
            for name, value in self.model_dump(mode="json").items()
            if name in basic or value != defaults[name]
        }

    @classmethod
    def basic(cls) -> set[str]:
        """Return the names of the basic rules, which every edition states."""
        return {name for name, since in _since(cls).items() if since is None}

    @classmethod
    def existing_in(cls, version: str) -> set[str]:
        """Return the names of the rules that a version of agon has."""
        newest = version_key(version)
        return {
            name
            for name, since in _since(cls).items()
            if version_key(since or FIRST_VERSION) <= newest
        }

    @classmethod
    def texts(cls) -> list[RuleText]:
        """List every rule with its bounds, meaning, reason and source, in the order declared."""
        schema = _properties(cls)
        texts = []
        for name, field in cls.model_fields.items():
            extra = field.json_schema_extra
            notes: Mapping[str, Any] = extra if isinstance(extra, dict) else {}
            texts.append(
                RuleText(
                    name=name,
                    default=field.get_default(call_default_factory=True),
                    bounds=_bounds(schema[name]),
                    meaning=field.description or "",
                    reason=str(notes.get("reason", "")),
                    source=str(notes.get("source", "")),
                    since=_since(cls)[name] or FIRST_VERSION,
                )
            )
        return texts

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return rules made of values that may be text (``--set key=value``).

        Raises:
            InvalidRule: naming every unknown key and every value out of bounds.
        """
        return cls._check({name: cls._parse(name, value) for name, value in values.items()})

    def override(self, values: Mapping[str, Any]) -> Self:
        """Return these rules with some values replaced; checks as in :meth:`of`."""
        if not values:
            return self
        changed = {name: self._parse(name, value) for name, value in values.items()}
        return self._check({**self.model_dump(), **changed})

    @classmethod
    def _parse(cls, name: str, value: Any) -> Any:
        field = cls.model_fields.get(name)
        if field is None or not isinstance(value, str):
            return value
        if value.strip().lower() in {"none", "null"} and type(None) in get_args(field.annotation):
            return None
        # The annotation says it without the JSON schema, which takes milliseconds to make.
        parts = (field.annotation, *get_args(field.annotation))
        kinds = {get_origin(part) or part for part in parts}
        if kinds & {tuple, list, dict}:
            try:
                return json.loads(value)
            except json.JSONDecodeError:
                return [part.strip() for part in value.split(",") if part.strip()]
        return value

    @classmethod
    def _check(cls, values: Mapping[str, Any]) -> Self:
        known = cls.model_fields
        errors = [
            f"unknown rule {name!r}: {did_you_mean(name, known)}"
            for name in values
            if name not in known
        ]
        try:
            rules = cls.model_validate({k: v for k, v in values.items() if k in known})
        except ValidationError as error:
            errors += [_message(detail) for detail in error.errors()]
        if errors:
            raise InvalidRule("\n".join(errors))
        return rules


@cache
def _properties(rules: type[Rules]) -> Mapping[str, Any]:
    """Return the JSON schema of every rule of a class; made once, since it takes milliseconds."""
    properties: Mapping[str, Any] = rules.model_json_schema()["properties"]
    return properties


@cache
def _defaults(rules: type[Rules]) -> Mapping[str, Any]:
    """Return the default of every rule as a JSON value."""
    return rules().model_dump(mode="json")


@cache
def _since(rules: type[Rules]) -> Mapping[str, str | None]:
    """Return the version that added each rule, None for basic ones."""
    versions: dict[str, str | None] = {}
    for name, field in rules.model_fields.items():
        extra = field.json_schema_extra
        added = extra["since"] if isinstance(extra, dict) else None
        versions[name] = None if added is None else str(added)
    return versions


def _message(detail: Any) -> str:
    name = ".".join(str(part) for part in detail["loc"]) or "rules"
    message = str(detail["msg"]).removeprefix("Value error, ")
    return f"rule {name} = {detail['input']!r}: {message[0].lower()}{message[1:]}"


def _bounds(schema: Mapping[str, Any]) -> str:
    """Return a JSON-schema fragment as readable bounds: ``0 ≤ x ≤ 1``, ``one of a, b``."""
    if "anyOf" in schema:
        return " or ".join(_bounds(part) for part in schema["anyOf"])
    if "enum" in schema:
        return "one of " + ", ".join(str(choice) for choice in schema["enum"])
    if "const" in schema:
        return f"only {schema['const']}"
    kind = {
        "number": "number",
        "integer": "whole number",
        "boolean": "true or false",
        "string": "text",
        "array": "list",
        "object": "table",
        "null": "none",
    }.get(str(schema.get("type")), "value")
    signs = (
        ("minimum", "≥"),
        ("exclusiveMinimum", ">"),
        ("maximum", "≤"),
        ("exclusiveMaximum", "<"),
        ("minLength", "length ≥"),
        ("minItems", "items ≥"),
    )
    limits = [f"{sign} {schema[key]:,.10g}" for key, sign in signs if key in schema]
    return " ".join([kind, ", ".join(limits)]).strip()
