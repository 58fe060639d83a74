"""``agon contest invite|invitations|join``: participants and judges sign up by invitation."""

import csv
import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO, cast

import click

from agon.cli.shared import arguments
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import deliver_secret, require_new_file
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from agon.entities.invitations import InvitedRole

JOIN: Final = "/join#"
_out = option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write it to a new file that only you can read, instead of stdout.",
)
_role = option(
    "--role",
    type=click.Choice(["participant", "judge"]),
    default="participant",
    show_default=True,
    help="What who accepts it can do.",
)
_days = option(
    "--days",
    type=click.FloatRange(min=0, min_open=True, max=3660),
    default=30.0,
    show_default=True,
    metavar="N",
    help="Until it expires.",
)


@click.command("invite", cls=Command)
@arguments.contest
@_role
@option("--user", metavar="U", help="The only user's id it is for (default: any that is free).")
@option(
    "--max-uses",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default=True,
    metavar="N",
    help="How often it can be accepted.",
)
@_days
@option("--note", default="", metavar="N", help="Note, shown in agon contest invitations.")
@option("--approval", is_flag=True, help="Approve each person who accepts it.")
@_out
@target
def invite(  # noqa: PLR0913 (one parameter for each option)
    contest: str,
    *,
    role: str,
    user: str | None,
    max_uses: int,
    days: float,
    note: str,
    approval: bool,
    out: Path | None,
    target: Target,
) -> None:
    """Create an invitation to ID and print its link, or its code for a database.

    It cannot be shown again; the database stores only its hash. With --approval people can read
    until agon contest join-requests approves them.

      agon contest invite spring --note 'for the mailing list' --max-uses 200
      agon contest invite spring --role judge --user judy --days 7
    """
    from datetime import UTC, datetime, timedelta

    from agon.api.models.invitations import InvitationCreate

    if out is not None:
        require_new_file(out)
    with target.open(create=False) as api:
        request = InvitationCreate(
            role=cast("InvitedRole", role),
            user=user,
            max_uses=max_uses,
            expires_at=datetime.now(UTC) + timedelta(days=days),
            note=note,
            approval=approval,
        )
        created = api.invitations.create(contest, request)
    server = None if target.server is None else target.server.rstrip("/")
    link = created.url or (created.code if server is None else f"{server}{JOIN}{created.code}")
    deliver_secret(link, out)
    times = "once" if max_uses == 1 else f"{max_uses:,} times"
    click.echo(
        f"invitation {created.id} to {contest}, {role}, {times}, until "
        f"{created.expires_at:%Y-%m-%d %H:%M} UTC; it is shown only once",
        err=True,
    )


@click.command("invite-all", cls=Command)
@arguments.contest
@click.argument("people", metavar="FILE", type=click.File(encoding="utf-8-sig"))
@_role
@_days
@option("--approval", is_flag=True, help="Approve each person who accepts one.")
@_out
@target
def invite_all(
    contest: str,
    people: TextIO,
    *,
    role: str,
    days: float,
    approval: bool,
    out: Path | None,
    target: Target,
) -> None:
    r"""Create an invitation to ID for each person in FILE, all or none, and print the links as CSV.

    FILE has one person per line: an id, or an id and a note, with or without the header user,note.
    The links cannot be shown again.

      agon contest invite-all spring class.csv --out links.csv
      printf 'ada,Ada Lovelace\\nbob\n' | agon contest invite-all spring -
    """
    from datetime import UTC, datetime, timedelta

    from agon.api.models.invitations import InvitationsCreate
    from agon.app.access.people_list import read_people

    if out is not None:
        require_new_file(out)
    listed = read_people(people.read())
    with target.open(create=False) as api:
        request = InvitationsCreate.model_validate(
            {
                "people": listed,
                "role": role,
                "expires_at": datetime.now(UTC) + timedelta(days=days),
                "approval": approval,
            }
        )
        created = api.invitations.create_all(contest, request).items
    server = None if target.server is None else target.server.rstrip("/")
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("user", "note", "link"))
    for each in created:
        link = each.url or (each.code if server is None else f"{server}{JOIN}{each.code}")
        rows.writerow((each.user, each.note, link))
    deliver_secret(text.getvalue().rstrip("\n"), out)
    click.echo(f"{len(created):,} invitations to {contest}; they are shown only once", err=True)


@click.command("join", cls=Command)
@click.argument("invitation", metavar="URL|CODE")
@option("--user", metavar="U", help="The id of your new user: up to 63 of a-z 0-9 . _ -")
@option("--name", default="", metavar="N", help="Display name (default: the id).")
@_out
@target
def join(invitation: str, *, user: str | None, name: str, out: Path | None, target: Target) -> None:
    """Accept an invitation and print your token; it cannot be shown again.

    With - the link or the code is read from stdin. With a token, its user joins the contest.

      agon contest join https://agon.example/join#invite_… --user ada --out ada.token
    """
    from agon.api.models.invitations import InvitationAccept

    if out is not None:
        require_new_file(out)
    if invitation == "-":
        invitation = sys.stdin.readline()
    server, is_link, code = invitation.strip().rpartition(JOIN)
    if is_link:
        target = replace(target, server=server, database=None)
    with target.open(create=False) as api:
        accepted = api.invitations.accept(InvitationAccept(code=code, user=user, name=name))
    deliver_secret(accepted.token, out)
    until = accepted.expires_at
    validity = "no expiry" if until is None else f"until {until:%Y-%m-%d %H:%M} UTC"
    click.echo(
        f"token of {accepted.user}, {accepted.role} of {accepted.contest}, {validity}; it is shown "
        "only once",
        err=True,
    )
    if accepted.waits:
        click.echo("an organizer has to approve it; until then it is a viewer's", err=True)
