"""Histories in a database."""

import sys
from typing import Any

import pytest

from agon.entities.contests import Contest, HistoryStep
from agon.store.session import Store
from store.factories import later

pytestmark = pytest.mark.one_database


def _step(seq: int, *, name: str = "ada", score: float | None = 1.5) -> HistoryStep:
    reason = "too few votes" if score is None else None
    rank = None if score is None else seq
    return HistoryStep(id=name, seq=seq, at=later(seq), rank=rank, score=score, reason=reason)


def test_steps_come_back_in_ledger_order_and_bounds(store: Store, spring: Contest) -> None:
    """A chart is drawn from left to right, and ends at the freeze."""
    steps = [_step(3), _step(1, score=None), _step(9, score=-0.1 - 0.2), _step(5)]
    with store.write() as session:
        session.histories.add(spring.no, "models", iter(steps))
        session.histories.add(spring.no, "models", [_step(2, name="bob")])
        session.histories.add(spring.no, "judges", [_step(4)])
        session.histories.add(spring.no, "models", [])
    with store.read() as session:

        def of(until: int | None = None, after: int = 0, limit: int = 10) -> list[HistoryStep]:
            return session.histories.of(
                spring.no, "models", "ada", until=until, after=after, limit=limit
            )

        assert of() == [steps[1], steps[0], steps[3], steps[2]]
        assert of(until=5) == [steps[1], steps[0], steps[3]]
        assert of(after=1, limit=1) == [steps[0]]
        assert session.histories.of(spring.no, "models", "eve") == []


def test_a_step_that_is_there_is_replaced(store: Store, spring: Contest) -> None:
    """Publishing again after a crash writes the same steps once more, newest word last."""
    with store.write() as session:
        session.histories.add(spring.no, "models", [_step(1), _step(2)])
        session.histories.add(
            spring.no, "models", [_step(2, score=7.0), _step(2, score=8.0), _step(3)]
        )
    with store.write() as session:
        session.histories.add(spring.no, "models", [_step(1, score=None)])
    with store.read() as session:
        result = session.histories.of(spring.no, "models", "ada")
    assert result == [_step(1, score=None), _step(2, score=8.0), _step(3)]


def _names(store: Store, contest: Contest, begins: str, **options: Any) -> list[str]:
    with store.read() as session:
        return session.histories.names(contest.no, "models", begins=begins, **options)


def test_ids_are_found_by_how_they_begin(store: Store, spring: Contest) -> None:
    """A search knows the first letters, and an id has many steps or one."""
    last = chr(sys.maxunicode)
    odd = ["a", "ad", "ada", f"ada{last}", "ada😀", "adb", "Ada", "a%", "a_a", "é", f"{last}z"]
    steps = [_step(seq, name=name) for name in odd for seq in (1, 2, 3)]
    with store.write() as session:
        session.histories.add(spring.no, "models", steps)
        session.histories.add(spring.no, "judges", [_step(1, name="adam")])
    for begins in ("a", "ada", f"ada{last}", "ad", "A", "a%", "a_", "é", last, "zz"):
        assert _names(store, spring, begins) == sorted(n for n in odd if n.startswith(begins))
    assert _names(store, spring, "a", limit=2) == ["a", "a%"]
    assert _names(store, spring, "a", after="a%", limit=2) == ["a_a", "ad"]
    assert _names(store, spring, "a", after="zz") == []


def test_ids_of_later_positions_alone_are_left_out(store: Store, spring: Contest) -> None:
    """No name of after the freeze is listed, however many are new."""
    late = [_step(9, name=f"b{n:03}") for n in range(100)]
    with store.write() as session:
        session.histories.add(spring.no, "models", [*late, _step(5, name="bob"), _step(9)])
    assert _names(store, spring, "b", until=5) == ["bob"]
    assert _names(store, spring, "b", until=4) == []
    assert len(_names(store, spring, "b", until=9, limit=500)) == 101
