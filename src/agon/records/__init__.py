"""Read, check and hash the typed tables a discipline scores."""

from agon.records.issues import InvalidRecords, RowIssue
from agon.records.schemas import Column, CrossRowCheck, Kind, RowCheck, Schema, Table
from agon.records.tables import Records, inspect, inspect_rows, read, read_rows

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
    "inspect_rows",
    "read",
    "read_rows",
]
