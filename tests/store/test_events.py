"""Events in a database."""

import threading
from dataclasses import replace

import pytest

from agon.entities.contests import Contest, Event
from agon.store.session import Store
from store.factories import contest, later

pytestmark = pytest.mark.one_database


def _event(contest_no: int, seq: int, *, staff: bool = False) -> Event:
    return Event(
        no=0, contest_no=contest_no, seq=seq, at=later(seq), kind="snapshot-published",
        body={"board": "models", "n": seq}, staff=staff,
    )  # fmt: skip


@pytest.mark.exhaustive
def test_a_stream_resumes_after_the_last_event_it_saw(store: Store, spring: Contest) -> None:
    """A reader that lost its connection misses nothing and sees nothing twice."""
    with store.write() as session:
        assert session.events.last() == 0
        other = session.contests.add(contest("autumn"))
        given = [
            _event(spring.no, 1),
            _event(other.no, 9),
            _event(spring.no, 2, staff=True),
            _event(spring.no, 3),
        ]
        made = [session.events.add(event) for event in given]
    numbers = [event.no for event in made]
    assert numbers == sorted(set(numbers))
    with store.read() as session:
        assert session.events.last() == numbers[-1]
        assert session.events.after(0) == made
        assert made == [replace(one, no=no) for one, no in zip(given, numbers, strict=True)]
        mine = session.events.after(numbers[0], contest_no=spring.no)
        assert mine == [made[2], made[3]]
        assert session.events.after(0, contest_no=spring.no, until=2) == [made[0], made[2]]
        assert session.events.after(0, limit=1) == made[:1]


def test_no_event_appears_behind_one_that_was_read(store: Store, spring: Contest) -> None:
    """Numbers are in the order in which events become visible, or a stream would skip some."""
    entered = threading.Event()
    second: list[int] = []

    def add_another() -> None:
        entered.set()
        with store.write() as session:
            second.append(session.events.add(_event(spring.no, 2)).no)

    thread = threading.Thread(target=add_another)
    with store.write() as session:
        first = session.events.add(_event(spring.no, 1)).no
        thread.start()
        entered.wait()
        thread.join(0.2)  # it must still be waiting for this session's end
        with store.read() as reading:
            assert reading.events.after(0) == []
    thread.join()
    assert second[0] > first
