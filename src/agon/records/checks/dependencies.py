"""Find dependencies between rows, and orphans: rows without the rows they depend on.

Valid records have no orphans. When single records are hidden, orphans appear: a row whose
reference is not visible is not visible either, nor is any row that refers to it. A check that reads
another table makes its rows depend on that table as well.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any, Final, TypeAlias

from agon.records.counting import Counts
from agon.records.raw import quote
from agon.records.schemas import CrossRowCheck, ForeignKey, Schema

_FEW_ROWS: Final = 10_000

Relation: TypeAlias = Callable[[str], str]
"""Returns SQL for the rows of a table, by its name."""


@dataclass(frozen=True)
class Lookup:
    """A check of a table's rows that reads another table."""

    table: str
    other_table: str
    check: CrossRowCheck


Dependency: TypeAlias = ForeignKey | Lookup


def dependencies_of(schema: Schema) -> tuple[tuple[str, tuple[Dependency, ...]], ...]:
    """Return the dependencies of each table that has some, referenced tables first.

    Example:
        >>> from agon.disciplines import discipline
        >>> tables = dependencies_of(discipline("arena").schema)
        >>> [(table, len(dependencies)) for table, dependencies in tables]
        [('bots', 1), ('judges', 1), ('matches', 2), ('versions', 1), ('votes', 1)]
    """
    dependencies: dict[str, tuple[Dependency, ...]] = {}
    for table in schema:
        lookups = (
            Lookup(table.name, other, check)
            for check in table.cross_row_checks
            for other in sorted(set(check.tables) - {table.name})
        )
        dependencies[table.name] = (*table.foreign_keys, *lookups)
    needed = {
        name: {dependency.other_table for dependency in each} for name, each in dependencies.items()
    }
    order = TopologicalSorter(needed).static_order()
    return tuple((name, dependencies[name]) for name in order if dependencies[name])


def is_orphan(dependency: Dependency, relation: Relation) -> str:
    """Return SQL that is true of a row ``t`` of the dependency's table that is an orphan.

    Args:
        dependency: the dependency.
        relation: the rows it may refer to.
    """
    if isinstance(dependency, Lookup):
        return f"({dependency.check.sql(relation)})"
    column, key = f"t.{quote(dependency.column)}", f"o.{quote(dependency.other_column)}"
    rows = f"{relation(dependency.other_table)} AS o WHERE {key} = {column}"
    return f"{column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {rows})"


def orphan_rows(table: str, dependencies: Iterable[Dependency], relation: Relation) -> str:
    """Return SQL that selects the numbers of a table's rows that are orphans."""
    rows = relation(table)
    selects = (
        f"SELECT t._row FROM {rows} AS t WHERE {is_orphan(dependency, relation)}"
        for dependency in dependencies
    )
    return " UNION ".join(selects)


class EarlierReferences:
    """The references of growing tables that are to earlier rows, which are visible when they are.

    Args:
        connection: the engine.
        relation: all rows of a table, with ascending numbers ``_row``.
    """

    def __init__(self, connection: Any, relation: Relation) -> None:
        self._connection = connection
        self._relation = relation
        # The row up to which each reference was looked at; below 0: it is to a later row as well.
        self._seen: dict[ForeignKey, int] = {}

    def __contains__(self, dependency: Dependency) -> bool:
        return isinstance(dependency, ForeignKey) and self._seen.get(dependency, 0) >= 0

    def look_at(self, dependencies: Iterable[Dependency], newest: Mapping[str, int]) -> None:
        """Look at the rows that were added since the last look.

        Args:
            dependencies: those of the tables that have rows.
            newest: the number of the last row of each table.
        """
        keys = [key for key in dependencies if isinstance(key, ForeignKey) and key in self
                and self._seen.get(key, 0) < newest[key.table]]  # fmt: skip
        added = (newest[key.table] - self._seen.get(key, 0) for key in keys)
        counts = Counts(self._connection, together=max(added, default=0) <= _FEW_ROWS)
        asked = []
        for key in keys:
            column, since = f"t.{quote(key.column)}", f"t._row > {self._seen.get(key, 0)}"
            rows, others = self._relation(key.table), self._relation(key.other_table)
            # Few rows are looked up among many in half the time that an anti join takes.
            found = (
                f"{rows} AS t SEMI JOIN {others} AS o ON o.{quote(key.other_column)} = {column} "
                f"AND o._row < t._row WHERE {since}"
            )
            asked.append((key, counts.ask([f"count({column})"], f"{rows} AS t WHERE {since}"),
                          counts.ask(["count(*)"], found)))  # fmt: skip
        for key, referring, referring_to_earlier in asked:
            sound = referring() == referring_to_earlier()
            self._seen[key] = newest[key.table] if sound else -1
