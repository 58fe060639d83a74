"""Test values of the sandbox: limits, jobs, runs, and the comparison of terms."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.app.sandbox import DeterminismCheck, RunLimits, RunRequest, RunResult, matching_prefix
from agon.errors import InvalidRule
from sizes import size


def run(*terms: str, outcome: Any = "ok") -> RunResult:
    """Return a run."""
    return RunResult(outcome=outcome, terms=terms, mode="bwrap", runner="test")


@settings(max_examples=size(50), deadline=None)
@given(st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3)))
def test_the_matching_prefix_is_the_longest_common_one(one: list[str], other: list[str]) -> None:
    """A naive computation: equal up to there, and not further."""
    length = matching_prefix(one, other)
    assert one[:length] == other[:length]
    assert length == min(len(one), len(other)) or one[length] != other[length]


def test_terms_are_compared_as_text() -> None:
    """Output of a program is never converted to a number."""
    assert matching_prefix(("1", "02"), ("1", "2")) == 1


@pytest.mark.parametrize(
    "wrong",
    [{"cpu_s": 0}, {"wall_s": -1}, {"memory_mib": 0}, {"output_bytes": 1}, {"max_term_digits": 0}],
)
def test_a_limit_out_of_its_bounds_is_rejected_by_name(wrong: dict[str, Any]) -> None:
    """A limit of zero would make every program fail."""
    with pytest.raises(InvalidRule, match=next(iter(wrong))):
        RunLimits(**wrong)


def test_a_job_has_at_least_one_term() -> None:
    """Without terms every program would pass."""
    with pytest.raises(InvalidRule, match="n_check"):
        RunRequest(source=b"", n_check=0)


def test_the_first_difference_is_counted_from_one() -> None:
    """The setter sees the number of the term as the problem counts it."""
    assert DeterminismCheck(run("1", "3"), run("1", "4")).first_difference == 2
    assert DeterminismCheck(run("1", "3"), run("1")).first_difference == 2
    assert DeterminismCheck(run("1"), run("1")).first_difference is None


def test_two_runs_agree_only_with_the_same_end() -> None:
    """Equal terms with another end are a difference."""
    assert DeterminismCheck(run("1"), run("1")).agree
    assert not DeterminismCheck(run(), run(outcome="time_limit")).agree


def test_a_source_is_not_shown_by_accident() -> None:
    """Logs show jobs and runs, and must not show hidden sources and terms."""
    assert "secret" not in repr(RunRequest(source=b"secret"))
    assert "31337" not in repr(run("31337"))
