"""Parameters that several commands share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.shared import completion
from agon.cli.shared.commands import Function, option, together
from agon.cli.shared.output import MACHINE, TABLE, require_writable

if TYPE_CHECKING:
    from agon.app.analysis.options import RuleOptions


@dataclass(frozen=True)
class OutputOptions:
    """The values of --format, --output (None: stdout) and --top (None: all rows) of a board."""

    form: str
    output: Path | None
    top: int | None


class DisciplineName(click.ParamType[str]):
    """The name of a discipline; the list is loaded when the argument is parsed."""

    name = "discipline"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the discipline's name."""
        from agon.disciplines import is_discipline, names
        from agon.errors import did_you_mean

        if not is_discipline(value):
            hint = did_you_mean(value, names())
            self.fail(f"unknown discipline {value!r}: {hint}", param, ctx)
        return str(value)


class RuleOverride(click.ParamType[tuple[str, str]]):
    """A parameter ``key=value``; the rules check keys and values."""

    name = "key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return key and value."""
        key, equals, text = str(value).partition("=")
        if not equals or not key.strip():
            self.fail(
                f"{value!r} is not key=value; give a rule such as self_feedback=ignore", param, ctx
            )
        return key.strip(), text.strip()


def unique(
    ctx: click.Context,
    param: click.Parameter,
    pairs: tuple[tuple[str, Any], ...],
    *,
    fact: str = "has two values",
) -> dict[str, Any]:
    """Return the pairs of an option as a mapping.

    Raises:
        BadParameter: a name stands twice; the message states the fact.
    """
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise click.BadParameter(f"{name} {fact}", ctx=ctx, param=param)
        values[name] = value
    return values


def settings(
    ctx: click.Context, param: click.Parameter, value: tuple[tuple[str, str], ...]
) -> dict[str, str]:
    """Return the ``--set`` options as a mapping.

    Raises:
        BadParameter: a key is set twice.
    """
    return unique(ctx, param, value, fact="is set twice")


discipline = click.argument(
    "discipline",
    type=DisciplineName(),
    metavar="DISCIPLINE",
    shell_complete=completion.disciplines,
)
source = click.argument("source", metavar="SOURCE")

edition_option = option(
    "--edition",
    metavar="E",
    shell_complete=completion.editions,
    help="Released rules to score under (default: the discipline's reference edition).",
)
overrides_option = option(
    "--set",
    "overrides",
    type=RuleOverride(),
    multiple=True,
    callback=settings,
    help="Override a rule; may be given several times.",
)
as_of_option = option(
    "--as-of",
    metavar="T",
    help="Score the records as of this ISO 8601 time (without a zone: UTC).",
)
board = option(
    "--board",
    metavar="B",
    shell_complete=completion.boards,
    help="The board (default: the discipline's first one).",
)
_top = option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the first N rows (default: all; a table shows 100).",
)


_top_parts = option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the first N parts, with the number and the sum of the others (default: all).",
)


def _require_path(
    ctx: click.Context,  # noqa: ARG001 (Click's signature)
    param: click.Parameter,  # noqa: ARG001
    value: Path | None,
) -> Path | None:
    require_writable(value)
    return value


output = option(
    "--output",
    callback=_require_path,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="F",
    help="Write to this file instead of stdout; it is created when it is complete.",
)


def out(*, required: bool) -> Callable[[Function], Function]:
    """Return the ``--out`` option: the folder a command creates."""
    return option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        required=required,
        metavar="DIR",
        help="The new folder; it is created when it is complete.",
    )


file_form = option(
    "--format",
    "form",
    type=click.Choice(["parquet", "csv", "ndjson"]),
    default="parquet",
    show_default=True,
    help="Format of the files.",
)
seed = option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Number that all draws follow from; equal numbers give equal draws.",
)
dry_run = option("--dry-run", is_flag=True, help="Print what would be written, and write nothing.")


def form(*choices: str) -> Callable[[Function], Function]:
    """Return the ``--format`` option of a command with these formats, the default first.

    With ``--output`` and without ``--format``, the ending of the file decides (:class:`Command`).
    """
    return option(
        "--format",
        "form",
        type=click.Choice(choices),
        default=choices[0],
        show_default=True,
        help="Output format; without it, the ending of an output file decides.",
    )


board_form = form(TABLE, *MACHINE)
page_form = form(TABLE, *MACHINE, "html")
"""The ``--format`` of boards and what else is rows of numbers."""


def _rule_options(
    edition: str | None, overrides: dict[str, str], as_of: str | None
) -> "RuleOptions":
    return {"edition": edition, "overrides": overrides, "as_of": as_of}


rules = together("rule_options", _rule_options, edition_option, overrides_option, as_of_option)
"""Adds ``--edition``, ``--set`` and ``--as-of``; they arrive as ``rule_options``."""

printing = together("printing", OutputOptions, board_form, output, _top)
"""Adds ``--format``, ``--output`` and ``--top`` of a board; they arrive as ``printing``."""

printing_pages = together("printing", OutputOptions, page_form, output, _top)
"""Adds the options of :data:`printing`, with the format html."""


def explaining(*choices: str) -> Callable[[Function], Function]:
    """Return the options of an explanation in these formats; they arrive as ``printing``."""
    return together("printing", OutputOptions, form(*choices), output, _top_parts)
