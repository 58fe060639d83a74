"""Leave out rows that refer to nothing, naively: by looking at all of them until none is left."""

from collections.abc import Mapping
from typing import Any

from agon.records import Column, Schema

Rows = Mapping[str, list[tuple[int, dict[str, Any]]]]


def without_dangling(schema: Schema, tables: Rows) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """Return numbered rows by table without those whose reference is missing, again and again."""
    left = {name: list(rows) for name, rows in tables.items()}
    while True:
        kept = {
            name: [(number, row) for number, row in rows if _stands(schema, left, name, row)]
            for name, rows in left.items()
        }
        if kept == left:
            return {name: rows for name, rows in left.items() if rows}
        left = kept


def _stands(schema: Schema, tables: Rows, name: str, row: dict[str, Any]) -> bool:
    if schema.discipline == "challenge" and name == "submissions" and not _competes(tables, row):
        return False
    return all(_found(tables, column, row) for column in schema.table(name).columns)


def _found(tables: Rows, column: Column, row: dict[str, Any]) -> bool:
    value = row.get(column.name)
    if column.references is None or value in {None, ""}:
        return True
    other, _, key = column.references.partition(".")
    return any(str(there.get(key)) == str(value) for _, there in tables.get(other, []))


def _competes(tables: Rows, row: dict[str, Any]) -> bool:
    named = str(row.get("competition") or "main")
    known = [str(there["id"]) for _, there in tables.get("competitions", [])]
    return named in (known or ["main"])
