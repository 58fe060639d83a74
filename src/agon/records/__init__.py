"""Read, check and hash the typed tables a discipline scores."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agon.records.issues import InvalidRecords, RowIssue
from agon.records.schemas import Column, CrossRowCheck, Kind, RowCheck, Schema, Table

if TYPE_CHECKING:
    from agon.records.reading import inspect, inspect_files, inspect_rows, read, read_rows
    from agon.records.tables import Records

__all__ = [
    "Column",
    "CrossRowCheck",
    "InvalidRecords",
    "Kind",
    "Records",
    "RowCheck",
    "RowIssue",
    "Schema",
    "Table",
    "inspect",
    "inspect_files",
    "inspect_rows",
    "read",
    "read_rows",
]


if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Any:
        # Tables need pyarrow, which those that need only their schemas do without.
        if name in __all__:
            module = "tables" if name == "Records" else "reading"
            return getattr(import_module(f"agon.records.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
