"""Find the row that names the columns of a table where titles or notes come before it."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from agon.records.issues import RowIssue
from agon.records.names.matching import match_names
from agon.records.schemas import Table
from agon.records.sources.issues import table_issue

_LOOKED_AT: Final = 100  # rows after the first one, each by every usual delimiter
_FEW: Final = 2  # names of columns that no row of values has by chance


def late_header(
    table: Table, location: str, first: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]
) -> RowIssue | None:
    """Return the issue of a table whose first row names no column and a later one does.

    Args:
        table: the table.
        location: where it is, as messages name it.
        first: the first row.
        rows: the rows after it, each with its place (``line 4``).

    Example:
        >>> from agon.records.schemas import Column, Kind
        >>> table = Table("users", (Column("id", Kind.ID), Column("name", Kind.TEXT)))
        >>> print(late_header(table, "u.csv", ["Week 12"], [("line 3", ["ID", "Name"])]))
        u.csv: names its columns in line 3, after other rows; remove the rows before it
    """
    if _known(table, first):
        return None
    needed = {column.name for column in table.columns if column.required}
    for place, names in islice(rows, _LOOKED_AT):
        known = _known(table, names)
        if len(known) >= _FEW or (needed and needed <= known):
            reason = f"names its columns in {place}, after other rows"
            return table_issue(
                table.name, location, reason, "remove the rows before it", code="late-header"
            )
    return None


def _known(table: Table, names: Sequence[str]) -> set[str]:
    """Return the columns that a row names."""
    return {*match_names([column.name for column in table.columns], names).names}
