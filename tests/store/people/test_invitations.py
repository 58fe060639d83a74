"""Invitations in a database."""

from dataclasses import replace

import pytest

from agon.entities.contests import Contest
from agon.entities.invitations import Invitation
from agon.errors import NotFound
from agon.store.session import Store
from store.factories import contest, later

pytestmark = pytest.mark.one_database


def _invitation(contest_no: int, name: str = "i1", at: float = 0) -> Invitation:
    return Invitation(
        id=name, contest_no=contest_no, role="judge", secret_sha256=bytes(range(32)), user="judy",
        max_uses=3, uses=0, created_at=later(at), expires_at=None, note="Größe 📏", by="user:olga",
    )  # fmt: skip


def test_an_invitation_comes_back_as_it_was_stored(store: Store, spring: Contest) -> None:
    """Every field, also those that are None."""
    plain = _invitation(spring.no)
    used = replace(plain, uses=2, expires_at=later(5), revoked_at=later(6), user=None)
    with store.write() as session:
        session.invitations.add(plain)
        assert session.invitations.lock("i1") == plain
        session.invitations.save(used)
        assert session.invitations.lock("none") is None
    with store.read() as session:
        assert session.invitations.page(spring.no) == [used]


def test_a_revoked_invitation_stays_revoked(store: Store, spring: Contest) -> None:
    """An acceptance that read it before saves it after."""
    plain = _invitation(spring.no)
    with store.write() as session:
        session.invitations.add(plain)
        session.invitations.save(replace(plain, revoked_at=later(1)))
        session.invitations.save(replace(plain, uses=1))
        stored = session.invitations.lock("i1")
    assert stored == replace(plain, uses=1, revoked_at=later(1))


def test_invitations_are_listed_by_contest_in_order_of_creation(
    store: Store, spring: Contest
) -> None:
    """Pages have neither gaps nor repetitions, also with equal times."""
    with store.write() as session:
        autumn = session.contests.add(contest("autumn"))
        for name, at in (("b", 1.0), ("a", 1.0), ("c", 0.0)):
            session.invitations.add(_invitation(spring.no, name, at))
        session.invitations.add(_invitation(autumn.no, "d"))
    with store.read() as session:
        names = [item.id for item in session.invitations.page(spring.no)]
        rest = [item.id for item in session.invitations.page(spring.no, after="c", limit=1)]
        with pytest.raises(NotFound):
            session.invitations.page(spring.no, after="none")
    assert (names, rest) == (["c", "a", "b"], ["a"])
