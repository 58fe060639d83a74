"""Ids of events: the same in every process, of one contest, and nothing to count by."""

import pytest

from agon.app.service import SigningKey
from agon.errors import Unreadable
from agon.http.event_ids import EventIds

IDS = EventIds(SigningKey(bytes(32)))


def test_a_number_comes_back_from_its_id_in_every_process() -> None:
    """A stream that was cut goes on at another process of the server."""
    other = EventIds(SigningKey(bytes(32)))
    for number in (1, 2, 255, 256, 2**62):
        assert other.number("spring", IDS.text("spring", number)) == number
    assert IDS.number("spring", "0") == 0


def test_an_id_is_of_one_contest_and_one_instance() -> None:
    """One that is guessed, or of another contest, is refused."""
    foreign = EventIds(SigningKey(bytes(31) + b"x"))
    for text in (IDS.text("autumn", 7), foreign.text("spring", 7), "0" * 32):
        with pytest.raises(Unreadable, match="not the id of an event"):
            IDS.number("spring", text)


def test_ids_neither_rise_nor_resemble_one_another() -> None:
    """Two events tell nothing of how many lie between them."""
    ids = [IDS.text("spring", number) for number in range(1, 200)]
    assert len(set(ids)) == len(ids)
    assert ids != sorted(ids)
    assert len({one[:4] for one in ids}) > 150
    assert len({one[-4:] for one in ids}) > 150
