"""``agon user``: the users to whom tokens and passwords belong."""

import sys
from pathlib import Path

import click

from agon.cli.generated.commands import add_generated
from agon.cli.shared.commands import Command, Group, option
from agon.cli.shared.tables import echo
from agon.cli.shared.target import Target, target


@click.group("user", cls=Group)
def command() -> None:
    """Create, list and disable users.

    Tokens and passwords belong to users.

      agon user create ada --name 'Ada Lovelace'
      agon user list
      agon user disable mallory
    """


add_generated(command)


@command.command("create", cls=Command)
@click.argument("user", metavar="ID")
@option("--name", default="", metavar="N", help="Display name (default: the id).")
@option(
    "--password-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="F",
    help="File with a password for the site.",
)
@option("--ask-password", is_flag=True, help="Read a password for the site from the terminal.")
@target
def create(
    user: str, *, name: str, password_file: Path | None, ask_password: bool, target: Target
) -> None:
    """Create the user ID; without a password, the user signs in by tokens only.

    A password has 12 characters or more and is read from the terminal or a file.

      agon user create ada --name 'Ada Lovelace' --ask-password
    """
    password = None
    if password_file is not None:
        password = password_file.read_text(encoding="utf-8").rstrip("\r\n")
    elif ask_password:
        password = _read_password()
    from agon.api.models.access import UserCreate

    with target.open() as api:
        created = api.access.create_user(UserCreate(id=user, name=name, password=password))
    echo(f"{created.id} · {created.name}")
    if created.similar_users:
        echo(f"note: the id is easily read as {', '.join(created.similar_users)}", err=True)
    if created.named_in:
        click.echo(
            f"note: records of {', '.join(created.named_in)} name this id, or one read as it; "
            "the user may act for that person there",
            err=True,
        )


def _read_password() -> str:
    """Return a password typed twice.

    Raises:
        UsageError: there is no terminal.
    """
    if not sys.stdin.isatty():
        raise click.UsageError(
            "a password cannot be typed without a terminal; give --password-file"
        )
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
