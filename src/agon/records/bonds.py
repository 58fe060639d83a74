"""Say which rows need which others, and find those that are there without them.

Checked records keep the promise that every reference of the schema is found. Of records that come
and go one by one it has to be kept anew: a row whose reference is not seen is not seen either, nor
is what refers to that row. A row check that looks into another table is a reference as well.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TypeAlias

from agon.records.raw import quoted
from agon.records.schemas import Schema
from agon.records.typed import SPACE

Relation: TypeAlias = Callable[[str], str]
"""Gives SQL for the rows of a table, by its name."""


@dataclass(frozen=True)
class Reference:
    """Hold that rows of a table need a row of another one with their value."""

    table: str
    column: str
    other: str
    key: str

    def lost(self, relation: Relation, *, before: bool = False) -> str:
        """Say in SQL of a row ``t`` that its reference is not found.

        Args:
            relation: the rows to look among.
            before: whether what is referred to has to have come before.
        """
        column, key = f"t.{quoted(self.column)}", f"o.{quoted(self.key)}"
        rows = f"{relation(self.other)} AS o WHERE {key} = {column}"
        rows += " AND o._row < t._row" if before else ""
        return f"{column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {rows})"


@dataclass(frozen=True)
class Lookup:
    """Hold that rows of a table are bad by a check that looks into another one."""

    table: str
    other: str
    bad: str

    def lost(self, relation: Relation) -> str:
        """Say in SQL of a row ``t`` that the check is bad among the rows to look among."""
        looked = re.sub(rf"\b{SPACE}\.(\w+)", lambda found: relation(found[1]), self.bad)
        return f"({looked})"


Bond: TypeAlias = Reference | Lookup


def bonds_of(schema: Schema) -> tuple[tuple[str, tuple[Bond, ...]], ...]:
    """List the bonds of each table that has some, tables referred to before those that refer.

    Example:
        >>> from agon.disciplines import discipline
        >>> [(table, len(bonds)) for table, bonds in bonds_of(discipline("arena").schema)]
        [('bots', 1), ('judges', 1), ('matches', 2), ('votes', 1)]
    """
    bonds: dict[str, list[Bond]] = {table.name: [] for table in schema}
    for table in schema:
        name = table.name
        for column in table.columns:
            if column.references is not None:
                other, _, key = column.references.partition(".")
                bonds[name].append(Reference(name, column.name, other, key))
        for check in table.checks:
            others = set(re.findall(rf"\b{SPACE}\.(\w+)", check.bad)) - {name}
            bonds[name] += (Lookup(name, other, check.bad) for other in sorted(others))
    needed = {name: {bond.other for bond in found} for name, found in bonds.items()}
    order = TopologicalSorter(needed).static_order()
    return tuple((name, tuple(bonds[name])) for name in order if bonds[name])


def lost_rows(table: str, bonds: Iterable[Bond], relation: Relation) -> str:
    """Select the numbers of a table's rows that are lost by any of some bonds."""
    rows = relation(table)
    selects = (f"SELECT t._row FROM {rows} AS t WHERE {bond.lost(relation)}" for bond in bonds)
    return " UNION ".join(selects)
