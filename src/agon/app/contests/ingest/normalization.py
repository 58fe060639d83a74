"""Bring the rows of a request into their normal form, before anything is decided about them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from agon.app.contests.ingest.batches import Batch
from agon.app.contests.ingest.unused_keys import UnusedKeys
from agon.records import RowIssue, Schema, Table
from agon.records.names import near_names
from agon.records.normal import NormalForm, normal_form

_SHOWN: Final = 80


class BatchNormalizer:
    """Brings batches into normal form: the names of the schema, and values of its types.

    Who may send a row is decided by its normal form: a key in another spelling is no other key.
    """

    def __init__(self, schema: Schema) -> None:
        self._tables = {table.name: (table, normal_form(table)) for table in schema}
        self._keys = UnusedKeys()

    @property
    def notes(self) -> tuple[str, ...]:
        """How keys were read: other spellings, and keys that are not used."""
        return self._keys.notes

    def normalize(self, batch: Batch) -> Batch:
        """Return a batch in normal form, with the rows as they were sent beside it.

        A key that is near to one which the rows lack makes them invalid: the first of them becomes
        an issue, which counts the others. What cannot be read stays, and is rejected later.
        """
        rows, sent = list(batch.rows), list(batch.rows)
        left_out: set[int] = set()
        for (name, keys), indexes in _by_shape(batch).items():
            if name not in self._tables:
                continue
            table, form = self._tables[name]
            near = self._near(table, form, keys, batch.lines[indexes[0]], len(indexes))
            if near:
                rows[indexes[0]] = near[0]
                left_out.update(indexes[1:])
                continue
            normal = self._rows(table, form, keys, [rows[index] for index in indexes])
            for index, (renamed, row) in zip(indexes, normal, strict=True):
                sent[index], rows[index] = renamed, row
        if left_out:
            return _without(replace(batch, rows=rows, sent=sent), left_out)
        return replace(batch, rows=rows, sent=sent)

    def _rows(
        self, table: Table, form: NormalForm, keys: Sequence[str], rows: list[Any]
    ) -> Sequence[tuple[Any, Any]]:
        """Return each row with the names of the schema, and in normal form."""
        matched = form.names(keys)
        if matched.unused or matched.respelled:
            self._keys.add(table.name, matched, len(rows))
            pairs = list(matched.names.items())
            rows = [{own: row[key] for own, key in pairs} for row in rows]
            keys = [own for own, _ in pairs]
        columns = dict(zip(keys, zip(*(row.values() for row in rows), strict=True), strict=False))
        return list(zip(rows, form.rows(columns, rows), strict=True))

    def _near(
        self, table: Table, form: NormalForm, keys: Sequence[str], line: int, count: int
    ) -> list[RowIssue]:
        matched = form.names(keys)
        if not matched.unused:
            return []
        absent = [
            column.name
            for column in table.columns
            if column.may_be_empty and column.name not in matched.names
        ]
        near = near_names(matched.unused, absent)
        meant = "; ".join(f"did you mean {own}?" for own in near.values())
        names = ", ".join(key[:_SHOWN] for key in near)
        remedy = f"{meant} rename it, or leave it out"
        issue = RowIssue("unknown-column", table.name, table.name, line, names, None,
                         "is not used", remedy, count=count)  # fmt: skip
        return [issue] if near else []


def _by_shape(batch: Batch) -> Mapping[tuple[str, tuple[str, ...]], Sequence[int]]:
    """Return the indexes of rows by table and keys."""
    groups: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for index, (table, row) in enumerate(zip(batch.tables, batch.rows, strict=True)):
        if type(row) is dict and isinstance(table, str):
            groups.setdefault((table, tuple(row)), []).append(index)
    return groups


def _without(batch: Batch, left_out: set[int]) -> Batch:
    remaining = [index for index in range(len(batch.rows)) if index not in left_out]
    names, sent = batch.external_ids, batch.sent
    return Batch(
        [batch.tables[index] for index in remaining],
        [batch.rows[index] for index in remaining],
        None if names is None else [names[index] for index in remaining],
        [batch.lines[index] for index in remaining],
        None if sent is None else [sent[index] for index in remaining],
    )
