"""What the service shows of the entries of ledgers, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, kw_only=True)
class RecordChange:
    """What a record that supersedes another one changes.

    Attributes:
        record: its key, with its table, or its external id.
        before: the columns that differ, as they were; a missing value has none.
        after: the same columns, as they are now.
    """

    record: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ImportSummary:
    """The result of an import.

    Attributes:
        repeated: records that were there already with the same content.
        replaced: records that supersede one of the same key.
        first_seq: position of the first new entry; None without any, and for a judge while the
            contest is frozen.
        last_seq: position of the last new entry, or None as well.
        seqs: positions of the records in the ledger, of repeated ones too; of the first thousand.
        notes: how the rows were read: names and values in another spelling, and names that are not
            used.
        warnings: what may be wrong with the rows: values that look like others, or like none.
        changes: what the replaced records change; of the first hundred.
    """

    added: int = 0
    repeated: int = 0
    replaced: int = 0
    first_seq: int | None = None
    last_seq: int | None = None
    seqs: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    changes: tuple[RecordChange, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LogEntry:
    """An entry in words.

    Attributes:
        text: what happened.
        content: the fields that the caller may see.
    """

    seq: int
    at: datetime
    by: str
    kind: str
    text: str
    content: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SubmissionView:
    """A submission and its verdict, as far as the caller may see them.

    Attributes:
        seq: position of its entry; for organizers only, because positions show how much was
            recorded, which is hidden while a contest is frozen.
        records: its verdict, as far as the caller may see it.
    """

    id: str
    seq: int | None
    at: datetime
    user: str
    problem: str | None
    content: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...]
