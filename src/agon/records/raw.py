"""Define the embedded engine, and tables as their source holds them, before values are read."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from agon.records.issues import RowIssue


class Engine:
    """A DuckDB connection and the folder it may spill to.

    Closing it removes both; so does the last reference to it.

    Attributes:
        connection: the DuckDB connection; its database lives in memory.
    """

    def __init__(self) -> None:
        import duckdb

        folder = tempfile.mkdtemp(prefix="agon-")
        self.connection: Any = duckdb.connect(
            config={
                "temp_directory": folder,
                # Only installed extensions are used; none is downloaded.
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        self._release = weakref.finalize(self, _release, self.connection, folder)
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute("SET enable_progress_bar = false")

    def close(self) -> None:
        """Close the connection and remove its folder; a second call does nothing."""
        self._release()


def _release(connection: Any, folder: str) -> None:
    connection.close()
    shutil.rmtree(folder, ignore_errors=True)


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
        others: columns the source has and the schema does not.
        lines: returns the line of a text file, from 1, on which each row begins.
        examine: returns the issues that prevent reading a file to its end.
    """

    name: str
    location: str
    relation: str
    types: dict[str, str]
    row: str = NUMBERED
    stored: bool = False
    in_place: bool = False
    complete: bool = True
    others: tuple[str, ...] = ()
    lines: Callable[[Collection[int]], dict[int, int]] | None = None
    examine: Callable[[], list[RowIssue]] | None = None


@dataclass(frozen=True)
class SourceTables:
    """The tables of a source.

    Attributes:
        label: the source, as messages name it (never with a password).
        tables: the schema's tables that could be read.
        issues: what could not even be read as rows.
        others: names of files or tables that are none of the schema's.
    """

    label: str
    tables: dict[str, RawTable] = field(default_factory=dict)
    issues: list[RowIssue] = field(default_factory=list)
    others: tuple[str, ...] = ()


def quoted(name: str) -> str:
    """Quote an SQL identifier.

    Example:
        >>> quoted('a "b" c')
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
