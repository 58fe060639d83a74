"""Render the schema's constraints of one table as SQL conditions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agon.records.casting import Cast
from agon.records.constraints import INCONSISTENT, Constraint, constraints_of, exactly_one
from agon.records.raw import literal, quoted
from agon.records.schemas import Column, CrossRowCheck, RowCheck, Table


@dataclass(frozen=True)
class Check:
    """One constraint as SQL over the typed columns and ``invalid:``/``beyond:`` flags of a table.

    Attributes:
        constraint: the texts of the issue.
        column: the column it is about, or None for the row.
        violated: SQL that is true where the row fails.
        count: SQL that counts the failing rows, where that is cheaper than evaluating each.
        value: SQL for the value in the issue; None: the column's raw value.
    """

    constraint: Constraint
    column: str | None
    violated: str
    count: str | None = None
    value: str | None = None

    @property
    def counted(self) -> str:
        """Return SQL that counts the failing rows."""
        return self.count or f"count_if({self.violated})"


def flag(kind: str, column: str) -> str:
    """Return the quoted name of the flag column ``invalid:…`` or ``beyond:…`` of a typed column."""
    return quoted(f"{kind}:{column}")


def checks_of(
    table: Table, casts: dict[str, Cast], relation: Callable[[str], str]
) -> list[Check]:  # fmt: skip
    """Return the checks of a table whose columns are read by ``casts``.

    Args:
        table: the table.
        casts: how each existing column is read.
        relation: returns the SQL relation of a table, for checks that read other tables.
    """
    checks: list[Check] = []
    for column in table.columns:
        if column.name in casts:
            checks += _of_column(column, casts[column.name])
    flags = {name: flag("invalid", name) for name, read in casts.items() if read.invalid != "false"}
    if table.exactly_one_of:
        checks.append(_exactly_one(table, flags))
    checks += (_of_row(check, flags, relation) for check in table.checks)
    return checks


def _of_column(column: Column, read: Cast) -> Iterator[Check]:
    name, says = quoted(column.name), constraints_of(column)
    unread = "false" if read.invalid == "false" else flag("invalid", column.name)
    beyond = "" if read.beyond == "false" else flag("beyond", column.name)
    if unread != "false":
        unread_only = f"{unread} AND NOT {beyond}" if beyond else unread
        yield Check(says.wrong_type, column.name, unread_only)
    if not column.may_be_empty:
        cheap = f"count(*) - count({name})" if unread == "false" else None
        yield Check(says.empty, column.name, f"{name} IS NULL AND NOT {unread}", cheap)
    if column.choices:
        listed = ", ".join(map(literal, column.choices))
        yield Check(says.unknown_value, column.name, f"{name} NOT IN ({listed})")
    if not read.finite:
        yield Check(says.non_finite, column.name, f"NOT isfinite({name})")
    finite = "" if read.finite else f"isfinite({name}) AND "
    bounds = [f"{name} < {column.low!r}"] if column.low is not None else []
    bounds += [f"{name} > {column.high!r}"] if column.high is not None else []
    outside = [f"({finite}({' OR '.join(bounds)}))"] if bounds else []
    if beyond:
        yield Check(says.over_64_bits, column.name, " OR ".join([*outside, beyond]))
    elif outside:
        yield Check(says.out_of_range, column.name, " OR ".join(outside))


def _exactly_one(table: Table, flags: dict[str, str]) -> Check:
    names = table.exactly_one_of
    # A value that cannot be read counts as a value.
    filled = [
        f"({quoted(name)} IS NOT NULL{f' OR {flags[name]}' if name in flags else ''})"
        for name in names
    ]
    count = " + ".join(f"{condition}::INT" for condition in filled)
    names_filled = ", ".join(
        f"CASE WHEN {condition} THEN {literal(name)} END"
        for condition, name in zip(filled, names, strict=True)
    )
    value = f"nullif(concat_ws(', ', {names_filled}), '')"
    return Check(exactly_one(table), None, f"({count}) <> 1", value=value)


def _of_row(
    check: RowCheck | CrossRowCheck, flags: dict[str, str], relation: Callable[[str], str]
) -> Check:
    violated = check.violated.sql() if isinstance(check, RowCheck) else check.sql(relation)
    # A value that could not be read is an issue of its own and is not reported again.
    unread = "".join(f" AND NOT {flags[name]}" for name in check.columns if name in flags)
    says = Constraint(INCONSISTENT, check.reason, check.remedy)
    return Check(says, check.column, f"({violated}){unread}")
