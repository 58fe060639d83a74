"""Define the tables a discipline scores: columns, kinds, bounds, keys, references and checks.

This is the one definition of a valid row. Two engines are derived from it: ``validation.py`` checks
tables in SQL, ``rows.py`` checks rows in Python as they arrive at the service.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from agon.records.conditions import Condition


class Kind(StrEnum):
    """The kind of values in a column.

    ``ID`` is an integer or text, compared unchanged; ``TIMESTAMP`` is ISO 8601 and stored in
    UTC (no zone given means UTC); ``NUMBER`` is a finite float.
    """

    ID = "id"
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TIMESTAMP = "timestamp"


SQL_TYPES = {
    Kind.ID: "VARCHAR",
    Kind.TEXT: "VARCHAR",
    Kind.INTEGER: "BIGINT",
    Kind.NUMBER: "DOUBLE",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.TIMESTAMP: "TIMESTAMP",
}


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        required: the table is invalid without the column.
        nullable: single values may be empty (those of an optional column always may).
        low, high: inclusive bounds for numbers.
        above: the exclusive lower bound, in the place of ``low``.
        choices: the closed list of texts.
        sides: columns of names; the first choice may be written as the name in the first of them,
            and so on (the winner as ``ann`` instead of ``a``).
        is_points: 1, 0.5 and 0 are read as a win of ``model_a``, a ``tie`` and a win of
            ``model_b``, where 0.5 shows that they are points.
        lists: a list of texts is read as one text, with commas.
        references: ``table.column`` a value must be found in.
        meaning: what a value is, as a sentence.
        empty: what an empty value means, where values may be empty.
        empty_text: what an empty text is read as, where a format distinguishes it from a missing
            one (CSV does not); empty: it counts as missing.
    """

    name: str
    kind: Kind
    required: bool = True
    nullable: bool = False
    low: float | None = None
    high: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    is_points: bool = False
    lists: bool = False
    references: str | None = None
    meaning: str = ""
    empty: str = ""
    empty_text: str = ""

    @property
    def may_be_empty(self) -> bool:
        """Whether single values may be empty."""
        return self.nullable or not self.required

    @property
    def allowed(self) -> str:
        """The values it allows besides its kind, as text.

        Example:
            >>> Column("score", Kind.NUMBER, low=0, high=1).allowed
            '0 to 1'
            >>> Column("weight", Kind.NUMBER, above=0).allowed
            '> 0'
            >>> Column("winner", Kind.TEXT, choices=("a", "b", "tie")).allowed
            'a, b, tie'
        """
        low, high = (None if bound is None else f"{bound:g}" for bound in (self.low, self.high))
        bounds = f"{low} to {high}" if low and high else f"≥ {low}" if low else f"≤ {high}"
        if self.above is not None:
            bounds = f"> {self.above:g}" + (f" to {high}" if high else "")
        return "; ".join(
            [
                *([", ".join(self.choices)] if self.choices else []),
                *([bounds] if low or high or self.above is not None else []),
                *([f"one of {self.references}"] if self.references else []),
            ]
        )


