"""Contests in a database."""

from dataclasses import replace

import pytest

from agon.entities.contests import Contest
from agon.errors import Conflict, NotFound
from agon.store.session import Store
from store.factories import contest, later

pytestmark = pytest.mark.one_database


def test_a_contest_comes_back_as_it_was_stored(store: Store) -> None:
    """What the database holds is the value, nothing rounded, renamed or lost."""
    made = contest(
        overrides={"k": 32, "nested": {"a": [1, 2.5, None]}}, boards=("models", "judges"),
        series="seasons", season=3, description="Größe 📏", head=bytes(range(32)), seq=12,
        frozen_at=5, finalized_at=9, visibility="private", state="final", starts_at=later(3),
        ends_at=later(8),
    )  # fmt: skip
    with store.write() as session:
        added = session.contests.add(made)
    with store.read() as session:
        assert session.contests.get("spring") == replace(made, no=added.no)
        assert session.contests.by_no(added.no) == added


def test_an_id_is_taken_once(store: Store, spring: Contest) -> None:
    """Addresses must mean one contest."""
    with pytest.raises(Conflict, match="'spring' exists"), store.write() as session:
        session.contests.add(contest())
    assert spring.no > 0


def test_an_unknown_id_is_answered_with_the_closest_public_one(store: Store) -> None:
    """A misspelled id should cost no search; the id of a private contest is not shown."""
    with store.write() as session:
        session.contests.add(contest("autumn-2026", visibility="private"))
        session.contests.add(contest("spring-2026"))
        with pytest.raises(NotFound, match="did you mean spring-2026"):
            session.contests.get("sprng-2026")
        with pytest.raises(NotFound) as caught:
            session.contests.lock("autumn-2025")
    assert "autumn-2026" not in str(caught.value)


def test_saving_changes_what_may_change(store: Store, spring: Contest) -> None:
    """The ledger's newest entry decides all but id, number and birth."""
    moved = replace(spring, state="open", seq=2, head=b"h" * 32, boards=("a", "b"), frozen_at=2)
    with store.write() as session:
        locked = session.contests.lock("spring")
        session.contests.save(replace(moved, created_at=later(9)))
    assert locked == spring
    with store.read() as session:
        assert session.contests.get("spring") == moved


def test_saving_what_is_not_there_is_refused(store: Store) -> None:
    """A silent no-op would lose a head."""
    with pytest.raises(NotFound), store.write() as session:
        session.contests.save(contest())


def test_pages_are_in_byte_order_of_ids_and_filtered(store: Store) -> None:
    """Both databases give the same pages, whatever the server's language."""
    ids = ["a", "B", "ä", "a-1", "a.1", "z"]
    with store.write() as session:
        for name in ids:
            session.contests.add(contest(name, series="s" if name in {"a", "z"} else None))
        session.contests.add(contest("dojo", discipline="dojo"))
    with store.read() as session:
        listed = [one.id for one in session.contests.page(disciplines=["arena"])]
        assert listed == sorted(ids, key=str.encode)
        assert [one.id for one in session.contests.page(after="a.1", limit=2)] == ["dojo", "z"]
        assert [one.id for one in session.contests.page(series="s")] == ["a", "z"]
