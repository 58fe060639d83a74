"""Validate a setter by running it, and return the terms of its sequence (``dojo.md``, Programs)."""

from typing import Final

from agon.app.dojo.hidden_answer import HiddenAnswer
from agon.app.dojo.problems import Problem, term_name
from agon.app.sandbox import (
    DeterminismCheck,
    RunLimits,
    RunRequest,
    RunResult,
    Sandbox,
    matching_prefix,
)
from agon.errors import CheckFailed, Unavailable

SETTER_LIMITS: Final = RunLimits(cpu_s=1.0)
"""A setter has one second of CPU time for all its terms."""

_SHOWN_CHARACTERS: Final = 60


class InvalidSetter(CheckFailed):
    """A setter does not return the required terms, or not the same terms twice."""


def validate_setter(problem: Problem, sandbox: Sandbox) -> tuple[str, ...]:
    """Run a setter in two fresh processes with different hash seeds; return its terms.

    Returns:
        ``n_check`` terms as decimal text, which solvers have to return.

    Raises:
        InvalidSetter: it takes more than a second, does not return ``n_check`` terms of type
            ``int``, or not the same terms twice (the message has the first that differs).
        Unavailable: the sandbox failed; the setter may be valid.
    """
    request = RunRequest(
        source=problem.source,
        entry=problem.interface,
        n_check=problem.n_check,
        first_index=problem.first_index,
        limits=SETTER_LIMITS,
        name="setter",
    )
    check = sandbox.run_with_two_seeds(request)
    for result in (check.first, check.second):
        if result.outcome == "sandbox_error":
            raise Unavailable(f"the sandbox failed ({result.reason}); try again")
    _require_determinism(check, problem.first_index)
    _require_terms(check.first, problem.n_check)
    return check.first.terms


def require_same_terms(answer: HiddenAnswer, terms: tuple[str, ...]) -> None:
    """Require that a setter gives the terms by which submissions were judged.

    Raises:
        CheckFailed: it does not; with the first term that differs.
    """
    if terms != answer.terms:
        problem = answer.problem
        index = matching_prefix(terms, answer.terms) + 1
        name = term_name(index, first_index=problem.first_index)
        raise CheckFailed(
            f"the setter of {problem.id[:12]} gives another {name} than when it was "
            "judged; judge the problem again in another folder or contest"
        )


def _require_determinism(check: DeterminismCheck, first_index: int) -> None:
    first, second = check.first, check.second
    if check.agree:
        return
    if first.outcome != second.outcome:
        raise InvalidSetter(
            "the setter ended differently in two runs with different hash seeds: "
            f"{_ending_text(first)}, {_ending_text(second)}; make it deterministic"
        )
    index = check.first_difference or 0
    first_term, second_term = (_term(result, index) for result in (first, second))
    raise InvalidSetter(
        f"{term_name(index, first_index=first_index)} differs between two runs with different hash "
        f"seeds: {first_term} and {second_term}; "
        "make the setter deterministic (no sets, no hash(), no random)"
    )


def _require_terms(result: RunResult, n_check: int) -> None:
    if result.outcome != "ok":
        raise InvalidSetter(
            f"the setter is not valid: {_ending_text(result)}; it has to give {n_check} terms, "
            f"all int, within {SETTER_LIMITS.cpu_s:g} s of CPU time"
        )
    if len(result.terms) < n_check:
        raise InvalidSetter(f"the setter gave {len(result.terms)} terms; it has to give {n_check}")


def _ending_text(result: RunResult) -> str:
    return f"{result.outcome} ({result.reason})" if result.reason else result.outcome


def _term(result: RunResult, number: int) -> str:
    if number > len(result.terms):
        return "none"
    term = result.terms[number - 1]
    excerpt = term[:_SHOWN_CHARACTERS]
    return term if excerpt == term else f"{excerpt}… ({len(term)} characters)"
