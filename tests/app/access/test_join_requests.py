"""Invitations that ask for approval: until an organizer approves, a person is a viewer."""

from typing import Any

import pytest

from agon.app.access import join_requests, sessions
from agon.app.access.invitations import Membership, NewInvitation, accept, invite
from agon.app.access.permissions import ANONYMOUS, find_view, permits
from agon.app.access.tokens import authenticate, revoke_token
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.service import Service
from agon.entities.invitations import JoinRequest
from agon.errors import Conflict, NotFound, Unauthenticated
from fakes.service import ORGANISER

pytestmark = [pytest.mark.sample(1), pytest.mark.usefixtures("quick_hashes")]
"""Each test runs with one kind of database, client or source; `make test-all` tries all."""

PASSWORD = "correct horse battery"  # noqa: S105 (of a test)


@pytest.fixture
def spring(either: Service) -> Service:
    """Open a private contest on each database."""
    new = NewContest(id="spring", discipline="arena", title="Spring", visibility="private")
    create(either, new, by=ORGANISER)
    return either


def join(service: Service, user: str, **options: Any) -> Membership:
    """Let a person accept an invitation to judge that asks for approval."""
    new = NewInvitation(role="judge", approval=True)
    _, code = invite(service, "spring", new, by=ORGANISER)
    return accept(service, code, user=user, **{"by": ANONYMOUS, **options})


def waiting(service: Service) -> list[JoinRequest]:
    """Return who waits."""
    with service.store.read() as session:
        return session.join_requests.page(session.contests.get("spring").no)


def may_judge(service: Service, text: str) -> bool:
    """Return whether a token's caller may ask for work and see the contest."""
    caller = authenticate(service, text)
    with service.store.read() as session:
        contest = session.contests.get("spring")
        try:
            find_view(session, "spring", caller, now=service.clock())
        except NotFound:
            assert not permits(caller, "work.judge", contest=contest)
            return False
    return permits(caller, "work.judge", contest=contest)


def test_a_person_judges_from_the_approval_on_and_sees_nothing_private_before(
    spring: Service,
) -> None:
    """The token and the sessions stay the same, so that nobody signs in again."""
    member = join(spring, "judy", password=PASSWORD)
    assert (member.role, member.waits, member.token.role) == ("judge", True, "viewer")
    begun = sessions.sign_in_with_token(spring, member.text)
    later = sessions.sign_in_with_password(spring, user="judy", password=PASSWORD)
    texts = [member.text, begun, later]
    assert [may_judge(spring, text) for text in texts] == [False] * 3
    (request,) = waiting(spring)
    assert (request.user, request.role, request.created_at) == (
        "judy", "judge", member.token.created_at
    )  # fmt: skip
    assert join_requests.approve(spring, "spring", request.id, by=ORGANISER) == request
    assert [may_judge(spring, text) for text in texts] == [True] * 3
    assert waiting(spring) == []
    for decide in (join_requests.approve, join_requests.reject):
        with pytest.raises(NotFound, match="no request to join"):
            decide(spring, "spring", request.id, by=ORGANISER)


def test_who_is_rejected_has_no_token_any_more(spring: Service) -> None:
    """Others who wait are not concerned."""
    eve, judy = join(spring, "eve"), join(spring, "judy")
    session = sessions.sign_in_with_token(spring, eve.text)
    join_requests.reject(spring, "spring", eve.token.id, by=ORGANISER)
    for text in (eve.text, session):
        with pytest.raises(Unauthenticated):
            authenticate(spring, text)
    assert [request.user for request in waiting(spring)] == ["judy"]
    assert authenticate(spring, judy.text).user == "judy"


def test_an_approval_gives_nothing_back_that_was_revoked(spring: Service) -> None:
    """A token that its owner revoked stays revoked; another contest's organizer decides nothing."""
    member = join(spring, "judy")
    create(spring, NewContest(id="autumn", discipline="arena", title="A"), by=ORGANISER)
    for decide in (join_requests.approve, join_requests.reject):
        with pytest.raises(NotFound):
            decide(spring, "autumn", member.token.id, by=ORGANISER)
    revoke_token(spring, member.token.id, by=ORGANISER)
    with pytest.raises(Conflict, match="was revoked"):
        join_requests.approve(spring, "spring", member.token.id, by=ORGANISER)
    join_requests.reject(spring, "spring", member.token.id, by=ORGANISER)
    assert waiting(spring) == []


def test_a_user_keeps_the_rights_it_has_while_it_waits_for_more(spring: Service) -> None:
    """A participant who wants to judge goes on taking part."""
    _, code = invite(spring, "spring", NewInvitation(), by=ORGANISER)
    first = accept(spring, code, user="ada", by=ANONYMOUS)
    own = authenticate(spring, first.text)
    second = join(spring, "ada", by=own)
    with spring.store.read() as session:
        contest = session.contests.get("spring")
    assert permits(authenticate(spring, first.text), "bot.manage", contest=contest)
    assert not permits(authenticate(spring, second.text), "bot.manage", contest=contest)


def test_requests_are_listed_in_pages(spring: Service) -> None:
    """Those who wait longest first; one that was decided is no place to go on from."""
    members = [join(spring, name) for name in ("cleo", "ada", "bob")]
    with spring.store.read() as session:
        no = session.contests.get("spring").no
        first = session.join_requests.page(no, limit=1)
        rest = session.join_requests.page(no, after=first[-1].id)
    assert [request.user for request in (*first, *rest)] == ["cleo", "ada", "bob"]
    join_requests.approve(spring, "spring", members[0].token.id, by=ORGANISER)
    with spring.store.read() as session, pytest.raises(NotFound):
        session.join_requests.page(no, after=first[-1].id)
