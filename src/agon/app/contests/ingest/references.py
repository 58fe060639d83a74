"""Check that what records refer to is in the ledger, or comes in the same request."""

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
"""So many values of a column that is referred to are remembered, not to be looked up again."""

_PAGE: Final = 10_000
_NOT_GIVEN: Final = frozenset({None, ""})


@dataclass(frozen=True, eq=False)
class _Reference:
    """Hold one referring column; ``keyed`` when its target is the whole key of its table.

    ``there`` are values known to be there, shared by all that refer to the same column.
    ``asked`` are values to look for, with the first line of each, and ``missed`` those that were
    not there when they were asked for.
    """

    column: str
    target: Table
    target_column: str
    keyed: bool
    there: set[Any]
    asked: dict[Any, int] = field(default_factory=dict)
    missed: set[Any] = field(default_factory=set)

    def key(self, value: Any) -> str:
        """Name a referred value."""
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
    """Check references batch by batch; those to rows still to come are kept to the end.

    A voided record is still there: what refers to it is taken, and scoring passes over it.
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
        """Take in what faultless rows of a table refer to, and what they can be referred to by."""
        for (target, column), there in self._there.items():
            if target == table and column in columns:
                there.update(columns[column])
        for one in self._of[table]:
            values = columns.get(one.column)
            if values and (new := set(values) - one.there - one.missed - _NOT_GIVEN):
                first = dict(zip(reversed(values), reversed(lines), strict=True))
                for value in sorted(new, key=first.__getitem__):
                    one.asked.setdefault(value, first[value])

    def resolve(self) -> None:
        """Look for what was gathered, and empty it; what is not there yet is kept."""
        for table, references in self._of.items():
            for one in references:
                keys = {value: one.key(value) for value in one.asked if value not in one.there}
                found = self._find(one, list(keys.values())) if keys else set()
                for value, key in keys.items():
                    if key in found:
                        one.there.add(value)
                    else:
                        one.missed.add(value)
                        missing = _Missing(table, one, one.asked[value], value)
                        self._missing.setdefault((one.target.name, key), []).append(missing)
                one.asked.clear()
        for there in self._there.values():
            if len(there) > _MAX_REMEMBERED:
                there.clear()

    def refuse(self, errors: ErrorCollector) -> None:
        """Look once more for what was missing, now that all is entered, and tell the rest."""
        self._scanned.clear()
        wanted: dict[str, list[tuple[str, list[_Missing]]]] = {}
        for (target, key), missing in self._missing.items():
            wanted.setdefault(target, []).append((key, missing))
        for pairs in wanted.values():
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
            # What has no key of its own is not known to be there by its rows alone.
            there = self._there.setdefault((target.name, name), set()) if keyed else set()
            found.append(_Reference(key.column, target, name, keyed=keyed, there=there))
        return found

    def _find(self, reference: _Reference, keys: list[str]) -> set[str]:
        target = reference.target.name
        if reference.keyed:
            return self._session.entries.existing_keys(self._contest.no, target, keys)
        if target not in self._scanned:
            self._scanned[target] = self._scan(target, reference.target_column)
        return self._scanned[target].intersection(keys)

    def _scan(self, table: str, column: str) -> set[str]:
        """Gather a column of a table whose rows cannot be asked for by it."""
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
