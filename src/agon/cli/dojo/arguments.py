"""Arguments that several commands of the dojo share."""

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from agon.cli.shared.commands import option

if TYPE_CHECKING:
    from agon.app.dojo.problems import Problem

# The names of `agon.wiring.MODES`, which is loaded when a sandbox is opened (a test compares them).
MODES = ("bwrap", "degraded", "cold")

file = click.argument("file", metavar="FILE")
kind = option(
    "--kind",
    type=click.Choice(["solver", "setter"]),
    default="solver",
    show_default=True,
    help="What package FILE belongs to.",
)
mode = option(
    "--mode",
    type=click.Choice(MODES),
    default=MODES[0],
    show_default=True,
    help="The isolation: namespaces and warm interpreters; the same without namespaces; or "
    "namespaces and a new interpreter for each program.",
)


def read_program(name: str) -> bytes:
    """Return the program in a file, or on stdin for ``-``.

    Raises:
        Unreadable: it is larger than a program may be.
    """
    if name == "-":
        return _read_bounded(sys.stdin.buffer, "stdin")
    with Path(name).open("rb") as opened:
        return _read_bounded(opened, name)


def show_understood(problem: "Problem") -> None:
    """Print on stderr what was read from a setter's package, defaults included."""
    from agon.kernel.text.visible import visible_text

    for name, value in problem.understood().items():
        click.echo(f"{name}: {visible_text(value)}", err=True)


def _read_bounded(opened: IO[bytes], name: str) -> bytes:
    from agon.app.files import MAX_SOURCE_FILE
    from agon.errors import Unreadable

    content = opened.read(MAX_SOURCE_FILE + 1)
    if len(content) > MAX_SOURCE_FILE:
        raise Unreadable(f"{name}: has more than {MAX_SOURCE_FILE:,} bytes; give a program")
    return content
