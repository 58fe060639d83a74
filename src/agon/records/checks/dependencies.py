"""Find dependencies between rows, and orphans: rows without the rows they depend on.

Valid records have no orphans. When single records are hidden, orphans appear: a row whose
reference is not visible is not visible either, nor is any row that refers to it. A check that reads
another table makes its rows depend on that table as well.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TypeAlias

from agon.records.raw import quote
from agon.records.schemas import CrossRowCheck, ForeignKey, Schema

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


def is_orphan(dependency: Dependency, relation: Relation, *, before: bool = False) -> str:
    """Return SQL that is true of a row ``t`` of the dependency's table that is an orphan.

    Args:
        dependency: the dependency.
        relation: the rows it may refer to.
        before: whether a referenced row has to have a lower number.
    """
    if isinstance(dependency, Lookup):
        return f"({dependency.check.sql(relation)})"
    column, key = f"t.{quote(dependency.column)}", f"o.{quote(dependency.other_column)}"
    rows = f"{relation(dependency.other_table)} AS o WHERE {key} = {column}"
    rows += " AND o._row < t._row" if before else ""
    return f"{column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {rows})"


def orphan_rows(table: str, dependencies: Iterable[Dependency], relation: Relation) -> str:
    """Return SQL that selects the numbers of a table's rows that are orphans."""
    rows = relation(table)
    selects = (
        f"SELECT t._row FROM {rows} AS t WHERE {is_orphan(dependency, relation)}"
        for dependency in dependencies
    )
    return " UNION ".join(selects)
