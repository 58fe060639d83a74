"""The target of a command: a server, or a database it opens directly."""

import os
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.shared.commands import Option, option, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agon.client import Api
    from agon.errors import NotFound
    from agon.settings import Settings

_MAX_CONTESTS = 1000
"""Contests among which one is looked for that is similar to a name."""


class _ServerOption(Option):
    """An option that can also be set by ``AGON_SERVER``, for every command."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the value from the command's own variable, else from AGON_SERVER."""
        return super().resolve_envvar_value(ctx) or os.environ.get("AGON_SERVER") or None


_server = click.option(
    "--server",
    cls=_ServerOption,
    metavar="URL",
    help="Use this server instead of the database (also AGON_SERVER).",
)
_token_file = option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="F",
    help="File that holds the token shown to the server (default: AGON_TOKEN).",
)
_database = option("--database", metavar="URL", help="The database (default: setting database).")


@dataclass(frozen=True)
class Target:
    """The server or the database that a command works with.

    Attributes:
        server: base URL of the server; None: use the database.
        token_file: file that contains the token; None: AGON_TOKEN.
        database: its URL; None: as the settings say.
        typed: whether one of them was set on the command line.
    """

    server: str | None
    token_file: Path | None
    database: str | None
    typed: bool = False

    @contextmanager
    def open(self, *, create: bool = True) -> "Iterator[Api]":
        """Open the API of the target.

        Args:
            create: whether a missing database is created.

        Raises:
            UsageError: both a server and a database were set.
            NotFound: the database does not exist and ``create`` is false.
        """
        from agon.errors import NotFound

        api = self._client() if self.server else self._local(create=create)
        with api:
            try:
                yield api
            except ValueError as error:
                raise _readable(error) from None
            except NotFound as error:
                raise _with_suggestion(error, api) from None

    def settings(self) -> "Settings":
        """Return the settings with the database that was chosen.

        Raises:
            UsageError: a server was chosen.
        """
        if self.server:
            raise click.UsageError("this works with a database, not with --server")
        from agon.settings import load

        return load({"database": self.database})

    def _client(self) -> "Api":
        if self.database:
            raise click.UsageError("--server and --database exclude each other; give one")
        from agon.client import Client

        return Client(str(self.server), token=read_token(self.token_file))

    def _local(self, *, create: bool) -> "Api":
        from agon.client.local import Local
        from agon.wiring import open_service

        settings = self.settings()
        if not create:
            require_database(settings, "name one with --database, or --server")
        return Local(open_service(settings), allow_private=settings.webhook_allow_private)


def require_database(settings: "Settings", remedy: str) -> None:
    """Check that SQLite's file exists, which a command that only reads would create.

    Raises:
        NotFound: it does not.
    """
    from agon.errors import NotFound

    file = settings.database_file
    if file is not None and not file.exists():
        raise NotFound(f"{file}: no such database; {remedy}")


def _readable(error: ValueError) -> Exception:
    """Return the error of a request that its model rejects; any other as it is."""
    from pydantic import ValidationError

    from agon.api.invalid_fields import field_lines
    from agon.errors import Unreadable

    if not isinstance(error, ValidationError):
        return error
    return Unreadable("\n".join(field_lines(error)))


def _with_suggestion(error: "NotFound", api: "Api") -> "NotFound":
    """Return the error about a contest that the caller cannot see, with one that may be meant."""
    from agon.errors import AgonError, NotFound, did_you_mean

    context = click.get_current_context(silent=True)
    name = None if context is None else context.params.get("contest")
    if not isinstance(name, str):
        return error
    try:
        visible = [contest.id for contest in islice(api.contests.list(), _MAX_CONTESTS)]
    except AgonError:
        return error
    if name in visible or not visible:
        return error
    return NotFound(f"there is no contest {name!r}: {did_you_mean(name, visible)}")


def read_token(file: Path | None) -> str | None:
    """Return the token in a file, else that in ``AGON_TOKEN``, else None.

    Raises:
        Unreadable: the file holds none.
    """
    if file is None:
        return os.environ.get("AGON_TOKEN") or None
    text = file.read_text(encoding="utf-8", errors="replace").strip()
    if not text or len(text.split()) > 1:
        from agon.errors import Unreadable

        raise Unreadable(f"{file} contains no token; write only the token there, as it was shown")
    return text


def _target(server: str | None, token_file: Path | None, database: str | None) -> Target:
    typed = _is_typed("server") or _is_typed("database")
    if database and not _is_typed("server"):
        server = None  # what is typed is stronger than AGON_SERVER
    return Target(server, token_file, database, typed)


target = together("target", _target, _server, _token_file, _database)
"""Adds ``--server``, ``--token-file`` and ``--database``; they arrive as ``target``."""


def _is_typed(parameter: str) -> bool:
    source = click.get_current_context().get_parameter_source(parameter)
    return source is click.core.ParameterSource.COMMANDLINE
