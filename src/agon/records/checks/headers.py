"""Report the columns that a table lacks: one issue for a header, whatever is missing."""

from collections.abc import Collection, Sequence
from typing import Final

from agon.records.checks.constraints import expected_value
from agon.records.issues import RowIssue
from agon.records.names.matching import nearest
from agon.records.raw import RawTable
from agon.records.schemas import Column, Table

_MAX_NAMED: Final = 20
_SHOWN: Final = 80


def missing_columns(table: Table, raw: RawTable) -> list[RowIssue]:
    """Return the issue of a table without some of its columns, with those that are there.

    Example:
        >>> from agon.records import Column, Kind
        >>> table = Table("people", (Column("id", Kind.ID), Column("name", Kind.TEXT)))
        >>> [issue] = missing_columns(table, RawTable("people", "p.csv", "", {}, others=("ID2",)))
        >>> str(issue)  # doctest: +NORMALIZE_WHITESPACE
        'p.csv, column id, name: is missing; the header has ID2; add id (give a whole number or
        text) and name (give text); is ID2 meant?'
    """
    missing = [
        column for column in table.columns if column.required and column.name not in raw.types
    ]
    if not missing:
        return []
    present = [*(raw.spelled.get(name, name) for name in raw.types), *raw.others]
    remedy = missing_remedy(missing, present, raw.others, there="the header has")
    names = ", ".join(column.name for column in missing)
    return [
        RowIssue("missing-column", table.name, raw.location, None, names, None,
                 "is missing", remedy)
    ]  # fmt: skip


def missing_remedy(
    missing: Sequence[Column], present: Sequence[str], unused: Collection[str], *, there: str
) -> str:
    """Return what to do about missing columns.

    Args:
        missing: the columns.
        present: the names that are there.
        unused: those of them that no column is read from.
        there: how the message says that they are there.

    Example:
        >>> from agon.records import Kind
        >>> missing_remedy([Column("id", Kind.ID)], ["ID2"], ["ID2"], there="its keys are")
        'its keys are ID2; add id (give a whole number or text); is ID2 meant?'
    """
    rest = len(present) - _MAX_NAMED
    shown = ", ".join(name[:_SHOWN] for name in present[:_MAX_NAMED])
    shown += f" and {rest:,} more" if rest > 0 else ""
    added = " and ".join(f"{column.name} ({expected_value(column)})" for column in missing)
    near = dict.fromkeys(nearest(column.name, unused) for column in missing)
    remedies = [f"{there} {shown}"] if present else []
    remedies.append(f"add {added}")
    remedies += [f"is {name[:_SHOWN]} meant?" for name in near if name is not None]
    return "; ".join(remedies)
