"""``agon token``: the tokens of users and their permissions."""

import sys
from typing import TYPE_CHECKING

import click

from agon.cli.generated.commands import add_generated
from agon.cli.shared.commands import Group

if TYPE_CHECKING:
    from agon.cli.generated.call import Call
    from agon.client import Api


@click.group("token", cls=Group)
def command() -> None:
    """Create, list and revoke the tokens that authenticate clients.

    A token is shown once, when it is created; the database stores only its hash.

      agon token create --user olga --role organiser --contest spring
      agon token list
      agon token revoke 9Xf…
    """


add_generated(command)


def create(call: "Call") -> None:
    """Create a token, after a confirmation where it is for all contests, and its user."""
    user, role = call.values["user"], call.values["role"]
    if not call.values["contests"] and not call.values["yes"]:
        _confirm_everywhere(user, role)
    with call.target.open() as api:
        _create_missing_user(api, user)
        created = call.execute_at(api)
    call.print(created)


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
