"""Read, check and hash the typed tables a discipline scores."""

from agon.records.problems import InvalidRecords, Problem
from agon.records.schemas import Column, CrossRowCheck, Kind, RowCheck, Schema, Table
from agon.records.tables import Records, inspect, read, read_rows

__all__ = [
    "Column",
    "CrossRowCheck",
    "InvalidRecords",
    "Kind",
    "Problem",
    "Records",
    "RowCheck",
    "Schema",
    "Table",
    "inspect",
    "read",
    "read_rows",
]
