"""Create the tables of a database, and bring databases from one revision to the next.

Each revision is a file of ``versions``; a released one never changes.
"""

from pathlib import Path
from typing import Any, Final

from sqlalchemy import func, inspect, select, text
from sqlalchemy.engine import Connection, Engine

from agon.errors import Unavailable
from agon.store.connection.engines import begin, create_file, display_url, open_engine

NEWEST: Final = "0001"
"""The revision this version of agon works with."""

_VERSION_TABLE: Final = "alembic_version"
_UPGRADE_LOCK: Final = 0x61676F6F  # the advisory lock for upgrades, next to the one for events


def upgrade(url: str) -> tuple[str | None, str]:
    """Upgrade a database, which may be empty, to the newest revision, in one transaction.

    Returns:
        The revision before (None for an empty database) and after.

    Raises:
        Unavailable: the database cannot be reached, or was written by a newer version of agon.
    """
    from alembic import command

    create_file(url)
    engine = open_engine(url)
    try:
        with begin(engine, writing=True) as connection:
            _lock(connection)
            before = revision(connection)
            _require_known(before, display_url(engine.url))
            if before != NEWEST:
                configuration = _configuration()
                configuration.attributes["connection"] = connection
                command.upgrade(configuration, NEWEST)
            return before, NEWEST
    finally:
        engine.dispose()


def _lock(connection: Connection) -> None:
    """Wait for another process that upgrades: a server and its workers start together.

    SQLite has one writer at a time.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(select(func.pg_advisory_xact_lock(_UPGRADE_LOCK)))


def current(url: str) -> str | None:
    """Return the revision of a database, None if it is empty or does not exist.

    Raises:
        Unavailable: the database cannot be reached.
    """
    engine = open_engine(url)
    try:
        return current_of(engine)
    finally:
        engine.dispose()


def current_of(engine: Engine) -> str | None:
    """Return the revision of the database of an engine, None if it is empty or does not exist.

    Raises:
        Unavailable: the database cannot be reached.
    """
    if engine.dialect.name == "sqlite" and not Path(engine.url.database or "").exists():
        return None  # connecting would create the file
    with begin(engine, writing=False) as connection:
        return revision(connection)


def revision(connection: Connection) -> str | None:
    """Return the revision of a connected database, None if it has none."""
    if not inspect(connection).has_table(_VERSION_TABLE):
        return None
    name: str | None = connection.scalar(text(f"SELECT version_num FROM {_VERSION_TABLE}"))
    return name


def require_newest(connection: Connection, database: str) -> None:
    """Check that a database has the revision this version of agon works with.

    Args:
        connection: a connection to the database.
        database: its name in messages.

    Raises:
        Unavailable: it has another revision, or none.
    """
    name = revision(connection)
    _require_known(name, database)
    if name != NEWEST:
        state = "is empty" if name is None else f"has revision {name}"
        raise Unavailable(
            f"{database} {state}, this version of agon works with {NEWEST}: run `agon db upgrade`"
        )


def known_revisions() -> tuple[str, ...]:
    """Return the names of all revisions, oldest first."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_configuration())
    return tuple(script.revision for script in scripts.walk_revisions())[::-1]


def _require_known(name: str | None, database: str) -> None:
    # The list of revisions is read by alembic, whose import takes longer than most commands.
    if name not in {None, NEWEST} and name not in known_revisions():
        raise Unavailable(
            f"{database} has revision {name}, which this version of agon does not know: install a "
            "newer agon"
        )


def _configuration() -> Any:
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("path_separator", "os")
    # "%" would be read as the start of a reference.
    folder = str(Path(__file__).parent).replace("%", "%%")
    configuration.set_main_option("script_location", folder)
    return configuration
