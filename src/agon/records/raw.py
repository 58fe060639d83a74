"""Define the embedded engine, and tables as their source holds them, before values are read."""

import os
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Any

from agon.records.issues import RowIssue
from agon.records.spill_folders import SpillFolder, make_spill_folder

_MEMORY_SHARE = 0.4
"""Share of the machine's memory, or of its cgroup's limit, that DuckDB uses before it spills.

Its own default is 80 %; arrays of facts and formulas need the rest.
"""

_SORT_SHARE = 0.2
"""The same share while records are sorted for their hash, next to the arrays of facts."""

_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class MemoryEngine:
    """A DuckDB connection to a database in memory that no other engine sees.

    Closing it drops the database; so does the last reference to it.

    Args:
        shared: whether to use the instance of DuckDB that engines for little data share: starting
            an instance takes 20 ms, and a process keeps most of the memory that a shared one used.
        connected_to: an engine whose database this one uses on another connection.

    Attributes:
        instance: the instance of DuckDB.
        connection: a connection to it.
        database: the name of the engine's database in a shared instance.
        in_files: whether all tables are files that are read in place; a table in memory may be
            seen by its connection only.
    """

    instance: "_Instance"
    connection: Any

    def __init__(self, *, shared: bool = False, connected_to: "MemoryEngine | None" = None) -> None:
        self.in_files = False
        self.database: str | None = None
        self._space: str | None = None
        self._release: Callable[[], object]
        if connected_to is not None:
            self.instance, self.connection = connected_to.instance, connected_to.connection.cursor()
            self._release = self.connection.close
            self.database = connected_to.database
            if self.database is not None:
                self.connection.execute(f"USE {self.database}")
        elif shared:
            self.instance, self.connection, self.database = _shared.attach()
            self._release = weakref.finalize(
                self, _detach, self.instance, self.connection, self.database
            )
        else:
            self.instance = _Instance()
            self.connection = self.instance.connection
            self._release = self.instance.close
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute("SET enable_progress_bar = false")

    @property
    def is_shared(self) -> bool:
        """Whether it uses the instance of DuckDB that engines for little data share."""
        return self.database is not None

    def use(self, space: str) -> None:
        """Let bare names of tables in statements of its connection stand for those of a schema."""
        if space != self._space:  # each statement takes half a millisecond
            self.connection.execute(f"SET schema = '{space}'")
            self._space = space

    @contextmanager
    def unoptimized(self) -> Iterator[None]:
        """Run the statements of a block as they are written, where little data is read.

        They are simple: to optimize the plans of those that read a few rows takes a fifth of the
        time, and saves nothing up to 10,000 rows. Should an error end the block, close the engine.
        """
        if not self.is_shared:
            yield
            return
        self.connection.execute("PRAGMA disable_optimizer")
        yield
        self.connection.execute("PRAGMA enable_optimizer")

    def close(self) -> None:
        """Close the connection and drop its database; a second call does nothing."""
        self._release()


