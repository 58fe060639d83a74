"""Change sets in a database."""

from dataclasses import replace

import pytest

from agon.entities.contests import Change, Contest, StepCause
from agon.errors import NotFound
from agon.store.session import Store
from store.factories import contest, later

pytestmark = pytest.mark.one_database


def _change(contest_no: int, name: str = "c1", *, at: float = 0) -> Change:
    return Change(
        id=name, contest_no=contest_no, kind="rules", params={"overrides": {"k": 16}}, reason="r",
        state="proposed", proposed_by="user:ada", proposed_at=later(at),
    )  # fmt: skip


def test_a_change_set_is_saved_new_and_known(store: Store, spring: Contest) -> None:
    """One call for both: use cases replace values and save them."""
    change = _change(spring.no)
    done = replace(
        change, state="rolled-back", report={"moved": [{"id": "a", "before": 1.5}]}, dry_run_at=3,
        applied_at=4, rolled_back_at=9,
    )  # fmt: skip
    with store.write() as session:
        session.changes.save(change)
        assert session.changes.get(spring.no, "c1") == change
        session.changes.save(done)
    with store.read() as session:
        assert session.changes.get(spring.no, "c1") == done


def test_a_change_set_belongs_to_its_contest(store: Store, spring: Contest) -> None:
    """An organiser of one contest must not reach another's by its id."""
    with store.write() as session:
        other = session.contests.add(contest("autumn"))
        session.changes.save(_change(other.no))
        with pytest.raises(NotFound, match="'c1'"):
            session.changes.get(spring.no, "c1")


def test_change_sets_are_listed_as_proposed(store: Store, spring: Contest) -> None:
    """Ids may be in any order; time is what people mean."""
    with store.write() as session:
        for name, at in [("z", 0), ("b", 1), ("a", 1), ("y", 3)]:
            session.changes.save(_change(spring.no, name, at=at))
    with store.read() as session:
        page = session.changes.page
        assert [one.id for one in page(spring.no)] == ["z", "a", "b", "y"]
        assert [one.id for one in page(spring.no, after="a", limit=1)] == ["b"]


def test_positions_show_which_change_sets_were_made_there(store: Store, spring: Contest) -> None:
    """Histories name them; those of others and those outside the bounds are left out."""
    done = replace(_change(spring.no), state="rolled-back", applied_at=4, rolled_back_at=9)
    with store.write() as session:
        session.changes.save(done)
        session.changes.save(_change(spring.no, "c2"))
        other = session.contests.add(contest("autumn"))
        session.changes.save(replace(_change(other.no), state="applied", applied_at=5))
    applied = StepCause(change="c1", kind="rules", reason="r", rolled_back=False)
    with store.read() as session:
        assert session.changes.causes_between(spring.no, 4, 8) == {4: applied}
        assert session.changes.causes_between(spring.no, 5, 9) == {
            9: replace(applied, rolled_back=True)
        }
        assert session.changes.causes_between(spring.no, 10, 12) == {}
