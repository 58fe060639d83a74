"""Leave out rows that refer to nothing, naively: by looking at all of them until none is left."""

from collections.abc import Mapping
from typing import Any

from agon.records import Schema

Rows = Mapping[str, list[tuple[int, dict[str, Any]]]]


def without_dangling(schema: Schema, tables: Rows) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """Return numbered rows by table without those whose reference is missing, again and again."""
    left = {name: list(rows) for name, rows in tables.items()}
    while True:
        rows = {name: _rows_with_parents(schema, left, name) for name in left}
        if rows == left:
            return {name: rows for name, rows in left.items() if rows}
        left = rows


def _rows_with_parents(schema: Schema, tables: Rows, name: str) -> list[tuple[int, dict[str, Any]]]:
    rows = tables[name]
    for column in schema.table(name).columns:
        if column.references is not None:
            other, _, key = column.references.partition(".")
            there = {str(row.get(key)) for _, row in tables.get(other, [])}
            rows = [
                (number, row)
                for number, row in rows
                if row.get(column.name) in {None, ""} or str(row[column.name]) in there
            ]
    if (schema.discipline, name) == ("challenge", "submissions"):
        known = [str(row["id"]) for _, row in tables.get("competitions", [])] or ["main"]
        rows = [(at, row) for at, row in rows if str(row.get("competition") or "main") in known]
    return rows
