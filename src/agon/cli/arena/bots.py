"""``agon arena bot``, ``doctor`` and ``play``: for the authors of bots, without a server."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli.shared.commands import Command, option
from agon.cli.shared.tables import echo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agon.app.arena.play import Player

_MIN_BOTS: Final = 2

_secret_file = option(
    "--secret-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="F",
    help="A file with the endpoint's secret, whsec_…; while one is rotated, with two lines.",
)
_seconds = option(
    "--seconds",
    type=click.FloatRange(0.1, 3600),
    default=30.0,
    show_default=True,
    help="Time limit of each reply.",
)


@click.command("bot", cls=Command)
@option("--echo", is_flag=True, help="Answer with the prompt, vote A.")
@option(
    "--template",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Answer with a line of this file; {prompt} stands for the prompt.",
)
@option(
    "--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0: a free one."
)
@option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@_secret_file
def serve_reference_bot(
    *, echo: bool, template: Path | None, port: int, host: str, secret_file: Path | None
) -> None:
    """Serve a reference bot that verifies signatures, to start from.

    Without --secret-file it answers every request. It ends with Ctrl-C.

      agon arena bot --echo --port 8080
      agon arena bot --template lines.txt --port 8080 --secret-file bot.secret
    """
    from agon.runners.bots import reference

    if echo == (template is not None):
        raise click.UsageError("give --echo or --template FILE")
    answer: reference.Answer = reference.echo
    if template is not None:
        lines = [line for line in template.read_text("utf-8").splitlines() if line.strip()]
        if not lines:
            raise click.UsageError(f"{template} has no line; write an answer into each line")
        answer = reference.answer_by_templates(lines)
    verification = reference.MessageVerification(_secrets(secret_file))
    with reference.serve_bot(answer, verification=verification, host=host, port=port) as server:
        click.echo(f"http://{host}:{server.server_port}/")
        if secret_file is None:
            click.echo("signatures are not verified: give --secret-file", err=True)
        server.serve_forever()


@click.command("doctor", cls=Command)
@click.argument("url")
@_secret_file
@_seconds
def examine(url: str, *, secret_file: Path | None, seconds: float) -> None:
    """Check the endpoint of a bot: what an arena sends, and what the bot must reject.

    Ping, signatures (valid; replayed, late, altered and foreign ones must be rejected), an answer
    and its length, a vote, TLS. Exit code 1 if a check failed.

      agon arena doctor http://127.0.0.1:8080/ --secret-file bot.secret
    """
    from agon.app.webhooks.address_guard import ForbiddenUrl, checked_url
    from agon.errors import CheckFailed
    from agon.runners.bots.doctor import Examination
    from agon.runners.bots.http import HttpBots

    secrets = _secrets(secret_file)
    try:
        checked_url(url, allow_private=True)
    except ForbiddenUrl as error:
        raise click.BadParameter(str(error), param_hint="URL") from None
    examination = Examination(
        url,
        secrets[0] if secrets else None,
        bots=HttpBots(allow_private=True),
        seconds=seconds,
    )
    failures = 0
    for check in examination.checks():
        echo(f"{check.result:7}  {check.name}: {check.detail}")
        failures += check.result == "failed"
    if failures:
        noun = "check" if failures == 1 else "checks"
        raise CheckFailed(f"{failures} {noun} failed; correct the bot and run this again")


@click.command("play", cls=Command)
@option(
    "--bot", "bots", multiple=True, required=True, metavar="URL|CMD", help="A bot; at least two."
)
@option("--judge", "judges", multiple=True, metavar="URL|CMD", help="A judge; none: no winner.")
@option(
    "--seed",
    default="0",
    show_default=True,
    help="Text that all draws follow from; equal texts give equal draws.",
)
@option(
    "--rounds",
    type=click.IntRange(1, 100_000),
    default=1,
    show_default=True,
    help="Rounds, in each of which every bot meets every other one.",
)
@option(
    "--prompts",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Prompts, one in each line; default: a dozen of agon's.",
)
@_secret_file
@_seconds
def play_locally(
    *,
    bots: "Sequence[str]",
    judges: "Sequence[str]",
    seed: str,
    rounds: int,
    prompts: Path | None,
    secret_file: Path | None,
    seconds: float,
) -> None:
    """Play matches between bots without a server, as JSON lines.

    A bot or judge is a URL, or a command that reads the work on stdin and writes its reply on
    stdout. In each round every bot meets every other one; the last line has the results. Requests
    to URLs are signed with --secret-file.

      agon arena play --bot http://127.0.0.1:8080/ --bot 'python3 mybot.py' --rounds 5
      agon arena play --bot ./old --bot ./new --judge ./judge --seed 7
    """
    from datetime import UTC, datetime

    from agon.app.arena.live.example_prompts import PROMPTS
    from agon.app.arena.play import LocalArena

    if len(bots) < _MIN_BOTS:
        raise click.UsageError("a match needs two bots; give --bot twice")
    texts: Sequence[str] = PROMPTS
    if prompts is not None:
        texts = [line for line in prompts.read_text("utf-8").splitlines() if line.strip()]
        if not texts:
            raise click.UsageError(f"{prompts} has no line; write a prompt into each line")
    arena = LocalArena(
        bots=_players(bots, secret_file),
        judges=_players(judges, secret_file),
        prompts=texts,
        seed=seed,
        seconds=seconds,
        now=datetime.now(UTC),
    )
    for line in arena.play(rounds):
        click.echo(json.dumps(line, ensure_ascii=False))


def _players(addresses: "Sequence[str]", secret_file: Path | None) -> "Mapping[str, Player]":
    """Return bots by their addresses; a second of one address gets a number."""
    from agon.app.arena.live.network.transport import Endpoint
    from agon.runners.bots.commands import CommandBot
    from agon.runners.bots.http import EndpointBot, HttpBots

    secrets = tuple(_secrets(secret_file))
    transport = HttpBots(allow_private=True)
    players: dict[str, Player] = {}
    for address in addresses:
        name, number = address, 2
        while name in players:
            name, number = f"{address} #{number}", number + 1
        players[name] = (
            EndpointBot(transport, Endpoint(address, secrets))
            if address.startswith(("http://", "https://"))
            else CommandBot(shlex.split(address))
        )
    return players


def _secrets(file: Path | None) -> list[bytes]:
    from agon.app.webhooks.signatures import parse_secret

    if file is None:
        return []
    return [parse_secret(line.strip()) for line in file.read_text("ascii").splitlines() if line]
