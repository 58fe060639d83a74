"""Check that what records refer to is in the ledger, or comes in the same request."""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from agon.app.contests.ports import Session
from agon.app.contests.refusals import Refusals
from agon.app.contests.values import Contest
from agon.ledger.keys import record_key
from agon.records import Problem, Schema, Table

_REMEMBERED: Final = 1_000_000
_PAGE: Final = 10_000


@dataclass(frozen=True)
class _Reference:
    """Hold one referring column; ``keyed`` when its target is the whole key of its table."""

    column: str
    target: Table
    target_column: str
    keyed: bool

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


Asked: TypeAlias = list[tuple[str, dict[Any, int], set[Any]]]
"""For each referring column: values to look for with their lines, and values that are there."""


class References:
    """Check references portion by portion; those to rows still to come are kept to the end.

    A voided record is still there: what refers to it is taken, and scoring passes over it.
    """

    def __init__(self, session: Session, contest: Contest, schema: Schema) -> None:
        self._session = session
        self._contest = contest
        self._of = {table.name: _references(schema, table) for table in schema}
        self._missing: dict[tuple[str, str], list[_Missing]] = {}
        self._scanned: dict[str, set[str]] = {}

    def asked_by(self, table: str) -> Asked:
        """Return where the rows of a table gather what they refer to."""
        return [(reference.column, {}, set()) for reference in self._of[table]]

    def resolve(self, table: str, asked: Asked) -> None:
        """Look for what was gathered, and empty it; what is not there yet is kept."""
        for reference, (_, values, seen) in zip(self._of[table], asked, strict=True):
            if not values:
                continue
            keys = {value: reference.key(value) for value in values}
            found = self._find(reference, list(keys.values()))
            if len(seen) > _REMEMBERED:
                seen.clear()
            for value, line in values.items():
                seen.add(value)
                if keys[value] not in found:
                    missing = _Missing(table, reference, line, value)
                    place = (reference.target.name, keys[value])
                    self._missing.setdefault(place, []).append(missing)
            values.clear()

    def refuse(self, refusals: Refusals) -> None:
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
                        refusals.add(_problem(one))

    def _find(self, reference: _Reference, keys: list[str]) -> set[str]:
        target = reference.target.name
        if reference.keyed:
            return self._session.entries.exist(self._contest.no, target, keys)
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


def _references(schema: Schema, table: Table) -> list[_Reference]:
    found = []
    for column in table.columns:
        if column.references is not None:
            other, _, name = column.references.partition(".")
            target = schema.table(other)
            found.append(_Reference(column.name, target, name, keyed=target.key == (name,)))
    return found


def _problem(missing: _Missing) -> Problem:
    reference = missing.reference
    return Problem(
        code="unknown-reference",
        table=missing.table,
        location=missing.table,
        row=missing.line,
        column=reference.column,
        value=str(missing.value)[:200],
        reason=f"is not in {reference.target.name}.{reference.target_column}",
        remedy=f"give a row of {reference.target.name} first, or in the same request",
    )
