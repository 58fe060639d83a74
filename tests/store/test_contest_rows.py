"""Entities of contests with an id each: the one way in which small resources are stored."""

import pytest

from agon.entities.contests import Contest
from agon.entities.invitations import JoinRequest
from agon.errors import NotFound
from agon.store.session import Store
from store.factories import contest, later


def _request(contest_no: int, name: str, at: float = 0) -> JoinRequest:
    return JoinRequest(
        id=name, contest_no=contest_no, user="ada", role="judge", invitation="i1",
        created_at=later(at),
    )  # fmt: skip


def test_entities_are_found_listed_and_removed_by_contest_and_id(
    store: Store, spring: Contest
) -> None:
    """Pages follow the time, and the ids where it is equal, in both directions."""
    with store.write() as session:
        autumn = session.contests.add(contest("autumn"))
        for name, at in (("b", 1.0), ("a", 1.0), ("c", 0.0)):
            session.join_requests.add(_request(spring.no, name, at))
        session.join_requests.add(_request(autumn.no, "d"))
    with store.read() as session:
        rows = session.join_requests
        assert rows.find(spring.no, "b") == rows.get(spring.no, "b") == _request(spring.no, "b", 1)
        assert rows.find(spring.no, "d") is None
        listed = [each.id for each in rows.page(spring.no)]
        newest = [each.id for each in rows.page(spring.no, descending=True)]
        rest = [each.id for each in rows.page(spring.no, after="a", limit=1)]
        older = [each.id for each in rows.page(spring.no, after="a", limit=5, descending=True)]
        for missing in (rows.get, lambda no, name: rows.page(no, after=name)):
            with pytest.raises(NotFound, match="the contest has no request to join 'd'; list"):
                missing(spring.no, "d")
    assert (listed, newest) == (["c", "a", "b"], ["b", "a", "c"])
    assert (rest, older) == (["b"], ["c"])
    with store.write() as session:
        session.join_requests.save(_request(spring.no, "a", 2))
        session.join_requests.remove("b")
        assert [each.id for each in session.join_requests.page(spring.no)] == ["c", "a"]
