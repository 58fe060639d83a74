"""``agon schema``: the tables and columns that a discipline reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.cli.shared import completion, lists, parameters
from agon.cli.shared.commands import Command
from agon.cli.shared.output import TABLE, deliver

if TYPE_CHECKING:
    from agon.cli.shared.tables import Output
    from agon.records import Table


@click.command("schema", cls=Command)
@parameters.discipline
@click.argument("table", required=False, metavar="[TABLE]", shell_complete=completion.tables)
@lists.form
@parameters.output
def command(discipline: str, table: str | None, *, form: str, output: Path | None) -> None:
    """Print the tables and columns of DISCIPLINE, or of one TABLE.

    Each column with its type, whether it is required, its meaning, its allowed values, and the
    meaning of an empty value. CSV and NDJSON have a row for each column; JSON has a list of tables.

      agon schema arena
      agon schema arena matches
      agon schema community --format csv --output columns.csv
    """
    tables = _tables(discipline, table)
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        value = {"discipline": discipline, "tables": [_table_value(each) for each in tables]}
        deliver(json_chunks(value), output)
    elif form == TABLE:
        from agon.cli.shared.tables import Output

        out = Output(output)
        for each in tables:
            _draw(out, each)
        out.deliver()
    else:
        rows = [{"table": each.name, **row} for each in tables for row in _column_rows(each)]
        lists.print_rows(rows, form=form, name="columns", columns=[], output=output)


def _tables(discipline: str, name: str | None) -> "list[Table]":
    """Return the tables of a discipline, or the one of that name or alias.

    Raises:
        NotFound: there is none.
    """
    from agon import disciplines
    from agon.errors import NotFound, did_you_mean

    tables = list(disciplines.discipline(discipline).schema)
    chosen = [each for each in tables if name is None or name in {each.name, *each.aliases}]
    if not chosen:
        names = [each.name for each in tables]
        raise NotFound(f"{discipline} has no table {name!r}: {did_you_mean(str(name), names)}")
    return chosen


def _table_value(table: "Table") -> dict[str, Any]:
    """Return a table as a plain value."""
    return {
        "name": table.name,
        "required": table.required,
        "meaning": table.meaning,
        "key": list(table.key),
        "time": table.time,
        "exactly_one_of": list(table.exactly_one_of),
        "aliases": list(table.aliases),
        "columns": list(_column_rows(table)),
    }


def _column_rows(table: "Table") -> Iterator[dict[str, Any]]:
    """Yield each column of a table as a plain value."""
    for column in table.columns:
        yield {
            "column": column.name,
            "type": str(column.kind),
            "required": column.required,
            "may_be_empty": column.may_be_empty,
            "meaning": column.meaning,
            "allowed": column.allowed,
            "empty": column.empty,
        }


def _draw(out: "Output", table: "Table") -> None:
    """Draw a table: its name and meaning, then its columns."""
    from agon.cli.shared.tables import TableColumn

    need = "required" if table.required else "optional"
    out.line(f"{table.name} · {need}" + (f" · {table.meaning}" if table.meaning else ""),
             style="bold")  # fmt: skip
    if table.key:
        out.line(f"key: {', '.join(table.key)}")
    if table.exactly_one_of:
        out.line(f"each row has exactly one of {', '.join(table.exactly_one_of)}")
    if table.aliases:
        out.line(f"also named {', '.join(table.aliases)}")
    rows = list(_column_rows(table))
    out.table(
        [
            TableColumn("column", [row["column"] for row in rows]),
            TableColumn("type", [row["type"] for row in rows]),
            TableColumn("needed", ["required" if row["required"] else "optional" for row in rows]),
            TableColumn(
                "meaning, allowed values, empty values", list(map(_text, rows)), folds=True
            ),
        ],
        needed=4,
    )
    out.line()


def _text(row: dict[str, Any]) -> str:
    """Return meaning, allowed values and the meaning of an empty value as lines."""
    lines = [row["meaning"], row["allowed"]]
    if row["may_be_empty"]:
        lines.append(f"empty: {row['empty'] or 'unknown'}")
    return "\n".join(filter(None, lines)) or "any value"
