"""Read a sheet of a workbook (.xlsx) as one table."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from agon.errors import Unavailable
from agon.records.issues import RowIssue
from agon.records.names.matching import fold_name
from agon.records.raw import RawTable
from agon.records.schemas import Table
from agon.records.sources.csv_rows import call_unnamed
from agon.records.sources.issues import table_issue
from agon.records.sources.late_header import late_header
from agon.records.sources.memory import register

_MAX_EXACT = 2**53


def read(connection: Any, table: Table, file: Path) -> tuple[RawTable | None, list[RowIssue]]:
    """Read the sheet named like a table, or the only sheet, into the engine."""
    sheets = sheet_names(file)
    if isinstance(sheets, str):
        return None, [table_issue(table.name, file.name, sheets, "save it as .xlsx or as CSV")]
    wanted = {fold_name(name) for name in table.source_names}
    chosen = [name for name in sheets if fold_name(name) in wanted] or sheets
    if len(chosen) != 1:
        reason = f"has the sheets {', '.join(sheets)}" if sheets else "has no sheet"
        remedy = f"name the sheet of the table {table.name}"
        return None, [table_issue(table.name, file.name, reason, remedy)]
    return read_sheet(connection, table, file, chosen[0])


def sheet_names(file: Path) -> list[str] | str:
    """Return the names of a workbook's sheets, or why it cannot be read."""
    calamine = _calamine(file)
    try:
        return list(calamine.CalamineWorkbook.from_path(str(file)).sheet_names)
    except (OSError, calamine.CalamineError):
        return "is no workbook"


def read_sheet(
    connection: Any, table: Table, file: Path, sheet: str
) -> tuple[RawTable | None, list[RowIssue]]:
    """Read one sheet, whose first filled row names the columns, into the engine."""
    blank, rows = _rows(file, sheet)
    location = f"{file.name}, sheet {sheet}"
    if not rows:
        return register(connection, table, location, pa.table({})), []
    header = [str(name).strip() for name in rows[0]]
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        reason = f"names columns twice: {', '.join(twice)}"
        return None, [table_issue(table.name, location, reason, "name each column once")]
    further = (
        (f"row {blank + index}", [str(cell).strip() for cell in row])
        for index, row in enumerate(rows[1:], start=2)
    )
    late = late_header(table, location, header, further)
    if late is not None:
        return None, [late]
    columns = [*zip(*rows[1:], strict=True)] if len(rows) > 1 else [() for _ in header]
    arrays = {name: _array(cells) for name, cells in zip(header, columns, strict=True) if name}
    raw = register(connection, table, location, pa.table(arrays))
    unnamed = (
        call_unnamed(index)
        for index, cells in enumerate(columns)
        if not header[index] and any(cell != "" for cell in cells)
    )
    raw = replace(raw, others=(*raw.others, *unnamed))
    if blank:
        raw = replace(raw, lines=lambda rows: {row: blank + 1 + row for row in rows})
    return raw, []


def _rows(file: Path, sheet: str) -> tuple[int, list[list[Any]]]:
    """Return how many blank rows a sheet begins with, and the rows up to its last filled one."""
    book = _calamine(file).CalamineWorkbook.from_path(str(file))
    rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
    filled = [index for index, row in enumerate(rows) if any(str(cell).strip() for cell in row)]
    return (filled[0], rows[filled[0] : filled[-1] + 1]) if filled else (0, [])


def columns_in(file: Path) -> list[str]:
    """Return the names in the first filled row of a workbook's only sheet."""
    sheets = sheet_names(file)
    if isinstance(sheets, str) or len(sheets) != 1:
        return []
    _, rows = _rows(file, sheets[0])
    return [str(name).strip() for name in rows[0] if name != ""] if rows else []


def _array(cells: Sequence[Any]) -> pa.Array:
    """Return a column; cells of several types, as people write them, become text."""
    values = [None if cell == "" else cell for cell in cells]
    kinds = {type(value) for value in values} - {type(None)}
    # A workbook stores 3 as 3.0 where a neighbor has decimals: one number type for the column.
    if kinds <= {int, float} and not kinds <= {int}:
        return pa.array([None if value is None else float(value) for value in values])
    if len(kinds) <= 1 or kinds <= {datetime, date}:
        return pa.array(values)
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(value: Any) -> str:
    # An id typed as 17 is stored as 17.0; above 2⁵³ a float does not say which integer it was.
    if isinstance(value, float) and value.is_integer() and abs(value) < _MAX_EXACT:
        return str(int(value))
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _calamine(file: Path) -> Any:
    try:
        import python_calamine
    except ModuleNotFoundError:
        raise Unavailable(
            f"{file.name} is a workbook, which needs pip install 'agon-engine[xlsx]'; or save its "
            "sheets as CSV"
        ) from None
    return python_calamine
