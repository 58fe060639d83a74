"""``agon dojo run``: run one program in the sandbox."""

from typing import TYPE_CHECKING, Any

import click

from agon.cli.dojo import arguments
from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver

if TYPE_CHECKING:
    from agon.app.dojo.run import ProgramAnswer

_SHOWN_TERMS = 20
_SHOWN_DIGITS = 30


@click.command("run", cls=Command)
@arguments.file
@arguments.kind
@option("--no-scan", is_flag=True, help="Run it without the scan; the sandbox alone protects.")
@option(
    "--n-check",
    type=click.IntRange(1, 1_000_000),
    default=200,
    show_default=True,
    metavar="N",
    help="How many terms to compute.",
)
@option(
    "--first-index",
    type=int,
    default=0,
    show_default=True,
    metavar="N",
    help="Index of the first term: seq(n) is called from it on.",
)
@arguments.mode
@parameters.edition_option
@parameters.overrides_option
@parameters.form(TABLE, "json")
def run_file(  # noqa: PLR0913 (one parameter for each option)
    file: str,
    *,
    kind: str,
    no_scan: bool,
    n_check: int,
    first_index: int,
    mode: Any,
    edition: str | None,
    overrides: dict[str, str],
    form: str,
) -> None:
    """Run FILE in the sandbox: its terms, or why there are none.

    What the scan or the edition's payload policy rejects is reported with line numbers and not
    run. A setter has one second of CPU time, a solver five. FILE - is stdin. Exit code 0
    when a verdict was reached, whatever it is; 5 when there is no sandbox.

      agon dojo run solver.py
      agon dojo run setter.py --kind setter --n-check 50 --first-index 1
      agon dojo run hostile.py --no-scan --format json
    """
    from agon.app.dojo.inspection import rules_in_force
    from agon.app.dojo.run import run_program
    from agon.wiring import sandbox

    answer = run_program(
        arguments.read_program(file),
        kind="setter" if kind == "setter" else "solver",
        n_check=n_check,
        first_index=first_index,
        scan=not no_scan,
        rules=rules_in_force(edition, overrides),
        open_sandbox=lambda: sandbox(mode, workers=1),
    )
    if form == "json":
        from agon.cli.shared.formats import json_text

        deliver([json_text(answer.to_dict()).encode() + b"\n"], None)
    else:
        _draw(answer)
    if answer.verdict == "sandbox_error":
        from agon.errors import Unavailable

        raise Unavailable("the sandbox failed, which says nothing about the program; run it again")


def _draw(answer: "ProgramAnswer") -> None:
    from agon.cli.shared.tables import Output

    out = Output()
    right = "red" if answer.verdict != "ok" else "yellow" if answer.reason else "green"
    out.line(answer.verdict + (f": {answer.reason}" if answer.reason else ""), style=right)
    if answer.mode is not None:
        out.line(
            f"{answer.cpu_ms:.1f} ms CPU time · {answer.wall_ms:.1f} ms wall time · "
            f"{answer.memory_kib:,} KiB · {answer.mode}"
        )
    if answer.terms:
        terms = [
            term if len(term) <= _SHOWN_DIGITS else f"{term[:_SHOWN_DIGITS]}…({len(term)} digits)"
            for term in answer.terms[:_SHOWN_TERMS]
        ]
        rest = len(answer.terms) - len(terms)
        more = f" … and {rest:,} more" if rest > 0 else ""
        first = f"a_{answer.first_index}"
        out.line(f"{len(answer.terms)} terms from {first} on: {', '.join(terms)}{more}")
    out.deliver()
