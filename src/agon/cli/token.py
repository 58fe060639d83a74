"""``agon token``: the tokens of users and their permissions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command, Group, option
from agon.cli.shared.output import TABLE, deliver_secret, require_new_file
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from agon.client import Api
    from agon.entities.access import Role

_LISTED: Final = ("id", "user", "role", "expires_at", "revoked_at", "contests", "scopes", "used_at",
                  "label")  # fmt: skip
_ROLES: Final = ("viewer", "participant", "judge", "organiser", "operator", "worker")


@click.group("token", cls=Group)
def command() -> None:
    """Create, list and revoke the tokens that authenticate clients.

    A token is shown once, when it is created; the database stores only its hash.

      agon token create --user olga --role organiser --contest spring
      agon token list
      agon token revoke 9Xf…
    """


@command.command("create", cls=Command)
@option("--user", required=True, metavar="U", help="The owner; created if missing.")
@option(
    "--role", required=True, type=click.Choice(_ROLES), help="The role whose actions it allows."
)
@option(
    "--contest",
    "contests",
    multiple=True,
    metavar="C",
    help="A contest in which it gives the role; may be repeated.",
)
@option(
    "--yes", "confirmed", is_flag=True, help="Create it without --contest, without being asked."
)
@option(
    "--scope",
    "scopes",
    multiple=True,
    metavar="S",
    help="An action, or the part before its dot; may be repeated (default: all of the role).",
)
@option(
    "--days",
    type=click.FloatRange(min=0, min_open=True, max=3660),
    default=90.0,
    show_default=True,
    metavar="N",
    help="Until it expires.",
)
@option("--label", default="", metavar="L", help="Label, shown in agon token list.")
@option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write it to a new file that only you can read, instead of stdout.",
)
@target
def create(  # noqa: PLR0913 (one for each option)
    *,
    user: str,
    role: str,
    contests: tuple[str, ...],
    confirmed: bool,
    scopes: tuple[str, ...],
    days: float,
    label: str,
    out: Path | None,
    target: Target,
) -> None:
    """Create a token and print it; it cannot be shown again.

    The database stores only its hash. A missing user is created.

    Without --contest the token is for every public contest and those that its user creates, now
    and later; an operator's or a worker's is for every contest. That is asked before, except with
    --yes; without a terminal only operators' and workers' tokens need no --yes.

      agon token create --user olga --role organiser --contest spring --days 30
      agon token create --user gpu-7 --role worker --out worker.token
    """
    from agon.api.models.access import TokenCreate

    if out is not None:
        require_new_file(out)
    if not contests and not confirmed:
        _confirm_everywhere(user, role)
    with target.open() as api:
        _create_missing_user(api, user)
        request = TokenCreate(
            user=user,
            role=cast("Role", role),
            label=label,
            contests=contests or None,
            scopes=scopes,
            days=days,
        )
        token = api.access.create_token(request)
    deliver_secret(token.token, out)
    until = token.expires_at
    validity = "no expiry" if until is None else f"until {until:%Y-%m-%d %H:%M} UTC"
    click.echo(f"token {token.id} of {user}, {role}, {validity}; it is shown only once", err=True)


@command.command("list", cls=Command)
@option("--user", metavar="U", help="Only of this user.")
@lists.form
@parameters.output
@target
def list_(*, user: str | None, form: str, output: Path | None, target: Target) -> None:
    """List tokens; their secrets are not stored.

    Each with its role, contests, scopes, expiry and last use.

      agon token list --user olga
    """
    with target.open(create=False) as api:
        rows = [lists.plain_values(token) for token in api.access.tokens(user=user)]
    if form == TABLE:  # an empty list of scopes means all of them
        rows = [row | {"scopes": row["scopes"] or "all"} for row in rows]
    lists.print_rows(rows, form=form, name="tokens", columns=_LISTED, output=output)


@command.command("revoke", cls=Command)
@click.argument("token", metavar="ID")
@target
def revoke(token: str, *, target: Target) -> None:
    """Revoke the token ID permanently. The id is the part before the second underscore.

    agon token list shows the ids.

      agon token revoke 9XfEr2bmT0aBq8f0m1vYzw
    """
    with target.open(create=False) as api:
        revoked = api.access.revoke_token(token)
    click.echo(f"{revoked.id} of {revoked.user} is revoked")


def _confirm_everywhere(user: str, role: str) -> None:
    """Say what a token without contests is for, and ask for a confirmation.

    Raises:
        UsageError: there is no terminal to ask on, and the role does not imply it.
        Abort: the answer is no.
    """
    from agon.app.access.permissions import UNLIMITED

    is_implied = role in UNLIMITED
    spans = (
        f"every public contest and those that {user} creates, now and later",
        "every contest of this server, private ones included, now and later",
    )
    statement = f"without --contest this {role}'s token is for {spans[is_implied]}"
    if sys.stdin.isatty():
        click.confirm(f"{statement}. Create it?", abort=True, err=True)
    elif is_implied:
        click.echo(statement, err=True)
    else:
        raise click.UsageError(f"{statement}; name contests with --contest, or confirm with --yes")


def _create_missing_user(api: "Api", user: str) -> None:
    """Create the user if there is none with that id."""
    from contextlib import suppress

    from agon.api.models.access import UserCreate
    from agon.errors import Conflict

    with suppress(Conflict):
        api.access.create_user(UserCreate(id=user))
