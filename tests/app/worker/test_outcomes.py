"""Test outcomes: a worker sends a valid run of its job, or gets an error with the reason."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.queue.leases import InvalidOutcome
from agon.app.sandbox import RunLimits, RunResult
from agon.app.worker.outcomes import read_run, written_run

GOOD = written_run(
    RunResult(outcome="ok", terms=("1", "-20", "0"), mode="bwrap", runner="r 1", cpu_ms=1.5)
)


def test_a_run_is_sent_and_read_unchanged() -> None:
    """No field of a run is lost or changed."""
    run = read_run(GOOD, n_check=3, limits=RunLimits())
    assert written_run(run) == GOOD


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"terms": ["01"]}, "term 1 is not a decimal integer"),
        ({"terms": ["1", "+2"]}, "term 2 is not a decimal integer"),
        ({"terms": ["-0"]}, "term 1"),
        ({"terms": ["1\n"]}, "term 1"),
        ({"terms": ["٣"]}, "term 1"),
        ({"terms": [1]}, "term 1"),
        ({"terms": ["9" * 4302]}, "4,300 digits"),
        ({"terms": "123"}, "terms is not a list"),
        ({"terms": ["1"] * 4}, "4 items"),
        ({"outcome": "time_limit"}, "has terms"),
        ({"outcome": "wrong_answer", "terms": []}, "outcome is not one of"),
        ({"outcome": ["ok"]}, "outcome is not one of"),
        ({"mode": "trust me"}, "mode is not one of"),
        ({"reason": "two\nlines"}, "reason is not a printable text"),
        ({"reason": "x" * 501}, "reason is not a printable text"),
        ({"cpu_ms": float("nan")}, "cpu_ms"),
        ({"cpu_ms": -1}, "cpu_ms"),
        ({"wall_ms": 1e12}, "wall_ms"),
        ({"memory_kib": 1.5}, "memory_kib"),
        ({"attempts": 0}, "attempts"),
        ({"attempts": True}, "attempts"),
        ({"verdict": "ok"}, "has verdict"),
    ],
)
def test_an_impossible_run_is_rejected(changed: dict[str, Any], message: str) -> None:
    """Types, bounds and patterns: an untrusted worker chooses every byte."""
    with pytest.raises(InvalidOutcome, match=message.replace("+", r"\+")):
        read_run({**GOOD, **changed}, n_check=3, limits=RunLimits())


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*GOOD, "x"]), inner),
        max_leaves=10,
    )
)
def test_any_json_is_read_or_rejected(value: Any) -> None:
    """No JSON causes a traceback."""
    with suppress(InvalidOutcome):
        assert read_run(value, n_check=3, limits=RunLimits()).outcome
