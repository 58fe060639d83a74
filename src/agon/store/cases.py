"""Integrity findings and cases in the database."""

from collections.abc import Sequence

from sqlalchemy import delete, select

from agon.entities.contests import Case
from agon.store.connection.transaction import Transaction, json_text
from agon.store.contest_rows import ContestRows
from agon.store.schema import CASES, FINDINGS, SCANS

_MAX_ABOUT = 1000
"""Maximum number of cases that are read about a subject."""


class Cases(ContestRows[Case]):
    """Integrity findings and cases in the database."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(transaction, CASES, Case, noun="case", time="opened_at")

    def about(self, contest_no: int, subject: str) -> list[Case]:
        """Return the cases about a subject, oldest first."""
        about = CASES.c.subjects.contains(json_text([subject])[1:-1], autoescape=True)
        cases = self._page(self._of(contest_no).where(about), last=None, limit=_MAX_ABOUT)
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
