"""Render the schema's constraints of one table as SQL: one question per constraint and row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agon.records.casting import Cast
from agon.records.constraints import INCONSISTENT, Constraint, constraints_of, exactly_one
from agon.records.raw import literal, quoted
from agon.records.schemas import Column, CrossRowCheck, RowCheck, Table


@dataclass(frozen=True)
class Check:
    """One constraint as SQL over the typed columns and ``bad:``/``beyond:`` flags of a table.

    Attributes:
        constraint: what the issue says.
        column: the column it is about, or None for the row.
        bad: SQL that is true where the row fails.
        count: SQL that counts the failing rows, where that is cheaper than asking each.
        value: SQL for what to show of the row; None shows the column as it was given.
    """

    constraint: Constraint
    column: str | None
    bad: str
    count: str | None = None
    value: str | None = None

    @property
    def counted(self) -> str:
        """Return SQL that counts the failing rows."""
        return self.count or f"count_if({self.bad})"


def flag(kind: str, column: str) -> str:
    """Return the quoted name of the flag column ``bad:…`` or ``beyond:…`` of a typed column."""
    return quoted(f"{kind}:{column}")


def checks_of(
    table: Table, casts: dict[str, Cast], relation: Callable[[str], str]
) -> list[Check]:  # fmt: skip
    """Return the checks of a table whose columns are read by ``casts``.

    Args:
        table: the table.
        casts: how each of its columns that are there is read.
        relation: gives what a table of the schema is read from, for checks that read others.
    """
    checks: list[Check] = []
    for column in table.columns:
        if column.name in casts:
            checks += _of_column(column, casts[column.name])
    flags = {name: flag("bad", name) for name, read in casts.items() if read.bad != "false"}
    if table.exactly_one_of:
        checks.append(_exactly_one(table, flags))
    checks += (_of_row(check, flags, relation) for check in table.checks)
    return checks


def _of_column(column: Column, read: Cast) -> Iterator[Check]:
    name, says = quoted(column.name), constraints_of(column)
    unread = "false" if read.bad == "false" else flag("bad", column.name)
    beyond = "" if read.beyond == "false" else flag("beyond", column.name)
    if unread != "false":
        wrong = f"{unread} AND NOT {beyond}" if beyond else unread
        yield Check(says.wrong_type, column.name, wrong)
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
    # Given but unreadable is given all the same.
    given = [
        f"({quoted(name)} IS NOT NULL{f' OR {flags[name]}' if name in flags else ''})"
        for name in names
    ]
    count = " + ".join(f"{one}::INT" for one in given)
    shown = ", ".join(
        f"CASE WHEN {one} THEN {literal(name)} END" for one, name in zip(given, names, strict=True)
    )
    value = f"nullif(concat_ws(', ', {shown}), '')"
    return Check(exactly_one(table), None, f"({count}) <> 1", value=value)


def _of_row(
    check: RowCheck | CrossRowCheck, flags: dict[str, str], relation: Callable[[str], str]
) -> Check:
    bad = check.bad.sql() if isinstance(check, RowCheck) else check.sql(relation)
    # A value that could not be read is an issue of its own; it must not fail here again.
    unread = "".join(f" AND NOT {flags[name]}" for name in check.columns if name in flags)
    says = Constraint(INCONSISTENT, check.reason, check.remedy)
    return Check(says, check.column, f"({bad}){unread}")
