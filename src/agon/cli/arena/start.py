"""``agon arena start``: a league that plays, with one command."""

import click

from agon.cli.contest.invitations import JOIN
from agon.cli.shared import arguments
from agon.cli.shared.commands import Command, option
from agon.cli.shared.target import Target, target

_DAYS = 30
_PEOPLE = 50


@click.command("start", cls=Command)
@arguments.contest
@option(
    "--friendly",
    is_flag=True,
    help="Prompts are there, no bot has to qualify, and one judge is enough.",
)
@option("--title", default="", metavar="T", help="Display name (default: the id).")
@target
def start(contest: str, *, friendly: bool, title: str, target: Target) -> None:
    """Create the arena ID, open it, and print invitations for authors of bots and for judges.

    With --friendly two bots and one person who opens the page Vote are enough for a round; the
    rules are those of the preset friendly. Without it bots qualify, and three judges are needed.
    What is missing for a round: agon arena round ID says it.

      agon arena start league --friendly
      agon arena round league
    """
    from datetime import UTC, datetime, timedelta

    from agon.api.models.contests import ContestCreate
    from agon.api.models.invitations import InvitationCreate

    with target.open(create=True) as api:
        api.contests.create(
            ContestCreate(
                id=contest,
                discipline="arena",
                title=title or contest,
                preset="friendly" if friendly else None,
            )
        )
        api.contests.open(contest)
        links = []
        for role in ("participant", "judge"):
            request = InvitationCreate(
                role=role,
                max_uses=_PEOPLE,
                expires_at=datetime.now(UTC) + timedelta(days=_DAYS),
                note="agon arena start",
            )
            created = api.invitations.create(contest, request)
            server = "" if target.server is None else f"{target.server.rstrip('/')}{JOIN}"
            links.append(created.url or f"{server}{created.code}")
    click.echo(f"for authors of bots  {links[0]}")
    click.echo(f"for judges           {links[1]}")
    is_link = "://" in links[0]
    click.echo(
        f"{contest} is open; the {'links' if is_link else 'codes'} are shown only once, for "
        f"{_PEOPLE} people each, {_DAYS} days. What is missing for a round: agon arena round "
        f"{contest}",
        err=True,
    )
    if not is_link:
        click.echo(
            "people type a code on the page /join of your server; with its address in the setting "
            "public_url, or in --server, these are links",
            err=True,
        )
