"""Bring the rows of a request into their normal form, before anything is decided about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from agon.app.contests.ingest.batches import Batch
from agon.app.contests.ingest.unused_keys import UnusedKeys
from agon.records import RowIssue, Schema, Table
from agon.records.headers import missing_remedy
from agon.records.names import MatchedNames, fold_name, is_ignored, near_names
from agon.records.normal import NormalForm, normal_form

_SHOWN: Final = 80


class BatchNormalizer:
    """Brings batches into normal form: the names of the schema, and values of its types.

    Who may send a row is decided by its normal form: a key in another spelling is no other key.
    """

    def __init__(self, schema: Schema, *, ignore: Iterable[str] = ()) -> None:
        """Prepare for a schema; keys such as ``notes`` or ``users.notes`` are left out."""
        self._tables = {table.name: (table, normal_form(table)) for table in schema}
        self._keys = UnusedKeys()
        self._ignored = frozenset(map(fold_name, ignore))

    @property
    def notes(self) -> tuple[str, ...]:
        """How keys were read: other spellings, and keys that are not used."""
        return self._keys.notes

    def normalize(self, batch: Batch) -> Batch:
        """Return a batch in normal form, with the rows as they were sent beside it.

        Rows with keys that are not used are invalid where a column is missing, or where a key is
        near to one that they lack: the first of them becomes an issue, which counts the others.
        What cannot be read stays, and is rejected later.
        """
        rows, sent = list(batch.rows), list(batch.rows)
        left_out: set[int] = set()
        for (name, keys), indexes in _by_shape(batch).items():
            if name not in self._tables:
                continue
            table, form = self._tables[name]
            matched = self._matched(table, form, keys)
            wrong = _wrong_keys(table, matched, keys, batch.lines[indexes[0]])
            if wrong is not None:
                rows[indexes[0]] = replace(wrong, count=len(indexes))
                left_out.update(indexes[1:])
                continue
            normal = self._rows(table, form, matched, keys, [rows[index] for index in indexes])
            for index, (renamed, row) in zip(indexes, normal, strict=True):
                sent[index], rows[index] = renamed, row
        if left_out:
            return _without(replace(batch, rows=rows, sent=sent), left_out)
        return replace(batch, rows=rows, sent=sent)

    def _matched(self, table: Table, form: NormalForm, keys: Sequence[str]) -> MatchedNames:
        """Return which key each column is read from; what is ignored is no key."""
        matched = form.names(keys)
        if not self._ignored:
            return matched
        ignored = {key for key in keys if is_ignored(key, table.name, self._ignored)}
        return MatchedNames(
            {own: key for own, key in matched.names.items() if key not in ignored},
            tuple(key for key in matched.unused if key not in ignored),
        )

    def _rows(
        self,
        table: Table,
        form: NormalForm,
        matched: MatchedNames,
        keys: Sequence[str],
        rows: list[Any],
    ) -> Sequence[tuple[Any, Any]]:
        """Return each row with the names of the schema, and in normal form."""
        if len(matched.names) < len(keys) or matched.respelled:
            self._keys.add(table.name, matched, len(rows))
            pairs = list(matched.names.items())
            rows = [{own: row[key] for own, key in pairs} for row in rows]
            keys = [own for own, _ in pairs]
        columns = dict(zip(keys, zip(*(row.values() for row in rows), strict=True), strict=False))
        return list(zip(rows, form.rows(columns, rows), strict=True))


def _wrong_keys(
    table: Table, matched: MatchedNames, keys: Sequence[str], line: int
) -> RowIssue | None:
    """Return the issue of rows with keys that are not used, where others are missing."""
    if not matched.unused:
        return None
    absent = [column for column in table.columns if column.name not in matched.names]
    missing = [column for column in absent if not column.may_be_empty]
    if missing:
        names = ", ".join(column.name for column in missing)
        remedy = missing_remedy(missing, keys, matched.unused, there="the keys are")
        return RowIssue("missing-column", table.name, table.name, line, names, None,
                        "is missing", remedy)  # fmt: skip
    near = near_names(matched.unused, [column.name for column in absent])
    if not near:
        return None
    meant = " ".join(f"did you mean {own}?" for own in near.values())
    names = ", ".join(key[:_SHOWN] for key in near)
    remedy = f"{meant} rename it, leave it out, or name it in ignore"
    return RowIssue("unknown-column", table.name, table.name, line, names, None,
                    "is not used", remedy)  # fmt: skip


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
