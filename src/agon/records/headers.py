"""Report the columns that a table lacks: one issue for a header, whatever is missing."""

from typing import Final

from agon.records.constraints import expected_value
from agon.records.issues import RowIssue
from agon.records.names import nearest
from agon.records.raw import RawTable
from agon.records.schemas import Table

_MAX_NAMED: Final = 20


def missing_columns(table: Table, raw: RawTable) -> list[RowIssue]:
    """Return the issue of a table without some of its columns, with those that are there.

    Example:
        >>> from agon.records import Column, Kind
        >>> table = Table("people", (Column("id", Kind.ID), Column("name", Kind.TEXT)))
        >>> [issue] = missing_columns(table, RawTable("people", "p.csv", "", {}, others=("ID2",)))
        >>> str(issue)  # doctest: +NORMALIZE_WHITESPACE
        'p.csv, column id, name: is missing; the header has ID2; add the columns id (give a whole
        number or text) and name (give text); there is a column ID2: is it meant?'
    """
    missing = [
        column for column in table.columns if column.required and column.name not in raw.types
    ]
    if not missing:
        return []
    present = [*(raw.spelled.get(name, name) for name in raw.types), *raw.others]
    rest = len(present) - _MAX_NAMED
    shown = ", ".join(present[:_MAX_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
    added = " and ".join(f"{column.name} ({expected_value(column)})" for column in missing)
    remedies = [f"the header has {shown}"] if present else []
    remedies.append(f"add the column{'s' if len(missing) > 1 else ''} {added}")
    for column in missing:
        near = nearest(column.name, raw.others)
        if near is not None:
            remedies.append(f"there is a column {near}: is it meant?")
    names = ", ".join(column.name for column in missing)
    return [
        RowIssue("missing-column", table.name, raw.location, None, names, None,
                 "is missing", "; ".join(remedies))
    ]  # fmt: skip
