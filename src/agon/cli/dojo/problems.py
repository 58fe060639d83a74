"""``agon dojo publish``, ``reveal`` and ``verify``: a problem's published hash and its source."""

from pathlib import Path
from typing import Any

import click

from agon.cli.dojo import arguments
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import require_writable


@click.command("publish", cls=Command)
@click.argument("package", metavar="PACKAGE", type=click.Path(path_type=Path))
@option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="The new folder; it exists once all of it is written.",
)
@arguments.mode
def publish_problem(package: Path, *, out: Path, mode: Any) -> None:
    """Check a setter's PACKAGE and publish its problem.

    PACKAGE holds problem.json and setter.py. The setter has to give N_check terms from first_index
    on (0 unless stated), all int, within a second of CPU time, the same ones in two runs with
    different hash seeds. DIR gets disclosure.json, for everyone: P_hash, first_index and the first
    fifty terms of odd index; and sealed.json,
    which only its owner can read: the source and all terms. The problem's id, P_hash, is printed,
    and on stderr the setter, freeze, N_check and first_index that were read. A key of problem.json
    that agon does not know is an error; own keys begin with x-.

      agon dojo publish primes/ --out published/
    """
    from agon.app.dojo.problems import read_problem
    from agon.app.dojo.publication import publish, require_new
    from agon.wiring import sandbox

    require_new(out)
    problem = read_problem(package)
    with sandbox(mode) as opened:
        publish(problem, out, opened)
    click.echo(problem.id)
    arguments.show_understood(problem)
    click.echo(f"wrote {out}: disclosure.json to publish, sealed.json to keep", err=True)


@click.command("reveal", cls=Command)
@click.argument("source", metavar="SOURCE", type=click.Path(path_type=Path))
@option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The file to write.",
)
@option(
    "--early",
    is_flag=True,
    help="Reveal it before its freeze, while submissions are still accepted.",
)
@option(
    "--season",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The judged season, to include how often each method tag was used.",
)
@arguments.mode
def reveal_problem(source: Path, *, out: Path, early: bool, season: Path | None, mode: Any) -> None:
    """Write the answer of a problem for everyone: source, terms, P_hash.

    SOURCE is the setter's package (its setter runs once more) or a sealed file. Rejected, with exit
    code 4, before the problem's freeze_started_at.

      agon dojo reveal published/sealed.json --out revealed.json
    """
    from datetime import UTC, datetime

    from agon.app.dojo.hidden_answer import HiddenAnswer, read_answer
    from agon.app.dojo.lifecycle import require_revealable
    from agon.app.dojo.problems import read_problem
    from agon.app.dojo.reveal import published_package, reveal
    from agon.app.dojo.setter_validation import validate_setter
    from agon.wiring import sandbox

    require_writable(out)
    answer = None if source.is_dir() else read_answer(source)
    problem = read_problem(source) if answer is None else answer.problem
    if season is not None:
        problem = problem.as_published(published_package(season, problem.id))
    freeze = problem.freeze_started_at
    require_revealable(
        freeze, now=datetime.now(UTC), over=early or freeze is None, remedy=", or with --early"
    )
    if answer is None:
        with sandbox(mode) as opened:
            answer = HiddenAnswer(problem, validate_setter(problem, opened))
    reveal(answer, out, season=season)
    click.echo(problem.id)
    click.echo(f"wrote {out}; agon dojo verify {out} checks it", err=True)


@click.command("verify", cls=Command)
@click.argument("source", metavar="SOURCE", type=click.Path(path_type=Path))
@option("--hash", "promised", metavar="P_HASH", help="The hash that was published.")
def verify_source(source: Path, *, promised: str | None) -> None:
    """Compute the P_hash of a revealed SOURCE; nothing is run.

    SOURCE is a setter's source, or a revealed file (.json), which names its hash itself. Exit code
    1 when the source does not have the published hash.

      agon dojo verify setter.py --hash 9f86d081…
      agon dojo verify revealed.json
    """
    from agon.app.dojo.reveal import verify
    from agon.errors import CheckFailed

    verification = verify(source, promised)
    click.echo(verification.computed)
    if not verification.holds:
        raise CheckFailed(
            f"{source} has P_hash {verification.computed}, published was {verification.promised}"
        )
    click.echo("the source has the published hash", err=True)
