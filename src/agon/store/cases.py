"""Integrity findings and cases in the database."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, delete, select

from agon.entities.contests import Case
from agon.errors import NotFound
from agon.kernel.times import from_micros, to_micros
from agon.store.connection.transaction import Transaction, json_or_none, json_text, parse_json
from agon.store.paging import oldest_first
from agon.store.schema import CASES, FINDINGS, SCANS

_MAX_ABOUT = 1000
"""Maximum number of cases that are read about a subject."""


class Cases:
    """Integrity findings and cases in the database."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def save(self, case: Case) -> None:
        """Insert or update a case."""
        values = {
            "contest_no": case.contest_no,
            "id": case.id,
            "state": case.state,
            "title": case.title,
            "subjects": json_text(case.subjects),
            "finding": json_or_none(case.finding),
            "steps": json_text(case.steps),
            "opened_at": to_micros(case.opened_at),
        }
        self._transaction.upsert(CASES, values)

    def get(self, contest_no: int, case_id: str) -> Case:
        """Return a case.

        Raises:
            NotFound: the contest has no such case.
        """
        asking = select(CASES).where(CASES.c.contest_no == contest_no, CASES.c.id == case_id)
        row = self._transaction.first(asking)
        if row is None:
            raise NotFound(f"the contest has no case {case_id!r}; list its cases")
        return _case(row)

    def page(self, contest_no: int, *, after: str | None = None, limit: int = 100) -> list[Case]:
        """Return cases, oldest first, those after an id."""
        last = None if after is None else self.get(contest_no, after)
        listing = oldest_first(
            select(CASES).where(CASES.c.contest_no == contest_no),
            (CASES.c.opened_at, CASES.c.id),
            after=None if last is None else (last.opened_at, last.id),
            limit=limit,
        )
        return [_case(row) for row in self._transaction.all(listing)]

    def about(self, contest_no: int, subject: str) -> list[Case]:
        """Return the cases about a subject, oldest first."""
        listing = oldest_first(
            select(CASES).where(
                CASES.c.contest_no == contest_no,
                CASES.c.subjects.contains(json_text([subject])[1:-1], autoescape=True),
            ),
            (CASES.c.opened_at, CASES.c.id),
            after=None,
            limit=_MAX_ABOUT,
        )
        cases = map(_case, self._transaction.all(listing))
        return [case for case in cases if subject in case.subjects]

    def save_findings(self, contest_no: int, seq: int, findings: Sequence[bytes]) -> None:
        """Replace the findings (JSON) by those of a new scan."""
        self._transaction.upsert(SCANS, {"contest_no": contest_no, "seq": seq})
        self._transaction.change(delete(FINDINGS).where(FINDINGS.c.contest_no == contest_no))
        rows = ((contest_no, ordinal, line) for ordinal, line in enumerate(findings))
        self._transaction.load(FINDINGS, rows)

    def scan_position(self, contest_no: int) -> int:
        """Return the ledger position of the last scan; 0: never scanned."""
        asking = select(SCANS.c.seq).where(SCANS.c.contest_no == contest_no)
        return self._transaction.scalar(asking) or 0

    def findings(self, contest_no: int) -> tuple[int, list[bytes]]:
        """Return the ledger position of the last scan (0: never scanned), and its findings."""
        listing = select(FINDINGS.c.line).where(FINDINGS.c.contest_no == contest_no)
        lines = [row.line for row in self._transaction.all(listing.order_by(FINDINGS.c.ordinal))]
        return self.scan_position(contest_no), lines


def _case(row: Row[Any]) -> Case:
    values = row._asdict()
    values["subjects"] = tuple(parse_json(values["subjects"]))
    values["finding"] = parse_json(values["finding"])
    values["steps"] = tuple(parse_json(values["steps"]))
    values["opened_at"] = from_micros(values["opened_at"])
    return Case(**values)
