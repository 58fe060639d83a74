"""Run one program and return its verdict, without terms to compare with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agon.app.dojo.grading import solver_request
from agon.app.dojo.inspection import inspect, summary
from agon.app.dojo.problems import FIRST_INDEX
from agon.app.dojo.setter_validation import SETTER_LIMITS
from agon.app.sandbox import EntryPoint, Mode, RunLimits, RunRequest, RunResult, Sandbox
from agon.disciplines.dojo.canonical import NotUtf8, canonicalize
from agon.disciplines.dojo.imports import INTERFACES, Kind, interface
from agon.disciplines.dojo.rules import DojoRules


@dataclass(frozen=True, kw_only=True)
class ProgramAnswer:
    """The terms of a program, or why there are none.

    Attributes:
        verdict: ``ok`` for any valid list of terms, whose reason says how many of the required ones
            it has if it is short; else as a judge records it.
        first_index: index of the first term.
        terms: decimal integers.
        cpu_ms, wall_ms, memory_kib: what the run used; 0 when nothing ran.
        mode: the isolation; None when nothing ran.
        reason: one line of text; empty when there is nothing to report.
    """

    verdict: str
    first_index: int = FIRST_INDEX
    terms: tuple[str, ...] = ()
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    memory_kib: int = 0
    mode: Mode | None = None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``agon dojo run --format json`` prints it."""
        return {
            "verdict": self.verdict,
            "terms": list(self.terms),
            "terms_count": len(self.terms),
            "cpu_ms": round(self.cpu_ms, 3),
            "wall_ms": round(self.wall_ms, 3),
            "memory_kib": self.memory_kib,
            "mode": self.mode,
            "reason": self.reason,
            "first_index": self.first_index,
        }


def run_program(
    raw: bytes,
    *,
    kind: Kind,
    n_check: int,
    first_index: int = FIRST_INDEX,
    scan: bool,
    rules: DojoRules,
    open_sandbox: Callable[[], Sandbox],
) -> ProgramAnswer:
    """Run a program as it was sent.

    Args:
        raw: the bytes of the file.
        kind: a solver defines ``solver()``; a setter ``seq(n)`` or ``gen(N)``, which has one
            second of CPU time.
        n_check: number of terms.
        first_index: index of the first term; ``seq`` is called from it on.
        scan: whether to reject, without a run, what the scan and the payload policy reject.
            Without it the sandbox alone protects.
        rules: the payload policy, and which terms are integers.
        open_sandbox: called when there is something to run.

    Raises:
        Unavailable: there is no sandbox.
    """
    try:
        source = canonicalize(raw)
    except NotUtf8 as error:
        return ProgramAnswer(verdict="syntax_error", first_index=first_index, reason=str(error))
    entry: EntryPoint = "solver"
    if scan or kind == "setter":
        inspection = inspect(source, kind=kind, rules=rules)
        if scan and (violations := inspection.rejected_for()):
            return ProgramAnswer(
                verdict=violations[0].verdict, first_index=first_index, reason=summary(violations)
            )
        if kind == "setter":
            offered = interface(inspection.program) if inspection.program else INTERFACES[0]
            if offered is None:
                return ProgramAnswer(
                    verdict="runtime_error",
                    first_index=first_index,
                    reason=summary(inspection.violations),
                )
            entry = offered
    if kind == "setter":
        request = RunRequest(
            source=source, entry=entry, n_check=n_check, first_index=first_index,
            limits=SETTER_LIMITS,
        )  # fmt: skip
    else:
        request = solver_request(source, rules=rules, n_check=n_check, limits=RunLimits())
    with open_sandbox() as sandbox:
        return _answer(sandbox.run(request), n_check=n_check, first_index=first_index)


def _answer(run: RunResult, *, n_check: int, first_index: int) -> ProgramAnswer:
    reason = run.reason
    if run.outcome == "ok" and len(run.terms) < n_check:
        reason = f"{len(run.terms)} of {n_check} terms; a judge needs all of them"
    return ProgramAnswer(
        verdict=run.outcome,
        first_index=first_index,
        terms=run.terms,
        cpu_ms=run.cpu_ms,
        wall_ms=run.wall_ms,
        memory_kib=run.memory_kib,
        mode=run.mode,
        reason=reason,
    )
