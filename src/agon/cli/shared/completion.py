"""Values that a shell completes: disciplines, editions, boards, tables and contests.

A shell waits for the list, and shows what is printed in the middle of the line. So nothing is
printed, an error is an empty list, and a server has two seconds to answer.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import closing, contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agon.client import Api

Complete = Callable[[click.Context, click.Parameter, str], list[str]]

_SERVER_S: Final = 2.0
_LIMIT: Final = 200


def _completing(values: Callable[[click.Context], Iterable[str]]) -> Complete:
    """Return a completion: the values that begin with the text; none after any error."""

    @wraps(values)
    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
        try:
            return [value for value in values(ctx) if value.startswith(incomplete)][:_LIMIT]
        except Exception:  # noqa: BLE001 - nothing may be printed, whatever it is
            return []

    return complete


@_completing
def disciplines(_ctx: click.Context) -> Iterable[str]:
    """Return the names of the disciplines."""
    from agon.disciplines import names

    return names()


@_completing
def editions(ctx: click.Context) -> Iterable[str]:
    """Return the editions of the discipline on the line, else of all, with their full names."""
    from agon.editions import editions as released

    name = _value(ctx, "discipline")
    return [each.partition("/")[2] for each in released(name)] if name else released()


@_completing
def engines(_ctx: click.Context) -> Iterable[str]:
    """Return the names of the engines."""
    from agon.engines import ENGINES

    return [engine.name for engine in ENGINES]


@_completing
def boards(ctx: click.Context) -> Iterable[str]:
    """Return the boards of the discipline or the contest on the line."""
    from agon.disciplines import discipline

    return discipline(_discipline(ctx)).boards


@_completing
def tables(ctx: click.Context) -> Iterable[str]:
    """Return the tables of the discipline or the contest on the line."""
    from agon.disciplines import discipline

    return [table.name for table in discipline(_discipline(ctx)).schema]


@_completing
def contests(ctx: click.Context) -> Iterable[str]:
    """Return the contests of the database or the server on the line."""
    file = _sqlite_file(ctx)
    if file is not None:
        return _contests_in(file)
    with _api(ctx) as api:
        return [contest.id for contest, _ in zip(api.contests.list(), range(_LIMIT), strict=False)]


def _sqlite_file(ctx: click.Context) -> "Path | None":
    """Return the SQLite file on the line or in the settings; None: a server or PostgreSQL."""
    from agon.cli.shared.target import Target

    if ctx.params.get("server") or os.environ.get("AGON_SERVER"):
        return None
    return Target(None, None, ctx.params.get("database")).settings().database_file


def _contests_in(file: "Path") -> list[str]:
    """Return the ids of contests, without the service, which takes too long to load."""
    import sqlite3

    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT id FROM contests ORDER BY id").fetchall()
    return [str(name) for (name,) in rows]


def _value(ctx: click.Context, name: str) -> str | None:
    """Return the value of a parameter on the line, or None.

    Before the value of an option is typed, Click has not assigned the arguments yet.
    """
    arguments = [each.name for each in ctx.command.params if isinstance(each, click.Argument)]
    value = ctx.params.get(name) or dict(zip(arguments, ctx.args, strict=False)).get(name)
    return None if value is None else str(value)


def _discipline(ctx: click.Context) -> str:
    """Return the discipline on the line, that of the contest on it, or that of the group."""
    if name := _value(ctx, "discipline"):
        return name
    if contest := _value(ctx, "contest"):
        with _api(ctx) as api:
            return api.contests.get(contest).discipline
    return str(ctx.parent and ctx.parent.info_name)


@contextmanager
def _api(ctx: click.Context) -> "Iterator[Api]":
    """Open the target on the line for a short time; a database is not created."""
    from agon.cli.shared.target import Target, read_token

    names = ("server", "token_file", "database")
    server, token_file, database = (ctx.params.get(name) for name in names)
    server = server or os.environ.get("AGON_SERVER")
    if server and not database:
        from agon.client import Client

        token = read_token(token_file)
        with Client(str(server), token=token, timeout=_SERVER_S, patience=0.0) as api:
            yield api
        return
    with Target(None, None, database).open(create=False) as local:
        yield local


def print_completions(main: Callable[..., Any]) -> None:
    """Answer a shell; print no error, whatever happens."""
    import sys
    from contextlib import redirect_stderr

    with open(os.devnull, "w") as devnull, redirect_stderr(devnull):  # noqa: PTH123
        try:
            main(prog_name="agon")
        except Exception:  # noqa: BLE001 - the shell would show a traceback in the line
            sys.exit(0)
