"""Write the checks of a table as SQL over its typed columns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from agon.records.checks.constraints import (
    INCONSISTENT,
    Constraint,
    constraints_of,
    exactly_one,
)
from agon.records.raw import literal, quote
from agon.records.schemas import Column, CrossRowCheck, RowCheck, Table
from agon.records.values.casting import ColumnCast


@dataclass(frozen=True)
class ConstraintCheck:
    """One constraint as SQL over the typed columns and ``invalid:``/``beyond:`` flags of a table.

    Attributes:
        constraint: the texts of the issue.
        column: the column it is about, or None for the row.
        violated: SQL that is true where the row fails.
        count: SQL that counts the failing rows, where that is cheaper than evaluating each.
        value: SQL for the value in the issue; None: the column's raw value.
        also: further columns that it reads.
    """

    constraint: Constraint
    column: str | None
    violated: str
    count: str | None = None
    value: str | None = None
    also: tuple[str, ...] = ()

    @property
    def counted(self) -> str:
        """Return SQL that counts the failing rows."""
        return self.count or f"count_if({self.violated})"


def flag(kind: str, column: str) -> str:
    """Return the quoted name of the flag column ``invalid:…`` or ``beyond:…`` of a typed column."""
    return quote(f"{kind}:{column}")


def checks_of(
    table: Table, casts: dict[str, ColumnCast], relation: Callable[[str], str]
) -> list[ConstraintCheck]:  # fmt: skip
    """Return the checks of a table whose columns are read by ``casts``.

    Args:
        table: the table.
        casts: how each existing column is read.
        relation: returns the SQL relation of a table, for checks that read other tables.
    """
    checks: list[ConstraintCheck] = []
    missing = {column.name for column in table.columns if column.required} - casts.keys()
    for column in table.columns:
        if column.name in casts:
            # What may be a name of a side is not unknown as long as the sides are.
            has_sides = missing.isdisjoint(column.sides)
            checks += _of_column(column, casts[column.name], has_sides=has_sides)
    flags = {name: flag("invalid", name) for name, read in casts.items() if read.invalid != "false"}
    if table.exactly_one_of:
        checks.append(_exactly_one(table, flags))
    checks += (_of_row(check, flags, relation) for check in table.checks)
    return checks


def _of_column(column: Column, read: ColumnCast, *, has_sides: bool) -> Iterator[ConstraintCheck]:
    name, says = quote(column.name), constraints_of(column)
    unread = "false" if read.invalid == "false" else flag("invalid", column.name)
    beyond = "" if read.beyond == "false" else flag("beyond", column.name)
    if unread != "false":
        unread_only = f"{unread} AND NOT {beyond}" if beyond else unread
        yield ConstraintCheck(says.wrong_type, column.name, unread_only)
    if not column.may_be_empty:
        cheap = f"count(*) - count({name})" if unread == "false" else None
        yield ConstraintCheck(says.empty, column.name, f"{name} IS NULL AND NOT {unread}", cheap)
    if column.choices and has_sides:
        # Comparisons are faster than NOT IN, of which the engine makes a function of lists.
        differ = " AND ".join(f"{name} <> {literal(choice)}" for choice in column.choices)
        yield ConstraintCheck(says.unknown_value, column.name, differ)
    if not read.finite:
        yield ConstraintCheck(says.non_finite, column.name, f"NOT isfinite({name})")
    finite = "" if read.finite else f"isfinite({name}) AND "
    bounds = [f"{name} < {column.low!r}"] if column.low is not None else []
    bounds += [f"{name} <= {column.above!r}"] if column.above is not None else []
    bounds += [f"{name} > {column.high!r}"] if column.high is not None else []
    outside = [f"({finite}({' OR '.join(bounds)}))"] if bounds else []
    if beyond:
        yield ConstraintCheck(says.over_64_bits, column.name, " OR ".join([*outside, beyond]))
    elif outside:
        yield ConstraintCheck(says.out_of_range, column.name, " OR ".join(outside))


def _exactly_one(table: Table, flags: dict[str, str]) -> ConstraintCheck:
    names = table.exactly_one_of
    # A value that cannot be read counts as a value.
    filled = [
        f"({quote(name)} IS NOT NULL{f' OR {flags[name]}' if name in flags else ''})"
        for name in names
    ]
    two = [f"({first} AND {second})" for first, second in combinations(filled, 2)]
    names_filled = ", ".join(
        f"CASE WHEN {condition} THEN {literal(name)} END"
        for condition, name in zip(filled, names, strict=True)
    )
    value = f"nullif(concat_ws(', ', {names_filled}), '')"
    violated = " OR ".join([f"NOT ({' OR '.join(filled)})", *two])
    return ConstraintCheck(exactly_one(table), None, violated, value=value, also=names)


def _of_row(
    check: RowCheck | CrossRowCheck, flags: dict[str, str], relation: Callable[[str], str]
) -> ConstraintCheck:
    violated = check.violated.sql() if isinstance(check, RowCheck) else check.sql(relation)
    # A value that could not be read is an issue of its own and is not reported again.
    unread = "".join(f" AND NOT {flags[name]}" for name in check.columns if name in flags)
    says = Constraint(INCONSISTENT, check.reason, check.remedy)
    return ConstraintCheck(says, check.column, f"({violated}){unread}", also=check.columns)
