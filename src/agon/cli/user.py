"""``agon user``: who the tokens and passwords belong to."""

import sys
from pathlib import Path
from typing import Final

import click

from agon.cli import listing, parameters
from agon.cli.helping import Command, Group, option
from agon.cli.places import Place, place

_LISTED: Final = ("id", "name", "created_at", "disabled")


@click.group("user", cls=Group)
def command() -> None:
    """Create, list and disable users.

    Tokens and passwords belong to users.

      agon user create ada --name 'Ada Lovelace'
      agon user list
      agon user disable mallory
    """


@command.command("create", cls=Command)
@click.argument("user", metavar="ID")
@option("--name", default="", metavar="N", help="For people (default: the id).")
@option(
    "--password-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="F",
    help="File with a password for the site.",
)
@option("--ask-password", is_flag=True, help="Ask for a password for the site.")
@place
def create(
    user: str, *, name: str, password_file: Path | None, ask_password: bool, place: Place
) -> None:
    """Create the user ID; without a password they enter by tokens only.

    A password has 12 characters or more, and is asked for or read from a file.

      agon user create ada --name 'Ada Lovelace' --ask-password
    """
    password = None
    if password_file is not None:
        password = password_file.read_text(encoding="utf-8").rstrip("\r\n")
    elif ask_password:
        password = _asked()
    from agon.api.models.access import UserCreate

    with place.open() as house:
        made = house.access.create_user(UserCreate(id=user, name=name, password=password))
    click.echo(f"{made.id} · {made.name}")


@command.command("list", cls=Command)
@listing.form
@parameters.output
@place
def list_(*, form: str, output: Path | None, place: Place) -> None:
    """List users.

    Neither passwords nor their hashes are shown.

      agon user list --format csv
    """
    with place.open(create=False) as house:
        rows = [listing.plainly(one) for one in house.access.users()]
    listing.print_rows(rows, form=form, name="users", columns=_LISTED, output=output)


@command.command("disable", cls=Command)
@click.argument("user", metavar="ID")
@option("--undo", is_flag=True, help="Enable them again.")
@place
def disable(user: str, *, undo: bool, place: Place) -> None:
    """Disable the user ID: their tokens and password open nothing.

    What they did stays; --undo enables them again.

      agon user disable mallory
      agon user disable mallory --undo
    """
    from agon.api.models.access import UserUpdate

    with place.open(create=False) as house:
        done = house.access.update_user(user, UserUpdate(disabled=not undo))
    click.echo(f"{done.id} is {'disabled' if done.disabled else 'enabled'}")


def _asked() -> str:
    """Ask for a password twice.

    Raises:
        UsageError: nobody is there to ask.
    """
    if not sys.stdin.isatty():
        raise click.UsageError("nobody is there to ask; give --password-file")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
