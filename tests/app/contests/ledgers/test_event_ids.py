"""Event ids: equal in every process, bound to a contest, and not countable."""

import pytest

from agon.app.contests.ledgers.event_ids import EventIds
from agon.app.service import SigningKey
from agon.errors import Unreadable

IDS = EventIds(SigningKey(bytes(32)))


def test_every_process_decodes_an_id_to_its_number() -> None:
    """An interrupted stream may resume in another process of the server."""
    other = EventIds(SigningKey(bytes(32)))
    for number in (1, 2, 255, 256, 2**62):
        assert other.number("spring", IDS.text("spring", number)) == number
    assert IDS.number("spring", "0") == 0


def test_an_id_is_bound_to_one_contest_and_instance() -> None:
    """Guessed ids and ids of other contests are rejected."""
    foreign = EventIds(SigningKey(bytes(31) + b"x"))
    for text in (IDS.text("autumn", 7), foreign.text("spring", 7), "0" * 32):
        with pytest.raises(Unreadable, match="not the id of an event"):
            IDS.number("spring", text)


def test_ids_are_neither_sorted_nor_similar() -> None:
    """Two ids must not reveal how many events lie between them."""
    ids = [IDS.text("spring", number) for number in range(1, 200)]
    assert len(set(ids)) == len(ids)
    assert ids != sorted(ids)
    assert len({id_[:4] for id_ in ids}) > 150
    assert len({id_[-4:] for id_ in ids}) > 150