@dataclass(frozen=True)
class RowCheck:
    """A check of one row by itself: rows for which ``bad`` is true are rejected.

    Attributes:
        column: the column the issue names.
        violated: true for an invalid row.
        reason: what is wrong with such a row.
        remedy: what would be right.
    """

    column: str
    violated: Condition
    reason: str
    remedy: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the row that the check reads."""
        return self.violated.columns


@dataclass(frozen=True)
class CrossRowCheck:
    """A check of a row among other rows, of its own table or of others.

    Attributes:
        column: the column the issue names.
        violated: SQL over the row's typed columns, true for an invalid row; tables it reads are
            in braces (``SELECT id FROM {competitions}``).
        tables: the tables it reads.
        reason: what is wrong with such a row.
        remedy: what would be right.
        columns: the columns of the row that it reads.
    """

    column: str
    violated: str
    tables: tuple[str, ...]
    reason: str
    remedy: str
    columns: tuple[str, ...] = ()

    def sql(self, relation: Callable[[str], str]) -> str:
        """Return the SQL of a bad row; ``relation`` gives what each table is read from."""
        return self.violated.format_map({name: relation(name) for name in self.tables})


@dataclass(frozen=True)
class ForeignKey:
    """A column whose values must be found in a column of another table."""

    table: str
    column: str
    other_table: str
    other_column: str


@dataclass(frozen=True)
class Table:
    """One table of a schema.

    Attributes:
        required: the records are invalid without it. Any other table counts as empty when it is
            missing, unless rows refer to it.
        key: columns that identify a row (no duplicates among rows where all are given).
        time: the column by which ``as_of`` leaves later rows out; rows without a time stay.
        ends: a column that says when a row ended; ``as_of`` an earlier time it had not.
        exactly_one_of: columns of which each row gives exactly one.
        order_within: where rows equal in these columns stand in file order, that order has
            meaning and enters the content hash.
        aliases: other names a database may have for it (``auth.users``).
        stored_as: the only name under which a source has it; empty: its name or an alias.
        meaning: what its rows are, as a sentence.
    """

    name: str
    columns: tuple[Column, ...]
    required: bool = False
    key: tuple[str, ...] = ()
    time: str | None = None
    ends: str | None = None
    exactly_one_of: tuple[str, ...] = ()
    order_within: tuple[str, ...] = ()
    checks: tuple[RowCheck | CrossRowCheck, ...] = ()
    aliases: tuple[str, ...] = ()
    stored_as: str = ""
    meaning: str = ""

    @property
    def source_names(self) -> tuple[str, ...]:
        """The names that a source may have for it, the usual one first."""
        return (self.stored_as,) if self.stored_as else (self.name, *self.aliases)

    def column(self, name: str) -> Column:
        """Return the column of that name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def id_columns(self) -> tuple[str, ...]:
        """The names of the columns of ids."""
        return tuple(column.name for column in self.columns if column.kind is Kind.ID)

    @property
    def row_checks(self) -> tuple[RowCheck, ...]:
        """The checks of single rows."""
        return tuple(check for check in self.checks if isinstance(check, RowCheck))

    @property
    def cross_row_checks(self) -> tuple[CrossRowCheck, ...]:
        """The checks that depend on other rows."""
        return tuple(check for check in self.checks if isinstance(check, CrossRowCheck))

    @property
    def foreign_keys(self) -> tuple[ForeignKey, ...]:
        """The columns that refer to other tables.

        Example:
            >>> votes = Table("votes", (Column("match_id", Kind.ID, references="matches.id"),))
            >>> [(key.other_table, key.other_column) for key in votes.foreign_keys]
            [('matches', 'id')]
        """
        return tuple(
            ForeignKey(self.name, column.name, *column.references.split(".", 1))
            for column in self.columns
            if column.references is not None
        )


@dataclass(frozen=True)
class Schema:
    """All tables of a discipline; of each group in ``one_table_of`` at least one is required."""

    discipline: str
    tables: tuple[Table, ...]
    one_table_of: tuple[tuple[str, ...], ...] = ()

    def __iter__(self) -> Iterator[Table]:
        return iter(self.tables)

    def table(self, name: str) -> Table:
        """Return the table of that name."""
        return next(table for table in self.tables if table.name == name)

    def families(self) -> dict[tuple[str, str], int]:
        """Return the family number of each id column ``(table, column)``.

        Id columns that refer to each other form a family: their ids are compared, so they get one
        type.
        """
        parent: dict[tuple[str, str], tuple[str, str]] = {}

        def root(node: tuple[str, str]) -> tuple[str, str]:
            while parent.setdefault(node, node) != node:
                node = parent[node]
            return node

        for table in self.tables:
            for name in table.id_columns:
                root((table.name, name))
            for key in table.foreign_keys:
                if table.column(key.column).kind is Kind.ID:
                    node = root((key.table, key.column))
                    parent[node] = root((key.other_table, key.other_column))
        numbers: dict[tuple[str, str], int] = {}
        return {node: numbers.setdefault(root(node), len(numbers)) for node in list(parent)}
