"""Check that a condition says the same in SQL and in Python."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.records.conditions import Compare, Condition, Equals, IsBlank, IsNull, SameValue
from agon.records.raw import MemoryEngine
from sizes import size

_TEXTS = st.none() | st.sampled_from(["a", "b", " ", "  ", "a ", "", "\t", "it's", '"'])
_NUMBERS = st.none() | st.sampled_from([-1.5, -0.0, 0.0, 1.0, 1e300])
_SIMPLE = st.one_of(
    st.sampled_from(["text", "other", "number"]).map(IsNull),
    st.builds(Equals, st.sampled_from(["text", "other"]), _TEXTS.filter(bool)),
    st.sampled_from(["text", "other"]).map(IsBlank),
    st.builds(
        Compare, st.just("number"), st.sampled_from(["<", "<=", ">", ">="]), st.integers(-1, 1)
    ),
    st.just(SameValue("text", "other")),
)
_CONDITIONS = st.recursive(
    _SIMPLE,
    lambda of: st.one_of(
        st.builds(lambda one, two: one & two, of, of),
        st.builds(lambda one, two: one | two, of, of),
        of.map(lambda one: ~one),
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """Start one engine for all tables."""
    engine = MemoryEngine()
    yield engine
    engine.close()


@settings(max_examples=size(200), deadline=None)
@given(
    condition=_CONDITIONS,
    rows=st.lists(st.tuples(_TEXTS, _TEXTS, _NUMBERS), min_size=1, max_size=8),
)
def test_sql_and_python_agree(
    engine: MemoryEngine, condition: Condition, rows: list[tuple[Any, ...]]
) -> None:
    """A row that is taken at the door must pass when its table is checked, and the other way."""
    names = ("text", "other", "number")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    types = (pa.string(), pa.string(), pa.float64())
    table = pa.table(
        {name: pa.array(columns[name], kind) for name, kind in zip(names, types, strict=True)}
    )
    engine.connection.register("rows", table)
    answers = engine.connection.execute(f"SELECT {condition.sql()} FROM rows").fetchall()
    assert condition.evaluate(columns) == [answer for (answer,) in answers]


@pytest.mark.parametrize(
    ("condition", "row", "expected"),
    [
        (Compare("a", ">", 1) | IsNull("b"), {"a": None, "b": 1}, None),
        (Compare("a", ">", 1) | IsNull("b"), {"a": None, "b": None}, True),
        (Compare("a", ">", 1) & Equals("b", "x"), {"a": None, "b": "y"}, False),
        (~Compare("a", "<=", 1), {"a": 2, "b": None}, True),
        (~Equals("a", "x"), {"a": None, "b": None}, None),
        (Compare("a", ">=", 2) & Compare("b", "<", 3), {"a": 2, "b": 2}, True),
    ],
)
def test_conditions_have_three_truth_values(
    condition: Condition, row: dict[str, Any], expected: object
) -> None:
    """A missing value makes a comparison unknown; a check fails a row only where it is true."""
    assert condition.evaluate({name: [value] for name, value in row.items()}) == [expected]


def test_a_condition_names_the_columns_it_reads() -> None:
    """A value that could not be read must not fail a check as well."""
    condition = (Equals("kind", "rated") & IsNull("bot_a")) | ~SameValue("bot_a", "bot_b")
    assert condition.columns == ("kind", "bot_a", "bot_b")


def test_an_unknown_sign_is_an_error() -> None:
    """A comparison that means nothing must not reach the engine."""
    with pytest.raises(ValueError, match="is not a comparison"):
        Compare("a", "LIKE", 1)
