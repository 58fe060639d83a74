"""The editor of rules: every rule as a field, editions compared, the effect before it counts."""

import json
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args, get_origin

from agon.api.models.changes import ChangeSetCreate
from agon.api.models.contests import Contest
from agon.editions import edition, editions
from agon.editions.edition import Edition
from agon.errors import InvalidRule
from agon.kernel.rules import Rules, RuleText
from agon.web import addresses
from agon.web.desk.changes import propose_and_try
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import act, contest_page
from agon.web.page import Redirect, SitePage, Visit, error_texts
from agon.web.protections import protections_off

_PREFIX: Final = "rule."
"""What the names of the fields of rules begin with."""


@dataclass(frozen=True)
class RuleField:
    """A rule as a field of the form.

    Attributes:
        text: its documentation.
        name: of the field.
        value: what was typed, else the value in force.
        released: the value of the edition.
        in_force: the contest's value.
        choices: of a closed list; empty: any text.
        is_long: whether the value takes several lines.
    """

    text: RuleText
    name: str
    value: str
    released: str
    in_force: str
    choices: tuple[str, ...]
    is_long: bool


def rules(visit: Visit) -> SitePage:
    """Return the rules as fields, with those of another edition if one is chosen."""
    return _page(visit)


def change(visit: Visit) -> SitePage | Redirect:
    """Propose the rules that were typed; the page of the change set shows who moves."""
    contest = visit.contest()
    released = _edition(visit, contest)
    overrides, errors = _overrides(visit, released)
    if errors:
        return _page(visit, error=FormErrors(fields=errors))
    request = {"edition": released.full_name, "overrides": overrides}
    return act(
        lambda: propose_and_try(
            visit,
            contest,
            ChangeSetCreate.model_validate(
                {"kind": "rules", "params": request, "reason": visit.form.get("reason", "")}
            ),
        ),
        following=lambda change: addresses.desk(contest.id, "changes", change.id),
        otherwise=lambda error: _page(visit, error=error),
    )


def _page(visit: Visit, *, error: Exception | FormErrors | None = None) -> SitePage:
    contest = visit.contest()
    released = _edition(visit, contest)
    in_force = edition(contest.edition).with_rules(contest.overrides)
    is_other = released.full_name != edition(contest.edition).full_name
    fields = [
        _field(visit, text, released.rules, in_force, use_released=is_other)
        for text in type(released.rules).texts()
    ]
    values = {
        "edition": released,
        "editions": editions(contest.discipline),
        "is_other": is_other,
        "fields": fields,
        "off": protections_off(visit, contest),
        "differences": [field for field in fields if field.released != field.in_force],
    }
    return contest_page(visit, contest, "rules", values, error=error, names=frozenset({"reason"}))


def _edition(visit: Visit, contest: Contest) -> Edition:
    """Return the edition that was chosen, else that of the contest.

    Raises:
        NotFound: the discipline has none of that name.
    """
    name = visit.form.get("edition") or visit.query.get("edition") or contest.edition
    return edition(name, of=contest.discipline)


def _field(
    visit: Visit, text: RuleText, released: Rules, in_force: Rules, *, use_released: bool
) -> RuleField:
    name = _PREFIX + text.name
    of_edition, now = (_value_text(getattr(rules, text.name)) for rules in (released, in_force))
    return RuleField(
        text=text,
        name=name,
        value=visit.form.get(name, of_edition if use_released else now),
        released=of_edition,
        in_force=now,
        choices=_choices(type(released).model_fields[text.name].annotation),
        is_long=isinstance(getattr(released, text.name), list | tuple | dict),
    )


def _choices(annotation: Any) -> tuple[str, ...]:
    if annotation is bool:
        return ("true", "false")
    if get_origin(annotation) is Literal:
        return tuple(map(str, get_args(annotation)))
    return ()


def _value_text(value: Any) -> str:
    """Return a value of a rule as it is typed.

    Example:
        >>> _value_text(0.5), _value_text(30.0), _value_text(None), _value_text((1, 2))
        ('0.5', '30', 'none', '[1, 2]')
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _overrides(visit: Visit, released: Edition) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return the rules that differ from the edition, and what is wrong by field."""
    overrides: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    values = released.rules.model_dump(mode="json")
    for name in type(released.rules).model_fields:
        typed = visit.form.get(_PREFIX + name)
        if typed is None or typed.strip() == _value_text(values[name]):
            continue
        try:
            changed = released.with_rules({name: typed.strip()}).model_dump(mode="json")
        except InvalidRule as error:
            errors[_PREFIX + name] = error_texts(error)
            continue
        if changed[name] != values[name]:
            overrides[name] = changed[name]
    return overrides, errors
