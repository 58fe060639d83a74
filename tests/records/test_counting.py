"""Counts in several tables: which statements run, and when."""

from collections.abc import Iterator

import pytest

from agon.records.counting import Counts, failing
from agon.records.raw import MemoryEngine
from records.recorder import Recorder


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """One engine for all tests."""
    made = MemoryEngine(shared=True)
    yield made
    made.close()


@pytest.mark.parametrize(("together", "expected"), [(True, [1, 1, 2, 2]), (False, [1, 2, 3, 3])])
def test_a_statement_answers_what_was_asked_by_then(
    engine: MemoryEngine,
    together: bool,  # noqa: FBT001 - pytest passes cases by name
    expected: list[int],
) -> None:
    """Of few rows one does for all relations; of many, each relation is read once, if at all."""
    connection = Recorder(engine.connection)
    counts = Counts(connection, together=together)
    first = counts.ask(["count(*)", "sum(range)"], "range(4)")
    second = counts.ask(["count(*)", "max(hash(range))"], "range(2)")
    counts.ask(["count(*)"], "range(7)")  # is not needed
    ran = []
    for answer in (first, second):
        answer()
        ran.append(len(connection.statements))
    third = counts.ask(["count(*)"], "range(5)")
    for answer in (third, first):
        answer()
        ran.append(len(connection.statements))
    assert ran == expected
    assert (first(), second()[0], third()) == ((4, 6), 2, (5,))


def test_nothing_is_asked_where_there_is_nothing_to_count(engine: MemoryEngine) -> None:
    """A table without checks is not read."""
    connection = Recorder(engine.connection)
    assert Counts(connection, together=True).ask([], "no_such_table")() == ()
    assert failing(connection, []) == set()
    assert connection.statements == []


@pytest.mark.parametrize("together", [True, False])
def test_conditions_are_looked_at_in_the_first_row_before_all_rows(
    engine: MemoryEngine,
    together: bool,  # noqa: FBT001 - same
) -> None:
    """What fails in the first row is not looked at again; of a subject one condition is there."""
    connection = Recorder(engine.connection)
    conditions = [
        ("a", "range(3)", "range < 3"),
        ("b", "range(3)", "range > 0"),
        ("c", "range(3)", "range < 2"),
        ("b", "range(4)", "range < 4"),
        ("d", "range(5)", "range < 5"),
    ]
    found = failing(connection, conditions, together=together)
    assert found == {"b", "c"}
    assert len(connection.statements) == (2 if together else 4)
    assert "range > 0" not in "".join(connection.statements[1 if together else 2 :])
