"""Store contests, jobs and access in a database: SQLite (the default) or PostgreSQL."""

from typing import TYPE_CHECKING

from agon.errors import Unavailable

if TYPE_CHECKING:
    from agon.store.session import Store

__all__ = ["open_store"]


def open_store(
    url: str,
    *,
    create: bool = True,
    lock_timeout_s: float | None = None,
    idle_timeout_s: float | None = None,
) -> "Store":
    """Return a store on a database; the caller has to close it.

    Args:
        url: ``sqlite:///agon.db`` or ``postgresql://user@host/name``.
        create: create the tables of an empty database. One with an older revision is not changed,
            and its sessions raise an error.
        lock_timeout_s: how long a session waits for another that writes; None: the default.
        idle_timeout_s: how long a session that writes may be idle before PostgreSQL ends it; None:
            the default.

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
        from agon.store.connection.engines import IDLE_TIMEOUT_S, LOCK_TIMEOUT_S, open_engine
        from agon.store.migrations import NEWEST, current_of, upgrade
        from agon.store.session import Store
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"the service needs {error.name}: pip install 'agon-engine[serve]'"
        ) from error
    lock_timeout_s = LOCK_TIMEOUT_S if lock_timeout_s is None else lock_timeout_s
    idle_timeout_s = IDLE_TIMEOUT_S if idle_timeout_s is None else idle_timeout_s
    engine = open_engine(url, lock_timeout_s=lock_timeout_s)
    revision = (current_of(engine) or upgrade(url)[1]) if create else None
    return Store(
        engine,
        lock_timeout_s=lock_timeout_s,
        idle_timeout_s=idle_timeout_s,
        is_newest=revision == NEWEST,
    )
