"""Lists of rows as a table, JSON, NDJSON or CSV."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agon.cli.shared import parameters
from agon.cli.shared.output import TABLE, deliver

if TYPE_CHECKING:
    from agon.cli.shared.tables import Output

_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", re.ASCII)

form = parameters.form(TABLE, "json", "ndjson", "csv")
"""The ``--format`` of lists."""


def print_rows(
    rows: Iterable[Mapping[str, Any]],
    *,
    form: str,
    name: str,
    columns: Sequence[str],
    output: Path | None = None,
    empty: str = "",
) -> None:
    """Print rows in a format.

    Args:
        rows: the rows, plain values.
        form: table, json, ndjson or csv.
        name: what the rows are, the key of the list in JSON.
        columns: the columns of the table, in this order.
        output: a file instead of stdout.
        empty: the line printed instead of an empty table.
    """
    from agon.cli.shared.formats import json_chunks, json_text

    listed = list(rows)
    if form == "json":
        deliver(json_chunks({name: listed}), output)
    elif form == "ndjson":
        deliver((f"{json_text(row)}\n".encode() for row in listed), output)
    elif form == "csv":
        deliver([_csv(listed)], output)
    else:
        draw_rows(listed, columns=columns, output=output, empty=empty or f"no {name}")


def draw_rows(
    rows: Sequence[Mapping[str, Any]],
    *,
    columns: Sequence[str],
    output: Path | None = None,
    empty: str,
) -> None:
    """Print rows as a table without the columns that are empty in all rows."""
    from agon.cli.shared.tables import Output

    out = Output(output)
    add_rows(out, rows, columns=columns, empty=empty)
    out.deliver()


def add_rows(
    out: "Output", rows: Sequence[Mapping[str, Any]], *, columns: Sequence[str], empty: str
) -> None:
    """Add rows to an output as a table without the columns that are empty in all rows."""
    from agon.cli.shared.tables import TableColumn

    if not rows:
        out.line(empty)
        return
    cells = {name: [format_value(row.get(name)) for row in rows] for name in columns}
    filled = [name for name in columns if any(cells[name])]
    out.table(
        [
            TableColumn(
                name.replace("_", " "),
                cells[name],
                right=all(
                    row.get(name) is None
                    or (isinstance(row[name], (int, float)) and not isinstance(row[name], bool))
                    for row in rows
                ),
            )
            for name in filled
        ]
    )


def format_value(value: Any) -> str:
    """Return a value as text for a table; times in UTC, to the second.

    Example:
        >>> format_value("2026-11-22T06:30:11.557686Z"), format_value(True)
        ('2026-11-22 06:30:11', 'yes')
    """
    from agon.cli.shared.tables import cell

    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    return cell(value) if match is None else f"{match[1]} {match[2]}"


def plain_values(value: Any) -> dict[str, Any]:
    """Return the fields of a model as JSON values, times in ISO 8601."""
    values: dict[str, Any] = value.model_dump(mode="json")
    return values


def _csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows as CSV; lists and objects as JSON, spreadsheet formulas escaped."""
    import csv
    import io

    from agon.app.spreadsheets import escape_formula
    from agon.cli.shared.formats import json_text

    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([escape_formula(name) for name in names])
    for row in rows:
        writer.writerow([_cell(row.get(name), escape_formula, json_text) for name in names])
    return text.getvalue().encode()


def _cell(value: Any, escape_formula: Any, json_text: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, dict)):
        return escape_formula(json_text(value))
    return escape_formula(value) if isinstance(value, str) else value
