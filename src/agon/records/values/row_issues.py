"""Report rows of a source that cannot be converted, and rows that hold no record."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from agon.records.issues import RowIssue
from agon.records.raw import RawTable, literal
from agon.records.values.words import NAME

_NO_RECORDS: Final = (
    (
        "repeated-header",
        "trim({text}) IN ({names})",
        "is the header again",
        "leave the row out: a file has one header",
    ),
    (
        "drawn-line",
        "regexp_full_match(trim({text}), ':?-{{3,}}:?')",
        "is a line of a table that is drawn with signs",
        "export the table as CSV",
    ),
)


def issue_at(
    raw: RawTable,
    row: int,
    code: str,
    reason: str,
    remedy: str,
    *,
    column: str | None = None,
    value: str | None = None,
    count: int = 1,
) -> RowIssue:
    """Return the issue of a row, by its place in the source.

    Args:
        raw: the table.
        row: the number of the first such row in the source.
        code: what is wrong, as a word.
        reason: what is wrong.
        remedy: what would be right.
        column: the source's name of the column.
        value: the value.
        count: the number of rows that are alike.
    """
    place, number = raw.place(row)
    line = raw.lines({row}).get(row) if raw.lines else None
    return RowIssue(code, raw.name, place, number, column, value, reason, remedy,
                    line=line, count=count)  # fmt: skip


def ambiguous_side(
    raw: RawTable, row: int, column: str, word: str, side: str, *, count: int
) -> RowIssue:
    """Return the issue of a word that means one side and is the name on another one.

    Args:
        raw: the table.
        row: the number of the first such row in the source.
        column: the source's name of the column.
        word: the word.
        side: the side that it means.
        count: the number of rows.
    """
    remedy = (
        f"state it among the values of a mapping: {column}.{word}={NAME} for the name, "
        f"{column}.{word}={side} for the side"
    )
    reason = f"may mean the side {side} or the name on the other side"
    return issue_at(
        raw, row, "ambiguous-value", reason, remedy, column=column, value=word, count=count
    )


def may_hold_no_record(text: str, names: Sequence[str]) -> str:
    """Return SQL that is true of each row that holds no record, by one column alone.

    Args:
        text: SQL of the column as text.
        names: the names of the column.
    """
    return f"{text} IN ({', '.join(map(literal, names))}) OR contains({text}, '---')"


def rows_without_a_record(
    query: Callable[[list[str]], tuple[Any, ...]],
    raw: RawTable,
    columns: Sequence[tuple[str, Sequence[str]]],
) -> Iterator[RowIssue]:
    """Yield an issue where rows repeat the header, or are lines of a table drawn with signs.

    Such rows stand in exports that were put together, and in tables that were copied from a page.

    Args:
        query: returns the values of some SQL over the table.
        raw: the table.
        columns: SQL of each column as text, and its names.
    """
    for code, condition, reason, remedy in _NO_RECORDS:
        every = " AND ".join(
            condition.format(text=text, names=", ".join(map(literal, names)))
            for text, names in columns
        )
        first, count = query([f"min({raw.row}) FILTER (WHERE {every})", f"count_if({every})"])
        if count:
            yield issue_at(raw, first, code, reason, remedy, count=count)
