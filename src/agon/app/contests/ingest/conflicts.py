"""Say how a record conflicts with the entries of a ledger that have its key or its external id."""

from collections.abc import Sequence
from dataclasses import dataclass

from agon.app.contests.ingest.validation import ValidatedBatch


@dataclass(frozen=True, slots=True)
class ExistingRecord:
    """The entry that a key or an external id belongs to: its position and its record."""

    seq: int
    table: str | None
    written: bytes | None


def is_same_record(existing: Sequence[ExistingRecord], new: ExistingRecord) -> bool:
    """Return whether existing entries are one record, of the table of a new one.

    An entry can only supersede a record of its own table.
    """
    return len({known.seq for known in existing}) == 1 and existing[0].table == new.table


def conflict_text(
    valid: ValidatedBatch, index: int, existing: Sequence[ExistingRecord], *, known: bool
) -> str:
    """Return how a record conflicts with existing ones; a judge sees none of their positions."""
    line = valid.lines[index]
    if len({item.seq for item in existing}) > 1:
        seqs = " and ".join(str(item.seq) for item in existing)
        return (
            f"line {line}: its key and its external id belong to two entries, {seqs}; "
            "send one of them"
        )
    names = valid.external_ids
    record_text = f"the record {valid.keys[index]}"
    if not known and names is not None:
        record_text = f"the external id {names[index]!r}"
    if not existing:
        return f"line {line}: {record_text} exists with other content; a vote stays as it was cast"
    if existing[0].table != valid.tables[index]:
        return (
            f"line {line}: {record_text} is entry {existing[0].seq}, which is no record of "
            f"{valid.tables[index]}; give another external id"
        )
    return (
        f"line {line}: {record_text} is entry {existing[0].seq} with other content; "
        "leave it out, replace the entry (option replace), or give it an id of its own if it is "
        "another record"
    )
