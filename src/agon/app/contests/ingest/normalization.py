"""Bring the rows of a request into their normal form, before anything is decided about them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from agon.app.contests.ingest.batches import Batch, RowGroup, groups_of
from agon.app.contests.ingest.read_values import ComparedTexts, ReadValues, reads_values
from agon.app.contests.ingest.unused_keys import UnusedKeys
from agon.app.contests.ingest.whole_columns import TimeUnits, WholeIds
from agon.records import RowIssue, Schema, Table
from agon.records.checks.headers import missing_remedy
from agon.records.checks.wrong_values import ONE_UNIT
from agon.records.conditions import Columns
from agon.records.names.matching import MatchedNames, fold_name, is_ignored, near_names, own_name
from agon.records.normal import NormalForm, normal_form

_SHOWN: Final = 80


class BatchNormalizer:
    """Brings batches into normal form: the names of the schema, and values of its types.

    Who may send a row is decided by its normal form: a key in another spelling is no other key.
    """

    def __init__(
        self, schema: Schema, *, ignore: Iterable[str] = (), ids: WholeIds | None = None
    ) -> None:
        """Prepare for a schema; keys such as ``notes`` or ``users.notes`` are left out."""
        self._tables = {table.name: (table, normal_form(table)) for table in schema}
        self._keys = UnusedKeys()
        self._values = ReadValues()
        self._texts = ComparedTexts()
        self._ids, self._times = ids or WholeIds(), TimeUnits()
        self._ignored = frozenset(map(fold_name, ignore))

    @property
    def notes(self) -> tuple[str, ...]:
        """How keys and values were read: other spellings, and keys that are not used."""
        return (*self._keys.notes, *self._ids.notes, *self._values.notes)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which values look like others, or like none."""
        return self._texts.warnings

    def normalize(self, batch: Batch) -> Batch:
        """Return a batch in normal form, with the rows as they were sent beside it.

        Rows with keys that are not used are invalid where a column is missing, or where a key is
        near to one that they lack: the first of them becomes an issue, which counts the others.
        What cannot be read stays, and is rejected later.
        """
        groups, is_normal = _groups(batch), True
        if any(group.table not in self._tables for group in groups):
            batch = self._with_own_tables(batch)
            groups = _groups(batch)
        rows, sent = list(batch.rows), list(batch.rows)
        left_out: set[int] = set()
        normal_groups: list[RowGroup] = []
        for group in groups:
            if group.table not in self._tables:
                continue
            table, form = self._tables[group.table]
            matched = self._match(table, form, group.keys)
            indexes = group.indexes
            wrong = _wrong_keys(table, matched, group.keys, batch.lines[indexes[0]])
            if wrong is not None:
                # Whose table it is is decided before what is wrong with a row.
                sent[indexes[0]] = {
                    own: rows[indexes[0]][key] for own, key in matched.names.items()
                }
                rows[indexes[0]] = replace(wrong, count=len(indexes))
                left_out.update(indexes[1:])
                is_normal = False
                continue
            is_all = len(indexes) == len(rows)
            group_rows = rows if is_all else [rows[index] for index in indexes]
            renamed, columns = self._rename(group, matched, group_rows)
            self._texts.add(table, columns)
            normal = form.rows(*self._read_ids(table, matched, columns, renamed))
            if normal is group_rows:
                normal_groups.append(replace(group, is_normal=True))
            else:
                is_normal = False
                self._add_values(table, matched, columns, normal)
                for index, row, normal_row in zip(indexes, renamed, normal, strict=True):
                    sent[index], rows[index] = row, normal_row
            contradictions = self._contradictions(
                table, matched, columns, batch.lines, indexes, is_normal=normal is group_rows
            )
            for index, issue in contradictions.items():
                is_normal = False
                if issue is None:
                    left_out.add(indexes[index])
                else:
                    rows[indexes[index]] = issue
        if is_normal:
            return replace(batch, groups=normal_groups)
        changed = batch.with_rows(rows, sent=sent)
        return _without(changed, left_out) if left_out else changed

    def _with_own_tables(self, batch: Batch) -> Batch:
        """Return a batch whose tables are named as in the schema."""
        spelled = {
            name: own
            for name in {str(table) for table in batch.tables} - self._tables.keys()
            if (own := own_name(self._tables, name)) != name
        }
        if not spelled:
            return batch
        for name, own in sorted(spelled.items()):
            self._keys.add_table(own, name)
        tables = [spelled.get(table, table) for table in batch.tables]
        return replace(batch, tables=tables, groups=None)

    def _match(self, table: Table, form: NormalForm, keys: Sequence[str]) -> MatchedNames:
        """Return which key each column is read from; what is ignored is no key."""
        matched = form.names(keys)
        if not self._ignored:
            return matched
        ignored = {key for key in keys if is_ignored(key, table.name, self._ignored)}
        return MatchedNames(
            {own: key for own, key in matched.names.items() if key not in ignored},
            tuple(key for key in matched.unused if key not in ignored),
        )

    def _add_values(
        self, table: Table, matched: MatchedNames, sent: Columns, normal: Sequence[Any]
    ) -> None:
        """Add what the values of some rows were read as."""
        for column in table.columns:
            name = column.name
            if name in sent and reads_values(column):
                read = [row.get(name) for row in normal]
                self._values.add(f"{table.name}.{matched.names[name]}", column, sent[name], read)

    def _read_ids(
        self, table: Table, matched: MatchedNames, columns: Columns, rows: list[Any]
    ) -> tuple[Columns, list[Any]]:
        """Return columns and rows with ids such as ``10.0`` as the ids that they mean."""
        read = self._ids.read(table, columns, matched.names)
        if read is columns:
            return columns, rows
        values = zip(*read.values(), strict=True)
        return read, [dict(zip(read, row, strict=True)) for row in values]

    def _contradictions(
        self,
        table: Table,
        matched: MatchedNames,
        columns: Columns,
        lines: Sequence[int],
        indexes: Sequence[int],
        *,
        is_normal: bool,
    ) -> dict[int, RowIssue | None]:
        """Return the issues of values that contradict how others of their column were read.

        The first row of each column has its issue, which counts the others; they have None.
        """
        found: dict[str, list[tuple[int, str, str]]] = {}
        for index, name in self._ids.contradictions(table, columns):
            reason = "is not whole, and ids such as 10.0 of the same column were read as 10"
            found.setdefault(name, []).append((index, reason, "write them without .0"))
        for index, name, unit in self._times.other_units(table, columns, is_normal=is_normal):
            reason = f"is in another unit than the first time of the column, which is in {unit}"
            found.setdefault(name, []).append((index, reason, ONE_UNIT))
        issues: dict[int, RowIssue | None] = {}
        for name, places in found.items():
            index, reason, remedy = places[0]
            value = str(columns[name][index])[:_SHOWN]
            issues |= dict.fromkeys(one for one, _, _ in places if one not in issues)
            issues[index] = RowIssue(
                "mixed-values", table.name, table.name, lines[indexes[index]],
                matched.names[name], value, reason, remedy, count=len(places),
            )  # fmt: skip
        return issues

    def _rename(
        self, group: RowGroup, matched: MatchedNames, rows: list[Any]
    ) -> tuple[list[Any], Columns]:
        """Return rows with the names of the schema, and their columns."""
        if len(matched.names) == len(group.keys) and not matched.respelled:
            return rows, group.columns
        self._keys.add(group.table, matched, len(rows))
        pairs = list(matched.names.items())
        renamed = [{own: row[key] for own, key in pairs} for row in rows]
        return renamed, {own: group.columns[key] for own, key in pairs}


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


def _groups(batch: Batch) -> list[RowGroup]:
    """Return the rows of a batch by table and keys; what is no row is in no group."""
    if batch.groups is not None:
        return list(batch.groups)
    if {dict}.issuperset(map(type, batch.rows)) and {str}.issuperset(map(type, batch.tables)):
        return groups_of(batch.tables, batch.rows)
    places = [
        index
        for index, (table, row) in enumerate(zip(batch.tables, batch.rows, strict=True))
        if type(row) is dict and isinstance(table, str)
    ]
    groups = groups_of(
        [batch.tables[position] for position in places],
        [batch.rows[position] for position in places],
    )
    return [replace(one, indexes=[places[index] for index in one.indexes]) for one in groups]


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
