"""Let a setter through the gate, and get the terms of the sequence (``dojo.md``, Programs)."""

from typing import Final

from agon.app.dojo.problems import Problem
from agon.app.sandbox import Job, Limits, Run, Sandbox, Twice
from agon.errors import CheckFailed, Unavailable

GATE_LIMITS: Final = Limits(cpu_s=1.0)
"""A setter has one second of processor time for all its terms."""

_SHOWN = 60


class GateRefused(CheckFailed):
    """Say why a setter does not get through the gate."""


def pass_gate(problem: Problem, sandbox: Sandbox) -> tuple[str, ...]:
    """Run a setter in two fresh processes with different hash seeds; return its terms.

    Returns:
        ``n_check`` terms as decimal text: what solvers have to give.

    Raises:
        GateRefused: it takes more than a second, gives something else than ``n_check`` terms of
            type ``int``, or not the same terms twice (with the first that differs).
        Unavailable: the sandbox failed, which says nothing about the setter.
    """
    job = Job(
        source=problem.source,
        entry=problem.interface,
        n_check=problem.n_check,
        limits=GATE_LIMITS,
        name="setter",
    )
    twice = sandbox.run_twice(job)
    for run in (twice.first, twice.second):
        if run.outcome == "sandbox_error":
            raise Unavailable(f"the sandbox failed ({run.reason}); try again")
    _expect_agreement(twice)
    _expect_terms(twice.first, problem.n_check)
    return twice.first.terms


def _expect_agreement(twice: Twice) -> None:
    first, second = twice.first, twice.second
    if twice.agree:
        return
    if first.outcome != second.outcome:
        raise GateRefused(
            "the setter ended differently in two runs with different hash seeds: "
            f"{_ended(first)}, {_ended(second)}; make it deterministic"
        )
    at = twice.first_difference or 0
    one, other = (_term(run, at) for run in (first, second))
    raise GateRefused(
        f"term {at} differs between two runs with different hash seeds: {one} and {other}; "
        "make the setter deterministic (no sets, no hash(), no dice)"
    )


def _expect_terms(run: Run, n_check: int) -> None:
    if run.outcome != "ok":
        raise GateRefused(
            f"the setter does not pass its gate: {_ended(run)}; it has to give {n_check} terms, "
            f"all int, within {GATE_LIMITS.cpu_s:g} s of processor time"
        )
    if len(run.terms) < n_check:
        raise GateRefused(f"the setter gave {len(run.terms)} terms; it has to give {n_check}")


def _ended(run: Run) -> str:
    return f"{run.outcome} ({run.reason})" if run.reason else run.outcome


def _term(run: Run, number: int) -> str:
    if number > len(run.terms):
        return "none"
    term = run.terms[number - 1]
    return term if len(term) <= _SHOWN else f"{term[:_SHOWN]}… ({len(term)} characters)"
