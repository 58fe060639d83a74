"""Execute the operation of a generated command, and print its result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

import click

from agon.cli.generated.specification import MAX_DRAWN_ROWS, Field, Specification
from agon.cli.shared import lists
from agon.cli.shared.output import (
    TABLE,
    deliver_json,
    deliver_secret,
    or_text,
    require_new_file,
)

if TYPE_CHECKING:
    from agon.cli.shared.target import Target
    from agon.client import Api

DRAWINGS: Final[Mapping[str, str]] = {
    "Case": "agon.cli.service.cases:draw_case",
    "ChangeSet": "agon.cli.contest.corrections:draw_change",
    "Finalization": "agon.cli.contest.lifecycle:draw_pending",
    "Contest": "agon.cli.contest.lifecycle:draw_contest",
    "Job": "agon.cli.service.jobs:draw_job",
    "Queue": "agon.cli.service.jobs:draw_queue",
    "TrialDetails": "agon.cli.challenge.trials:draw_details",
    "TrialRun": "agon.cli.challenge.trials:draw_run",
}
"""Functions that draw a resource, by its class."""

_LISTS: Final[Mapping[str, str]] = {
    "Delivery": "agon.cli.service.webhooks:draw_deliveries",
    "Job": "agon.cli.service.jobs:draw_jobs",
    "Submission": "agon.cli.contest.dojo:draw_submissions",
}
"""Functions that draw a list of rows, by the class of its items."""

_ONE: Final[Mapping[str, str]] = {
    "Problem": "agon.cli.contest.dojo:draw_problem",
    "Submission": "agon.cli.contest.dojo:draw_submission",
}
"""Functions that draw one item of a list, by its class."""

HANDLERS: Final[Mapping[str, str]] = {
    "contest changes": "agon.cli.contest.corrections:changes",
    "contest create": "agon.cli.contest.lifecycle:create",
    "contest edit": "agon.cli.contest.lifecycle:edit",
    "token create": "agon.cli.service.token:create",
    "webhooks change": "agon.cli.service.webhooks:change",
}
"""Functions that do more than one operation or ask first, by the name of the command."""

_ROWS: Final[Mapping[str, str]] = {"Job": "agon.cli.service.jobs:with_cause"}
"""Functions that return a row of a list with more columns, by the class of its items."""


@dataclass(frozen=True)
class Call:
    """One call of a generated command.

    Attributes:
        specification: the command.
        values: its arguments and options, by the names of the operation's fields.
        target: the server or the database.
        form: the value of ``--format``.
        output: the file to write; None: stdout.
        top: how many rows.
        out: the file for a secret.
    """

    specification: Specification
    values: Mapping[str, Any]
    target: "Target"
    form: str = TABLE
    output: Path | None = None
    top: int | None = None
    out: Path | None = None

    def run(self) -> None:
        """Execute the operation and print its result, or leave both to the command's handler."""
        self.require_any()
        if self.out is not None:
            require_new_file(self.out)
        if handler := HANDLERS.get(self.specification.name):
            _load(handler)(self)
        else:
            self.print(self.execute())

    def execute(self) -> Any:
        """Execute the operation at the target and return its result."""
        with self.target.open(create=self.specification.creates) as api:
            result = self.execute_at(api)
            if self.specification.columns and not self.shows_one:
                return list(islice(getattr(result, "items", result), self._most))
            return result

    def execute_at(self, api: "Api") -> Any:
        """Execute the operation at a target that is open, and return its result."""
        specification = self.specification
        placed = {
            "path": {}, "query": {}, "own": {}, "before": {}, "one": {},
            "body": dict(specification.fixed),
        }  # fmt: skip
        for field in specification.fields:
            if field.switch is not None or _is_given(field, self.values[field.name]):
                placed[field.place][field.name] = _value(field, self.values[field.name])
        for name, value in placed["before"].items():
            first: Any = _load(specification.before[name])
            api.call(first, *placed["path"].values(), value)
        for name, value in placed["one"].items():
            item: Any = _load(specification.one[name])
            return api.call(item, *placed["path"].values(), value)
        body = [_load(specification.request)(**placed["body"])] if specification.request else []
        operation: Any = _load(specification.operation)
        return api.call(operation, *placed["path"].values(), *body, **placed["query"])

    def print(self, result: Any) -> None:
        """Print the result of the operation."""
        if self.shows_one:
            self._print_one(lists.plain_values(result))
        elif self.specification.columns:
            self._print_list([lists.plain_values(each) for each in result])
        else:
            self._print(result)

    def where(self, **values: Any) -> "Call":
        """Return the call with other values of fields."""
        return replace(self, values={**self.values, **values})

    def require_any(self) -> None:
        """Require one of some options.

        Raises:
            UsageError: none of them was given.
        """
        if not (any_of := self.specification.any_of):
            return
        reason, *names = any_of
        fields = [each for each in self.specification.fields if each.name in names]
        if not any(_is_given(each, self.values[each.name]) for each in fields):
            options = or_text([f"{each.flags} {each.metavar}".rstrip() for each in fields])
            raise click.UsageError(f"{reason}; give {options}")

    @property
    def shows_one(self) -> bool:
        """Whether one item of the list was asked for."""
        return any(self.values[name] is not None for name in self.specification.one)

    @property
    def _most(self) -> int | None:
        return self.top or (
            MAX_DRAWN_ROWS if self.specification.top and self.form == TABLE else None
        )

    def _print_one(self, row: dict[str, Any]) -> None:
        """Draw one item of a list; in other formats it is a list of one."""
        if self.form == TABLE:
            _load(_ONE[self.specification.shows])(row, self.output)
        else:
            self._print_list([row])

    def _print_list(self, rows: list[dict[str, Any]]) -> None:
        specification = self.specification
        if more := _ROWS.get(specification.shows):
            rows = list(map(_load(more), rows))
        draw = _LISTS.get(specification.shows)
        if self.form == TABLE and draw is not None:
            _load(draw)(rows, specification.columns, self.output)
            return
        if self.form == TABLE:
            rows = [
                row | {name: row[name] or text for name, text in specification.blank.items()}
                for row in rows
            ]
        lists.print_rows(rows, form=self.form, name=specification.rows,
                         columns=specification.columns, output=self.output)  # fmt: skip

    def _print(self, result: Any) -> None:
        """Print a resource, a line about it, or its secret; then the note."""
        specification = self.specification
        if self.form == "json":
            deliver_json(lists.plain_values(result))
            if specification.says:
                return
        elif specification.once:
            secret = getattr(result, specification.once)
            if secret is not None:  # of a bot without an endpoint there is none
                deliver_secret(secret, self.out)
        elif specification.says:
            click.echo(self.text(specification.says, result))
        else:
            _load(DRAWINGS[specification.shows])(result)
        if specification.note:
            click.echo(self.text(specification.note, result), err=True)

    def text(self, template: str, result: Any) -> str:
        """Return a line about the result."""
        return _Template().vformat(template, (), {**self.values, "result": result})


class _Template(Formatter):
    """A text in which a bool is one of two words, and a list states what an empty one is."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, bool):
            return format_spec.split("|")[not value]
        if isinstance(value, tuple):
            return ", ".join(value) or format_spec
        return str(super().format_field(value, format_spec))


def _is_given(field: Field, value: Any) -> bool:
    """Return whether an option was given.

    0 is a value, and so are the ``--off`` of a switch and an empty list of a handler.
    """
    if field.type == "switch":
        return value is not None
    return value is not None and value is not False and value not in ((), {})


def _value(field: Field, value: Any) -> Any:
    if field.switch is not None:
        return field.switch[value]
    if field.type == "time-or-none" and value == "none":
        return None
    if field.type in {"time", "time-or-none"}:
        from agon.errors import Unreadable
        from agon.kernel.times import parse_time, zone_fault

        if isinstance(value, str) and (fault := zone_fault(value)) is not None:
            raise Unreadable(fault)
        return parse_time(value)
    return value


def _load(name: str) -> Callable[..., Any]:
    """Return an object by its module and name."""
    module, _, attribute = name.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(module), attribute)
    return loaded
