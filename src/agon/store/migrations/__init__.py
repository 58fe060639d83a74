"""Bring databases from one version of agon to the next.

Every revision is a file of ``versions``; released ones are never changed.
"""

from pathlib import Path
from typing import Any, Final

from sqlalchemy import inspect, text
from sqlalchemy.engine import Connection

from agon.errors import Unavailable
from agon.store.engines import address, begun, make_file, open_engine, place

NEWEST: Final = "0002"
"""The revision this agon works with."""

_TABLE: Final = "alembic_version"


def upgrade(url: str, *, to: str = NEWEST) -> tuple[str | None, str]:
    """Bring a database to the newest revision, an empty one too; return from where, and to where.

    All of it happens, or nothing.

    Args:
        url: the database.
        to: another revision, for an archive that was written then.

    Raises:
        Unavailable: it cannot be reached, or was made by a newer agon.
    """
    from alembic import command

    make_file(url)
    engine = open_engine(url)
    try:
        with begun(engine, writing=True) as connection:
            before = revision(connection)
            _refuse_newer(before, place(engine.url))
            if before != to:
                configuration = _configuration()
                configuration.attributes["connection"] = connection
                command.upgrade(configuration, to)
            return before, to
    finally:
        engine.dispose()


def current(url: str) -> str | None:
    """Return a database's revision, None for one that is empty or not there.

    Raises:
        Unavailable: it cannot be reached.
    """
    found = address(url)
    if found.get_backend_name() == "sqlite" and not Path(found.database or "").exists():
        return None  # looking would make the file
    engine = open_engine(url)
    try:
        with begun(engine, writing=False) as connection:
            return revision(connection)
    finally:
        engine.dispose()


def revision(connection: Connection) -> str | None:
    """Return the revision of the database that is connected, None for one without."""
    if not inspect(connection).has_table(_TABLE):
        return None
    found: str | None = connection.scalar(text(f"SELECT version_num FROM {_TABLE}"))
    return found


def refuse_other_versions(connection: Connection, named: str) -> None:
    """Check that a database is of the revision this agon works with.

    Raises:
        Unavailable: it is not.
    """
    found = revision(connection)
    _refuse_newer(found, named)
    if found != NEWEST:
        what = "is empty" if found is None else f"is of revision {found}"
        raise Unavailable(f"{named} {what}, this agon works with {NEWEST}: run `agon db upgrade`")


def _refuse_newer(found: str | None, named: str) -> None:
    if found is not None and found not in known():
        raise Unavailable(
            f"{named} is of revision {found}, which this agon does not know: install a newer agon"
        )


def known() -> tuple[str, ...]:
    """Return the names of all revisions, oldest first."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_configuration())
    return tuple(script.revision for script in scripts.walk_revisions())[::-1]


def _configuration() -> Any:
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("path_separator", "os")
    # "%" would be read as the start of a reference.
    folder = str(Path(__file__).parent).replace("%", "%%")
    configuration.set_main_option("script_location", folder)
    return configuration
