"""Check records: every invalid row at once, then the integrity findings, most severe first."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from agon.app.analysis.options import ReadingOptions, with_options
from agon.app.analysis.records import RecordsSource, inspect_records
from agon.app.analysis.score import overrides_of, rules_of
from agon.disciplines import Discipline, discipline
from agon.editions.titles import rules_title
from agon.kernel.findings import Finding, Severity, in_order
from agon.kernel.rules import Rules
from agon.kernel.text.text_tables import html_table
from agon.kernel.times import parse_time
from agon.records import InvalidRecords, Records, RowIssue
from agon.records.look_alikes import source_findings
from agon.records.names.unused import NameReport

_SHOWN = 10


@dataclass(frozen=True, repr=False)
class CheckReport:
    """The result of checking records.

    Attributes:
        discipline: the discipline of the records.
        source: the source they were read from.
        edition: the edition whose rules the integrity checks used.
        overrides: the rules they used that differ from the edition's, with their values.
        rows: number of rows of each table.
        problems: the issues of invalid rows, at most twenty of a kind.
        total: number of all issues.
        findings: what integrity checks report, most severe first; empty while rows are invalid,
            since a finding depends on all of the records.
        notes: what was decided when the records were read, one sentence each.
        names: how the names of the source were read.
    """

    discipline: str
    source: str
    edition: str
    overrides: Mapping[str, Any]
    rows: Mapping[str, int]
    problems: tuple[RowIssue, ...]
    total: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    names: NameReport = field(default_factory=NameReport)

    @property
    def rules_title(self) -> str:
        """The edition and the overrides in force, as headings name them."""
        return rules_title(self.edition, self.overrides)

    @property
    def exit_code(self) -> int:
        """Return 2 for invalid rows, 1 for a finding of severity error, else 0."""
        if self.problems:
            return 2
        return int(any(finding.severity is Severity.ERROR for finding in self.findings))

    @property
    def by_severity(self) -> dict[str, int]:
        """Count the findings of each severity."""
        counted = Counter(finding.severity for finding in self.findings)
        return {str(severity): counted[severity] for severity in reversed(Severity)}

    def _heading(self) -> str:
        if self.problems:
            return f"{self.rules_title} · {self.source} · issues: {self.total:,}"
        counts = ", ".join(f"{count:,} {severity}" for severity, count in self.by_severity.items())
        return f"{self.rules_title} · {self.source} · all rows are valid · findings: {counts}"

    def _columns(self) -> list[tuple[str, list[str]]]:
        if self.problems:
            return [("issue", [str(problem) for problem in self.problems[:_SHOWN]])]
        listed = self.findings[:_SHOWN]
        return [
            ("severity", [str(finding.severity) for finding in listed]),
            ("code", [finding.code for finding in listed]),
            ("finding", [finding.message for finding in listed]),
        ]

    def __repr__(self) -> str:
        columns = self._columns()
        lines = [" · ".join(row) for row in zip(*(cells for _, cells in columns), strict=True)]
        more = (self.total if self.problems else len(self.findings)) - len(lines)
        return "\n".join([self._heading(), *lines, *([f"… {more:,} more"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        return html_table(self._columns(), self._heading())

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "discipline": self.discipline,
            "source": self.source,
            "edition": self.edition,
            "overrides": dict(self.overrides),
            "rows": dict(self.rows),
            "valid": not self.problems,
            "problems_total": self.total,
            "problems": [problem.to_dict() for problem in self.problems],
            "findings_by_severity": self.by_severity,
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
        }


@with_options
def check(
    discipline_name: str,
    records: RecordsSource,
    *,
    edition: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    as_of: datetime | str | None = None,
    **reading: Unpack[ReadingOptions],
) -> CheckReport:
    """Validate every row of a source, then run the integrity checks.

    Args:
        discipline_name: the discipline.
        records: all that :func:`agon.read_records` reads: a folder, a file, data frames.
        edition: whose rules the integrity checks use (None: the reference edition).
        overrides: values of rules that replace the edition's.
        as_of: leave out later records for the integrity checks; all rows are validated.
        columns, where, mapping, ignore, engine: how and where the source is read
            (:class:`ReadingOptions`).

    Raises:
        NotFound, Unreadable, Unavailable: the source itself, or the engine, cannot be used.
        Conflict: the engine cannot read the source.
        InvalidRule: unknown rules or values out of bounds.

    Example:
        >>> report = check("community", "examples/tutorial")
        >>> report.exit_code, report.rows["users"], report.by_severity
        (0, 7, {'error': 0, 'warning': 0, 'info': 0})
    """
    chosen = discipline(discipline_name)
    released, rules = rules_of(discipline_name, edition, overrides)
    time = parse_time(as_of)
    report = partial(
        CheckReport,
        discipline=discipline_name,
        edition=released.full_name,
        overrides=overrides_of(released, rules),
    )
    try:
        found, problems = inspect_records(discipline_name, records, **reading)
    except InvalidRecords as error:  # of a single table, which becomes records once it is valid
        label = str(records) if isinstance(records, str | Path) else "memory"
        names = error.names or NameReport()
        return report(source=label, rows={}, problems=error.issues, total=error.total,
                      findings=(), notes=names.notes, names=names)  # fmt: skip
    try:
        tables = [table.name for table in chosen.schema if found.has(table.name)]
        return report(
            source=found.source,
            rows={name: found.count(name) for name in tables},
            problems=tuple(problems),
            total=InvalidRecords(problems).total if problems else 0,
            findings=() if problems else tuple(_findings(chosen, found, time, rules)),
            notes=found.notes,
            names=found.names,
        )
    finally:
        if found is not records:
            found.close()


def _findings(
    discipline: Discipline, records: Records, time: datetime | None, rules: Rules
) -> list[Finding]:
    """Return the findings about a source's names and values, and those of the integrity checks."""
    return in_order([*source_findings(records), *discipline.find(records.as_of(time), rules)])
