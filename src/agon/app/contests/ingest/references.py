"""Check that the rows records refer to are in the ledger or in the same request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from agon.app.contests.ingest.errors import ErrorCollector
from agon.entities.contests import Contest
from agon.ledger.keys import record_key
from agon.records import RowIssue, Schema, Table
from agon.store.session import Session

_MAX_REMEMBERED: Final = 250_000
"""Maximum number of known values of a referenced column kept in memory."""

_PAGE: Final = 10_000
_NOT_GIVEN: Final = frozenset({None, ""})


@dataclass(frozen=True, eq=False)
class _Reference:
    """A foreign key and what is known of its values.

    Attributes:
        keyed: whether the referenced column is the only key column of its table.
        existing: values found in the ledger, shared by all keys to the same column.
        pending: values to look up, with the first line of each.
        missing_values: values that were not found when they were looked up.
    """

    column: str
    target: Table
    target_column: str
    keyed: bool
    existing: set[Any]
    pending: dict[Any, int] = field(default_factory=dict)
    missing_values: set[Any] = field(default_factory=set)

    def key(self, value: Any) -> str:
        """Return the record key of a referenced row, or the value itself if it has none."""
        if self.keyed:
            if type(value) is str and "/" not in value and "%" not in value:
                return f"{self.target.name}/{value}"
            return record_key(self.target, {self.target_column: value}) or ""
        return str(value)


@dataclass(frozen=True)
class _Missing:
    table: str
    reference: _Reference
    line: int
    value: Any


class References:
    """Checks references batch by batch; references to later rows are checked at the end.

    A voided record still exists: rows may refer to it, and scoring leaves them out.
    """

    def __init__(self, session: Session, contest: Contest, schema: Schema) -> None:
        self._session = session
        self._contest = contest
        self._there: dict[tuple[str, str], set[Any]] = {}
        self._of = {table.name: self._references(schema, table) for table in schema}
        self._missing: dict[tuple[str, str], list[_Missing]] = {}
        self._scanned: dict[str, set[str]] = {}

    def gather(
        self, table: str, columns: Mapping[str, Sequence[Any]], lines: Sequence[int]
    ) -> None:
        """Collect the references of valid rows of a table, and the values others may refer to."""
        for (target, column), existing in self._there.items():
            if target == table and column in columns:
                existing.update(columns[column])
        for one in self._of[table]:
            values = columns.get(one.column)
            if values and (unknown := set(values) - one.existing - one.missing_values - _NOT_GIVEN):
                first = dict(zip(reversed(values), reversed(lines), strict=True))
                for value in sorted(unknown, key=first.__getitem__):
                    one.pending.setdefault(value, first[value])

    def resolve(self) -> None:
        """Look up the collected references; those not found are checked again at the end."""
        for table, references in self._of.items():
            for one in references:
                keys = {value: one.key(value) for value in one.pending if value not in one.existing}
                found = self._find(one, list(keys.values())) if keys else set()
                for value, key in keys.items():
                    if key in found:
                        one.existing.add(value)
                    else:
                        one.missing_values.add(value)
                        missing = _Missing(table, one, one.pending[value], value)
                        self._missing.setdefault((one.target.name, key), []).append(missing)
                one.pending.clear()
        for existing in self._there.values():
            if len(existing) > _MAX_REMEMBERED:
                existing.clear()

    def report_missing(self, errors: ErrorCollector) -> None:
        """Look up missing values again, now that all is stored, and add issues for the rest."""
        self._scanned.clear()
        by_target: dict[str, list[tuple[str, list[_Missing]]]] = {}
        for (target, key), missing in self._missing.items():
            by_target.setdefault(target, []).append((key, missing))
        for pairs in by_target.values():
            found = self._find(pairs[0][1][0].reference, [key for key, _ in pairs])
            for key, missing in pairs:
                if key not in found:
                    for one in missing:
                        errors.add(_issue(one))

    def _references(self, schema: Schema, table: Table) -> list[_Reference]:
        found = []
        for key in table.foreign_keys:
            target, name = schema.table(key.other_table), key.other_column
            keyed = target.key == (name,)
            # Without a key, rows of this request do not show that a value exists.
            existing = self._there.setdefault((target.name, name), set()) if keyed else set()
            found.append(_Reference(key.column, target, name, keyed=keyed, existing=existing))
        return found

    def _find(self, reference: _Reference, keys: list[str]) -> set[str]:
        target = reference.target.name
        if reference.keyed:
            return self._session.entries.existing_keys(self._contest.no, target, keys)
        if target not in self._scanned:
            self._scanned[target] = self._scan(target, reference.target_column)
        return self._scanned[target].intersection(keys)

    def _scan(self, table: str, column: str) -> set[str]:
        """Return all values of a column that is not the key of its table."""
        found: set[str] = set()
        after = 0
        while page := self._session.entries.rows(self._contest.no, table, after=after, limit=_PAGE):
            found.update(str(orjson.loads(one.line)["body"]["row"].get(column)) for one in page)
            after = page[-1].seq
        return found


def _issue(missing: _Missing) -> RowIssue:
    reference = missing.reference
    return RowIssue(
        code="unknown-reference",
        table=missing.table,
        location=missing.table,
        row=missing.line,
        column=reference.column,
        value=str(missing.value)[:200],
        reason=f"is not in {reference.target.name}.{reference.target_column}",
        remedy=f"give a row of {reference.target.name} first, or in the same request",
    )
