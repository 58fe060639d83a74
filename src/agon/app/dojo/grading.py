"""Reach verdicts: what is refused unread, what runs, and how an answer is compared.

The setter's terms stay outside the sandbox: a solver's answer is compared here, as text.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agon.app.dojo.inspection import inspect, told
from agon.app.sandbox import Job, Limits, Run, Sandbox, matching_prefix
from agon.disciplines.dojo.rules import DojoRules

Row = Mapping[str, Any]
"""A row of the table ``submissions``."""

UNJUDGED: Row = {
    "verdict": "sandbox_error",
    "terms_matched": None,
    "terms_count": None,
    "cpu_ms": 0.0,
    "wall_ms": 0.0,
    "memory_kib": 0,
    "attempts": 0,
    "mode": None,
    "runner": None,
    "reason": "not judged yet",
}
"""The columns a verdict fills."""


@dataclass(frozen=True)
class Case:
    """Hold a submission to judge.

    Attributes:
        row: what is recorded of it so far.
        source: canonical bytes; None when the file has none.
        refusal: why it has none.
    """

    row: Row
    source: bytes | None = field(repr=False)
    refusal: str = ""


@dataclass(frozen=True)
class Court:
    """Hold what verdicts are reached with.

    Attributes:
        expected: the setter's terms.
        sandbox: where programs run.
        rules: the payload policy that is recorded; scoring applies its own edition's anew.
        limits: what a program may use.
    """

    expected: tuple[str, ...] = field(repr=False)
    sandbox: Sandbox
    rules: DojoRules
    limits: Limits

    def verdicts(self, cases: Iterable[Case]) -> Iterator[Row]:
        """Yield the row of each case with its verdict, as they are reached: one for each case.

        The sandbox asks for programs when it has room, so that neither sources nor runs pile up.
        Cases that need no run wait until the next run is done.
        """
        decided: deque[Row] = deque()
        running: dict[str, tuple[Row, str]] = {}

        def jobs() -> Iterator[Job]:
            for case in cases:
                job, reason = self._job(case, decided)
                if job is not None:
                    running[job.name] = (case.row, reason)
                    yield job

        for job, run in self.sandbox.run_many(jobs()):
            while decided:
                yield decided.popleft()
            yield self._ran(*running.pop(job.name), run)
        yield from decided

    def _job(self, case: Case, decided: deque[Row]) -> tuple[Job | None, str]:
        """Return what to run, and what the payload policy says; or decide without a run."""
        if case.source is None:
            decided.append({**case.row, "verdict": "syntax_error", "reason": case.refusal})
            return None, ""
        reading = read_first(case.source, rules=self.rules)
        if reading.verdict is not None:
            decided.append({**case.row, "verdict": reading.verdict, "reason": reading.reason})
            return None, ""
        job = Job(
            source=case.source,
            n_check=len(self.expected),
            limits=self.limits,
            name=str(case.row["id"]),
        )
        return job, reading.reason

    def _ran(self, row: Row, refusal: str, run: Run) -> Row:
        """Return a row with what became of its run."""
        return {**row, **judged(run, expected=self.expected, refusal=refusal)}


@dataclass(frozen=True)
class Reading:
    """Hold what can be said of a program before it runs.

    Attributes:
        verdict: the verdict of a program that need not run; None for one that has to.
        reason: why; of a program that has to run, what the payload policy says against it.
    """

    verdict: str | None
    reason: str


def read_first(source: bytes, *, rules: DojoRules) -> Reading:
    """Read a program before it runs: refused unread, or to be run.

    The payload policy belongs to an edition, so it does not keep a program from running: what the
    program gave is recorded, and another edition may let it through.
    """
    inspection = inspect(source, kind="solver", rules=rules)
    if refused := inspection.refused_for("syntax_error", "rejected_import"):
        return Reading(refused[0].verdict, told(refused))
    return Reading(None, told(inspection.refused_for("rejected_policy")))


def judged(run: Run, *, expected: tuple[str, ...], refusal: str) -> Row:
    """Return the columns a verdict fills: what a run gave, compared with the setter's terms.

    Args:
        run: what became of the program.
        expected: the setter's terms.
        refusal: what the payload policy says against the program; empty: nothing.
    """
    verdict, reason, matched = str(run.outcome), run.reason, None
    if run.outcome == "ok":
        matched = matching_prefix(run.terms, expected)
        if refusal:
            verdict, reason = "rejected_policy", refusal
        elif matched < len(expected):
            verdict = "wrong_answer"
            reason = _difference(run.terms, matched, wanted=len(expected))
    return {
        "verdict": verdict,
        "terms_matched": matched,
        "terms_count": len(run.terms) if run.outcome == "ok" else None,
        "cpu_ms": round(run.cpu_ms, 3),
        "wall_ms": round(run.wall_ms, 3),
        "memory_kib": run.memory_kib,
        "attempts": run.attempts,
        "mode": run.mode,
        "runner": run.runner,
        "reason": reason,
    }


def _difference(terms: tuple[str, ...], matched: int, *, wanted: int) -> str:
    """Say where an answer goes wrong; never what would be right."""
    if matched == len(terms):
        return f"{matched} of {wanted} terms, all of them right"
    return f"term {matched + 1} is wrong"
