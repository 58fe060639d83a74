"""Keep contests, jobs and access in a database: SQLite (the default) or PostgreSQL.

The promises stand in the ports of ``agon.app.contests``, ``jobs``, ``access`` and ``webhooks``.
"""

from typing import TYPE_CHECKING

from agon.errors import Unavailable

if TYPE_CHECKING:
    from agon.store.store import Store

__all__ = ["open_store"]


def open_store(url: str, *, create: bool = True) -> "Store":
    """Open a database; closing it is the caller's.

    Args:
        url: ``sqlite:///agon.db`` or ``postgresql://user@host/name``.
        create: lay out an empty database first. One of an older version is left as it is, and its
            sessions are refused.

    Raises:
        Unreadable: the URL is none of SQLite or PostgreSQL.
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
