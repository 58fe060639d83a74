"""Test invitations: shown once, stored hashed, accepted by people without a token."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest

from agon.app.access.invitations import (
    Membership,
    NewInvitation,
    accept,
    invite,
    revoke_invitation,
)
from agon.app.access.permissions import ANONYMOUS
from agon.app.access.tokens import authenticate
from agon.app.access.users import create_user, users
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import finalize, open_contest
from agon.app.service import Service
from agon.errors import AgonError, Conflict, Forbidden, NotFound, Unreadable
from fakes.service import OPERATOR, ORGANISER, Clock

TIME = "2026-11-22T00:00:00Z"
NOT_VALID = "this invitation is not valid; ask the contest's organizer for another"
FAILED: list[tuple[str | None, dict[str, str], type[AgonError], str]] = [
    ("olga", {}, Conflict, "the user 'olga' is taken; choose another id"),
    ("x", {}, Conflict, "the user 'x' is taken"),
    ("judy", {}, Conflict, "the user 'judy' is taken"),
    ("Ada", {}, Unreadable, "is not a user's id"),
    ("a\x00", {}, Unreadable, "is not a user's id"),
    ("ada", {"name": "a\nb"}, Unreadable, "has the character U.000A"),
    (None, {}, Unreadable, "give one: user"),
]
"""Sign-ups that fail: id, further options, error and message."""
CODE = r"invite_[\w-]{22}_[\w-]{43}"


@pytest.fixture
def spring(service: Service) -> Service:
    """Open a contest of bots."""
    return _open(service)


@pytest.fixture
def on_both(either: Service) -> Service:
    """Open the contest on each database."""
    return _open(either)


def _open(service: Service) -> Service:
    create(service, NewContest(id="spring", discipline="arena", title="Spring"), by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    return service


def _invite(service: Service, **options: Any) -> str:
    return invite(service, "spring", NewInvitation(**options), by=ORGANISER)[1]


def _accept(service: Service, code: str, user: str | None, **options: Any) -> Membership:
    return accept(service, code, user=user, **{"by": ANONYMOUS, **options})


def test_a_person_who_accepts_becomes_a_user_with_a_token_for_the_contest(spring: Service) -> None:
    """The account is as old as the sign-up, and neither code nor token is stored."""
    invitation, code = invite(spring, "spring", NewInvitation(note="mail"), by=ORGANISER)
    assert re.fullmatch(CODE, code)
    clock = spring.clock
    assert isinstance(clock, Clock)
    before = clock.at
    accepted = _accept(spring, code, "ada", name="Ada L.")
    assert (accepted.contest, accepted.user.id, accepted.user.name) == ("spring", "ada", "Ada L.")
    assert before < accepted.user.created_at <= clock.at
    caller = authenticate(spring, accepted.text)
    assert (caller.user, caller.role, caller.contests) == ("ada", "participant", ("spring",))
    with spring.store.read() as session:
        assert session.access.user("ada") == accepted.user
        [stored] = session.invitations.page(1)
        logged = session.access.audit_entries()
    assert (stored.id, stored.uses, stored.max_uses) == (invitation.id, 1, 1)
    assert [entry.action for entry in logged[:2]] == ["invitation.accept", "invitation.create"]
    assert logged[0].detail == {
        "contest": "spring", "user": "ada", "role": "participant", "token": accepted.token.id,
    }  # fmt: skip
    for secret in (code[-43:], accepted.text[-43:]):
        assert secret not in repr((stored, logged))


def test_every_code_that_is_not_valid_has_the_same_error(spring: Service) -> None:
    """Trying codes discloses neither which exist nor why one ended."""
    used, revoked, short, ended = (_invite(spring) for _ in range(4))
    _accept(spring, used, "ada")
    name = revoked.split("_", 1)[1][:22]
    assert revoke_invitation(spring, "spring", name, by=ORGANISER).revoked_at is not None
    again = revoke_invitation(spring, "spring", name, by=ORGANISER)
    assert again == revoke_invitation(spring, "spring", name, by=ORGANISER)
    expiring = _invite(spring, expires_at=spring.clock() + timedelta(seconds=9))
    clock = spring.clock
    assert isinstance(clock, Clock)
    clock.at += timedelta(seconds=9)
    other = short[:-1] + ("A" if short[-1] != "A" else "B")
    for code in (used, revoked, expiring, other, "", "x", "invite_é", short + "\n"):
        with pytest.raises(NotFound, match=NOT_VALID):
            _accept(spring, code, "ada")  # a name that is taken does not change the error
    finalize(spring, "spring", by=ORGANISER)
    with pytest.raises(NotFound, match=NOT_VALID):
        _accept(spring, ended, "eve")
    assert [user.id for user in users(spring)] == ["ada"]


def test_a_failed_sign_up_uses_nothing_up(spring: Service) -> None:
    """Ids of users, of records and of judges who voted are taken; another try succeeds."""
    create_user(spring, user="olga", by=OPERATOR)
    rows = [
        *(("bots", {"id": name, "name": name}, None) for name in ("x", "y")),
        ("matches", {"id": "m1", "played_at": TIME, "bot_a": "x", "bot_b": "y", "kind": "rated"},
         None),
        ("votes", {"match_id": "m1", "judge_id": "judy", "shown_first": "a", "vote": "A",
                   "voted_at": TIME}, None),
    ]  # fmt: skip
    record(spring, "spring", rows, by=ORGANISER)
    publish(spring, "spring")
    code = _invite(spring, role="judge")
    for user, options, error, message in FAILED:
        with pytest.raises(error, match=message):
            _accept(spring, code, user, **options)
    assert _accept(spring, code, "free").token.role == "judge"


def test_an_invitation_for_a_user_gives_an_id_of_the_records(spring: Service) -> None:
    """The organizer vouches that this person is the one in the records."""
    record(spring, "spring", [("bots", {"id": "x", "name": "x"}, None)], by=ORGANISER)
    code = _invite(spring, user="x")
    with pytest.raises(Conflict, match="this invitation is for the user x; leave the user out"):
        _accept(spring, code, "y")
    assert _accept(spring, code, None).user.id == "x"


def test_a_user_with_a_token_joins_as_the_same_user(spring: Service) -> None:
    """Seasons have the same participants."""
    code = _invite(spring, max_uses=3)
    ada = authenticate(spring, _accept(spring, code, "ada").text)
    create(spring, NewContest(id="autumn", discipline="arena", title="A"), by=ORGANISER)
    _, autumn = invite(spring, "autumn", NewInvitation(max_uses=5), by=ORGANISER)
    again = accept(spring, autumn, user=None, by=ada)
    assert (again.user.id, again.token.contests) == ("ada", ("autumn",))
    with pytest.raises(Forbidden, match="this token is of the user ada"):
        accept(spring, autumn, user="eve", by=ada)
    with pytest.raises(Forbidden, match="a token with scopes accepts no invitation"):
        accept(spring, autumn, user=None, by=replace(ada, scopes=("contest.read",)))
    _, eve = invite(spring, "autumn", NewInvitation(user="eve"), by=ORGANISER)
    with pytest.raises(Conflict, match="is for the user eve, not for ada"):
        accept(spring, eve, user=None, by=ada)
    assert [user.id for user in users(spring)] == ["ada"]


def test_invalid_invitations_are_rejected(spring: Service) -> None:
    """Nothing is created that could never be accepted."""
    past = datetime(2026, 1, 1, tzinfo=UTC)
    for options, message in (
        ({"expires_at": past}, "is in the past"),
        ({"user": "ada", "max_uses": 2}, "accepted once"),
    ):
        with pytest.raises(Unreadable, match=message):
            _invite(spring, **options)
    with pytest.raises(NotFound, match="spring has no invitation 'x'"):
        revoke_invitation(spring, "spring", "x", by=ORGANISER)
    create(spring, NewContest(id="autumn", discipline="arena", title="A"), by=ORGANISER)
    invitation, _ = invite(spring, "autumn", NewInvitation(), by=ORGANISER)
    with pytest.raises(NotFound, match="spring has no invitation"):
        revoke_invitation(spring, "spring", invitation.id, by=ORGANISER)
    finalize(spring, "spring", by=ORGANISER)
    with pytest.raises(Conflict, match="spring is final and takes nothing more; invite to"):
        _invite(spring)


def test_the_last_use_and_an_id_go_to_exactly_one_of_several(on_both: Service) -> None:
    """Of six people at once two become users; of two with the same id one gets it."""

    def join(code: str, user: str, together: Barrier) -> str | None:
        together.wait()
        try:
            return _accept(on_both, code, user).user.id
        except (NotFound, Conflict):
            return None

    def join_all(code: str, ids: list[str]) -> list[str]:
        together = Barrier(len(ids))
        with ThreadPoolExecutor(len(ids)) as pool:
            joined = pool.map(lambda user: join(code, user, together), ids)
            return [user for user in joined if user is not None]

    two = join_all(_invite(on_both, max_uses=2), [f"u{number}" for number in range(6)])
    assert len(two) == 2
    code = _invite(on_both, max_uses=2)
    assert join_all(code, ["ada", "ada"]) == ["ada"]
    assert _accept(on_both, code, "bob").user.id == "bob", "the other use is not lost"
    assert {user.id for user in users(on_both)} == {*two, "ada", "bob"}
