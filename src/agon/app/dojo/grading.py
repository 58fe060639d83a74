"""Grade submissions: reject without a run, run, and compare the answer.

The setter's terms stay outside the sandbox: a solver's answer is compared here, as text.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from agon.app.dojo.inspection import inspect, summary
from agon.app.dojo.problems import term_name
from agon.app.sandbox import RunLimits, RunRequest, RunResult, Sandbox, matching_prefix
from agon.disciplines.dojo.rules import DojoRules

_PRECHECKS_KEPT = 64
"""Number of newest inspections kept; each holds its source."""

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
"""The columns of a verdict, before there is one."""


@dataclass(frozen=True)
class PendingSubmission:
    """A submission to judge.

    Attributes:
        row: what is recorded of it so far.
        source: canonical bytes; None when the file is not a text that has them.
        unreadable: why it has none.
    """

    row: Row
    source: bytes | None = field(repr=False)
    unreadable: str = ""


@dataclass(frozen=True)
class Grader:
    """Judges the submissions to one problem.

    Attributes:
        expected: the setter's terms.
        sandbox: where programs run.
        rules: those that count when a program is judged, and the payload policy that is recorded;
            scoring applies that of its own edition.
        limits: what a program may use.
        first_index: index of the first term.
    """

    expected: tuple[str, ...] = field(repr=False)
    sandbox: Sandbox
    rules: DojoRules
    limits: RunLimits
    first_index: int

    def verdicts(self, submissions: Iterable[PendingSubmission]) -> Iterator[Row]:
        """Yield the row of each submission with its verdict, in the order they are reached.

        The sandbox takes programs as its workers become free, so that neither sources nor results
        pile up. A submission that needs no run is yielded with the next run that is done.
        """
        decided: deque[Row] = deque()
        running: dict[str, tuple[Row, str]] = {}

        def requests() -> Iterator[RunRequest]:
            for submission in submissions:
                request, violation = self._request(submission, decided)
                if request is not None:
                    running[request.name] = (submission.row, violation)
                    yield request

        for request, result in self.sandbox.run_many(requests()):
            while decided:
                yield decided.popleft()
            row, violation = running.pop(request.name)
            verdict = verdict_row(
                result,
                expected=self.expected,
                first_index=self.first_index,
                violation=violation,
            )
            yield {**row, **verdict}
        yield from decided

    def _request(
        self, submission: PendingSubmission, decided: deque[Row]
    ) -> tuple[RunRequest | None, str]:
        """Return what to run, with the policy violation found; or decide without a run."""
        row, source = submission.row, submission.source
        if source is None:
            decided.append({**row, "verdict": "syntax_error", "reason": submission.unreadable})
            return None, ""
        checked = precheck(source, rules=self.rules)
        if checked.verdict is not None:
            decided.append({**row, "verdict": checked.verdict, "reason": checked.reason})
            return None, ""
        request = solver_request(
            source,
            rules=self.rules,
            n_check=len(self.expected),
            limits=self.limits,
            name=str(row["id"]),
        )
        return request, checked.reason


def solver_request(
    source: bytes, *, rules: DojoRules, n_check: int, limits: RunLimits, name: str = ""
) -> RunRequest:
    """Return the request that runs a solver under the rules that count when it is judged."""
    return RunRequest(
        source=source,
        n_check=n_check,
        recursion_limit=rules.recursion_limit,
        exact_integers=rules.exact_integers,
        limits=limits,
        name=name,
    )


@dataclass(frozen=True)
class Precheck:
    """The result of inspecting a program before it runs.

    Attributes:
        verdict: the verdict of a program that is rejected without a run; None: it has to run.
        reason: why; of a program that has to run, how it violates the payload policy, if at all.
    """

    verdict: str | None
    reason: str


@lru_cache(maxsize=_PRECHECKS_KEPT)
def precheck(source: bytes, *, rules: DojoRules) -> Precheck:
    """Inspect a program before it runs: rejected without a run, or to be run.

    The payload policy belongs to an edition, so it does not keep a program from running: the
    result of the run is recorded, and another edition may accept the program.

    Results are kept: a worker that stores its outcomes itself inspects a program once, before the
    run, and the check that decides finds the result when the run is recorded.
    """
    inspection = inspect(source, kind="solver", rules=rules)
    if violations := inspection.rejected_for("syntax_error", "rejected_import"):
        return Precheck(violations[0].verdict, summary(violations))
    return Precheck(None, summary(inspection.rejected_for("rejected_policy")))


def verdict_row(
    result: RunResult, *, expected: tuple[str, ...], first_index: int, violation: str
) -> Row:
    """Return the columns of a verdict: the result of a run, compared with the setter's terms.

    Args:
        result: the result of the program's run.
        expected: the setter's terms.
        first_index: index of the first of them.
        violation: how the program violates the payload policy; empty if it does not.
    """
    verdict, reason, matched = str(result.outcome), result.reason, None
    if result.outcome == "ok":
        matched = matching_prefix(result.terms, expected)
        if violation:
            verdict, reason = "rejected_policy", violation
        elif matched < len(expected):
            verdict = "wrong_answer"
            reason = _difference(
                result.terms, matched, expected=len(expected), first_index=first_index
            )
    return {
        "verdict": verdict,
        "terms_matched": matched,
        "terms_count": len(result.terms) if result.outcome == "ok" else None,
        "cpu_ms": round(result.cpu_ms, 3),
        "wall_ms": round(result.wall_ms, 3),
        "memory_kib": result.memory_kib,
        "attempts": result.attempts,
        "mode": result.mode,
        "runner": result.runner,
        "reason": reason,
    }


def _difference(terms: tuple[str, ...], matched: int, *, expected: int, first_index: int) -> str:
    """Return where an answer differs; never the expected term. The texts are recorded."""
    if matched == len(terms):
        return f"{matched} of {expected} terms, all of them right"
    return f"{term_name(matched + 1, first_index=first_index)} is wrong"
