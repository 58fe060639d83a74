"""Store contests, jobs and access in a database: SQLite (the default) or PostgreSQL."""

from typing import TYPE_CHECKING

from agon.errors import Unavailable

if TYPE_CHECKING:
    from agon.store.store import Store

__all__ = ["open_store"]


def open_store(url: str, *, create: bool = True) -> "Store":
    """Return a store on a database; the caller has to close it.

    Args:
        url: ``sqlite:///agon.db`` or ``postgresql://user@host/name``.
        create: create the tables of an empty database. One with an older revision is not changed,
            and its sessions raise an error.

    Raises:
        Unreadable: the URL is not of SQLite or PostgreSQL.
        Unavailable: a package is missing, or (with ``create``) the database cannot be reached.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = open_store(f"sqlite:///{folder}/agon.db")
        ...     with store.read() as session:
        ...         print(session.contests.page())
        ...     store.close()
        []
    """
    try:
        from agon.store.engines import open_engine
        from agon.store.migrations import current, upgrade
        from agon.store.store import Store
    except ModuleNotFoundError as error:
        raise Unavailable(f"the service needs {error.name}: pip install 'agon[serve]'") from error
    engine = open_engine(url)
    if create and current(url) is None:
        upgrade(url)
    return Store(engine)