class _Instance:
    """An instance of DuckDB and the folder it may spill to; closing it removes both.

    Args:
        options: settings of DuckDB.
    """

    def __init__(self, **options: int) -> None:
        import duckdb

        folder = make_spill_folder()
        self.connection: Any = duckdb.connect(
            config={
                **options,
                "temp_directory": folder.path,
                "memory_limit": f"{_MEMORY_SHARE:.0%}",
                # Only installed extensions are used; none is downloaded.
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        self.close = weakref.finalize(self, _close, self.connection, folder)


def _close(connection: Any, folder: SpillFolder) -> None:
    connection.close()
    folder.remove()


def memory_of(connection: Any) -> int:
    """Return the bytes of memory of the machine, or of the cgroup, as DuckDB sees them."""
    limit = connection.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
    number, unit = limit.split()
    return round(float(number) * _UNITS[unit] / _MEMORY_SHARE)


@contextmanager
def sorting_memory(connection: Any) -> Iterator[None]:
    """Let DuckDB use less memory before it spills, if it can; queries on other connections too."""
    import duckdb

    with suppress(duckdb.Error):  # tables in memory take more already
        connection.execute(f"SET memory_limit = '{_SORT_SHARE:.0%}'")
    try:
        yield
    finally:
        connection.execute(f"SET memory_limit = '{_MEMORY_SHARE:.0%}'")


class _SharedInstance:
    """The instance that engines of this process share, started for the first of them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._instance: _Instance | None = None
        self._numbers = count(1)

    def attach(self) -> tuple[_Instance, Any, str]:
        """Attach an empty database; return the instance, a connection to it, and its name."""
        import duckdb

        with self._lock:
            name = f"engine_{next(self._numbers)}"
            if self._instance is not None:
                with suppress(duckdb.Error):  # an internal error makes an instance unusable
                    return self._instance, _attach(self._instance, name), name
            # Threads of its own would cost more time than they save on few rows.
            self._instance = _Instance(threads=1)
            return self._instance, _attach(self._instance, name), name


def _attach(instance: _Instance, name: str) -> Any:
    connection = instance.connection.cursor()
    connection.execute(f"ATTACH ':memory:' AS {name}")
    connection.execute(f"USE {name}")
    return connection


def _detach(instance: _Instance, connection: Any, name: str) -> None:
    import duckdb

    connection.close()
    with suppress(duckdb.Error):
        instance.connection.cursor().execute(f"DETACH {name}")


_shared = _SharedInstance()


def _replace_shared() -> None:
    """Start another instance in a child process."""
    global _shared  # noqa: PLW0603 - the threads of the parent's instance do not run in the child
    _parents.append(_shared)
    _shared = _SharedInstance()


_parents: list[_SharedInstance] = []
os.register_at_fork(after_in_child=_replace_shared)


NUMBERED = "row_number() OVER ()"
"""SQL that numbers the rows of a relation without row numbers, in its own order."""


@dataclass(frozen=True)
class RawTable:
    """One table of a source inside the embedded engine.

    Attributes:
        name: the schema's table.
        location: the file or database table, as messages name it.
        relation: the SQL after ``FROM`` that reads it.
        types: the engine's type of each column the schema knows.
        row: SQL for the number of a row in its source, from 1.
        stored: whether ``relation`` is a copy that can be dropped once its values are read.
        in_place: whether a file is read lazily, so that damage is detected only then.
        complete: whether every row could be read; otherwise an id that is missing may be in an
            unreadable row.
        has_empty_texts: whether a text may be empty, and not only missing.
        others: columns the source has that no column of the schema is read from.
        spelled: the source's name of a column, by the schema's, where it is spelled otherwise.
        lines: returns the line of a text file, from 1, on which each row begins.
        examine: returns the issues that prevent reading a file to its end.
        parts: of a table in several files, each file's location and the number of rows before it.
    """

    name: str
    location: str
    relation: str
    types: dict[str, str]
    row: str = NUMBERED
    stored: bool = False
    in_place: bool = False
    complete: bool = True
    has_empty_texts: bool = True
    others: tuple[str, ...] = ()
    spelled: Mapping[str, str] = field(default_factory=dict)
    lines: Callable[[Collection[int]], dict[int, int]] | None = None
    examine: Callable[[], list[RowIssue]] | None = None
    parts: tuple[tuple[str, int], ...] = ()

    def place(self, row: int) -> tuple[str, int]:
        """Return the location of a row, and its number there."""
        first = (self.location, 0)
        location, before = next((part for part in self.parts[::-1] if part[1] < row), first)
        return location, row - before


@dataclass(frozen=True)
class SourceTables:
    """The tables of a source.

    Attributes:
        label: the source, as messages name it (never with a password).
        tables: the schema's tables that could be read.
        issues: what could not even be read as rows.
        others: names of files or tables that are none of the schema's.
        spelled: the name of a file or a table, by the schema's, where it is spelled otherwise.
    """

    label: str
    tables: dict[str, RawTable] = field(default_factory=dict)
    issues: list[RowIssue] = field(default_factory=list)
    others: tuple[str, ...] = ()
    spelled: Mapping[str, str] = field(default_factory=dict)


def quote(name: str) -> str:
    """Quote an SQL identifier.

    Example:
        >>> quote('a "b" c')
        '"a ""b"" c"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote an SQL text literal.

    Example:
        >>> literal("o'clock")
        "'o''clock'"
    """
    return "'" + text.replace("'", "''") + "'"


def file_literal(path: str) -> str:
    """Quote a file's path so that the engine does not read it as a pattern.

    Example:
        >>> file_literal("season[1]/users.csv")
        "'season[[]1]/users.csv'"
    """
    return literal("".join(f"[{sign}]" if sign in "*?[" else sign for sign in path))
