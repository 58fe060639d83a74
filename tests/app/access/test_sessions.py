"""Test sessions of the site: begun by a token or by a password, with the rights of the moment."""

from dataclasses import replace
from datetime import timedelta

import pytest

from agon.app.access.invitations import NewInvitation, accept, invite
from agon.app.access.permissions import ANONYMOUS, permits, view_of
from agon.app.access.sessions import (
    begin_with_password,
    extend_session,
    sign_in_with_password,
    sign_in_with_token,
    sign_out,
)
from agon.app.access.tokens import (
    Grant,
    authenticate,
    create_token,
    public_id,
    revoke_token,
    tokens,
)
from agon.app.access.users import create_user, disable_user, set_password
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.entities.access import Caller, Everywhere, Right, Role
from agon.errors import Forbidden, NotFound, Unauthenticated
from fakes.service import OPERATOR, ORGANISER, Clock

PASSWORD = "correct horse battery"  # noqa: S105 (of a test)
PUBLIC_READER = (Right(role="viewer", contests=Everywhere.PUBLIC),)

pytestmark = pytest.mark.usefixtures("quick_hashes")


@pytest.fixture
def contests(service: Service) -> Service:
    """Create an open contest, another one and a private one; ada has a password."""
    for name, visibility in (("spring", "public"), ("autumn", "public"), ("secret", "private")):
        new = NewContest(id=name, discipline="dojo", title=name, visibility=visibility)  # type: ignore[arg-type]  # a literal
        create(service, new, by=ORGANISER)
        open_contest(service, name, by=ORGANISER)
    create_user(service, user="ada", password=PASSWORD, by=OPERATOR)
    return service


def _sign_in(service: Service, user: str = "ada") -> str:
    return sign_in_with_password(service, user=user, password=PASSWORD)


def _token(service: Service, role: Role = "participant", **grant: object) -> tuple[str, str]:
    """Create a token of ada; return its id and its text."""
    made = replace(Grant(user="ada", role=role), **grant)  # type: ignore[arg-type]  # by name
    token, text = create_token(service, made, by=OPERATOR)
    return token.id, text


def _sees(service: Service, caller: Caller, name: str) -> bool:
    with service.store.read() as session:
        contest = session.contests.get(name)
    try:
        view_of(contest, caller)
    except NotFound:
        return False
    return True


@pytest.mark.parametrize("ended", ["none", "revoked", "expired", "worker"])
def test_a_password_without_a_valid_token_reads_what_is_public(
    contests: Service, ended: str
) -> None:
    """An absent token gave every private contest."""
    if ended == "revoked":
        revoke_token(contests, _token(contests, contests=("secret",))[0], by=OPERATOR)
    elif ended == "expired":
        _token(contests, contests=("secret",), days=1e-9)
    elif ended == "worker":
        _token(contests, "worker", contests=Everywhere.ALL)
    caller = authenticate(contests, _sign_in(contests))
    assert caller.rights == PUBLIC_READER
    assert (_sees(contests, caller, "spring"), _sees(contests, caller, "secret")) == (True, False)


def test_a_password_opens_the_contests_of_all_tokens_as_they_change(contests: Service) -> None:
    """The session of before sees a token that is added, and loses one that is revoked."""
    first, _ = _token(contests, contests=("secret",))
    text = _sign_in(contests)
    assert authenticate(contests, text).contests == ("secret",)
    _token(contests, "judge", contests=("autumn",), days=1)
    caller = authenticate(contests, text)
    assert {right.role: right.contests for right in caller.rights} == {
        "judge": ("autumn",), "participant": ("secret",),
    }  # fmt: skip
    revoke_token(contests, first, by=OPERATOR)
    narrowed = authenticate(contests, text)
    assert narrowed.rights == (Right(role="judge", contests=("autumn",)),)
    assert not _sees(contests, narrowed, "secret")
    with contests.store.write() as session:  # the judge's token expires before the session does
        for token in session.access.tokens(user="ada"):
            if token.role == "judge":
                session.access.save_token(replace(token, expires_at=contests.clock()))
    assert authenticate(contests, text).rights == PUBLIC_READER
    disable_user(contests, user="ada", by=OPERATOR)
    with pytest.raises(Unauthenticated):
        authenticate(contests, text)


def test_a_token_s_session_has_its_rights_only(contests: Service) -> None:
    """Who signs in with a narrow token on a foreign machine does not open everything."""
    _token(contests, contests=("secret",))
    _, judge = _token(contests, "judge", contests=("autumn",), scopes=("vote",))
    text = sign_in_with_token(contests, judge)
    assert authenticate(contests, text).rights == authenticate(contests, judge).rights


def test_equal_tokens_are_one_right(contests: Service) -> None:
    """People lose tokens and get others; a hundred do not slow each request down."""
    for _ in range(3):
        _token(contests, contests=("spring",))
    assert len(authenticate(contests, _sign_in(contests)).rights) == 1


def test_signing_in_ends_the_browser_s_former_session_and_no_other(contests: Service) -> None:
    """A copied cookie is worth nothing after the next sign-in."""
    _, token = _token(contests)
    other = _sign_in(contests)
    first = sign_in_with_token(contests, token)
    second = sign_in_with_password(contests, user="ada", password=PASSWORD, former=first)
    with pytest.raises(Unauthenticated):
        authenticate(contests, first)
    third = sign_in_with_token(contests, token, former=second)
    with pytest.raises(Unauthenticated):
        authenticate(contests, second)
    assert {authenticate(contests, text).user for text in (other, third, token)} == {"ada"}


def test_a_cookie_ends_no_session_whose_secret_it_lacks(contests: Service) -> None:
    """Ids of tokens are listed for operators, so one alone proves nothing; nor are tokens ended."""
    _, token = _token(contests)
    session = _sign_in(contests)
    for former in (session[:-4] + "AAAA", public_id(session), token, "", "agon_\ud800", "x" * 999):
        sign_in_with_token(contests, token, former=former)
    sign_out(contests, token, by=OPERATOR)
    assert authenticate(contests, session).user == authenticate(contests, token).user == "ada"


def test_a_failed_sign_in_ends_nothing(contests: Service) -> None:
    """A mistyped password does not sign out."""
    session = _sign_in(contests)
    with pytest.raises(Unauthenticated):
        sign_in_with_password(contests, user="ada", password="wrong", former=session)  # noqa: S106
    assert authenticate(contests, session).user == "ada"


def test_a_session_begins_one_that_lasts_no_longer(contests: Service) -> None:
    """A copied cookie would be renewed forever otherwise."""
    assert isinstance(contests.clock, Clock)
    session = _sign_in(contests)
    for _ in range(3):
        contests.clock.at += timedelta(hours=3)
        session = sign_in_with_token(contests, session, former=session)
    contests.clock.at += timedelta(hours=4)
    with pytest.raises(Unauthenticated):
        authenticate(contests, session)


def test_joining_while_signed_in_by_a_token_keeps_both_contests(contests: Service) -> None:
    """Each ends with its own token."""
    first, token = _token(contests, contests=("spring",))
    session = sign_in_with_token(contests, token)
    by = authenticate(contests, session)
    _, code = invite(contests, "autumn", NewInvitation(role="judge"), by=ORGANISER)
    joined = accept(contests, code, user=None, by=by)
    both = extend_session(contests, joined.text, former=session, by=by)
    assert {right.role for right in authenticate(contests, both).rights} == {"participant", "judge"}
    with pytest.raises(Unauthenticated):
        authenticate(contests, session)
    revoke_token(contests, first, by=OPERATOR)
    assert authenticate(contests, both).rights == (Right(role="judge", contests=("autumn",)),)
    revoke_token(contests, joined.token.id, by=OPERATOR)
    with pytest.raises(Unauthenticated):
        authenticate(contests, both)


def test_joining_while_signed_in_by_a_password_changes_no_session(contests: Service) -> None:
    """It has the rights of the new token at once."""
    session = _sign_in(contests)
    for name in ("spring", "autumn"):
        _, code = invite(contests, name, NewInvitation(), by=ORGANISER)
        by = authenticate(contests, session)
        joined = accept(contests, code, user=None, by=by)
        assert extend_session(contests, joined.text, former=session, by=by) == session
    assert {right.contests for right in authenticate(contests, session).rights} == {
        ("spring",), ("autumn",),
    }  # fmt: skip


def test_a_password_ends_sessions_of_both_kinds(contests: Service) -> None:
    """Who changes a password wants others out."""
    _, token = _token(contests)
    sessions = [_sign_in(contests), sign_in_with_token(contests, token)]
    set_password(contests, user="ada", password=PASSWORD[::-1], by=OPERATOR)
    for session in sessions:
        with pytest.raises(Unauthenticated):
            authenticate(contests, session)
    assert authenticate(contests, token).user == "ada"


def test_a_label_makes_no_session(contests: Service) -> None:
    """A token that was created with the text of a session's label keeps its own rights."""
    _token(contests, contests=("secret",))
    _, text = _token(contests, "viewer", label="session of the site", contests=("spring",))
    assert authenticate(contests, text).rights == (Right(role="viewer", contests=("spring",)),)
    set_password(contests, user="ada", password=PASSWORD[::-1], by=OPERATOR)
    assert authenticate(contests, text).user == "ada"


def test_a_worker_s_token_begins_no_session(contests: Service) -> None:
    """Workers are programs."""
    _, text = _token(contests, "worker", contests=Everywhere.ALL)
    with pytest.raises(Forbidden, match="sign in with one of a person"):
        sign_in_with_token(contests, text)


def test_an_organizer_manages_a_private_contest_of_their_own(contests: Service) -> None:
    """Without --contest a token covers public contests, and those that its user created."""
    _, text = _token(contests, "organiser")
    new = NewContest(id="own", discipline="dojo", title="O", visibility="private")
    own = create(contests, new, by=authenticate(contests, text))
    ada = authenticate(contests, text)
    assert permits(ada, "contest.manage", contest=own)
    assert (_sees(contests, ada, "own"), _sees(contests, ada, "secret")) == (True, False)
    narrow = authenticate(contests, _token(contests, "organiser", contests=("spring",))[1])
    assert not permits(narrow, "contest.manage", contest=own)
    assert not _sees(contests, ANONYMOUS, "own")


def test_revoking_a_token_shows_its_sessions_as_revoked(contests: Service) -> None:
    """An operator who looks at the list sees what ended."""
    name, text = _token(contests)
    sign_in_with_token(contests, text)
    begin_with_password(contests, "ada")
    revoke_token(contests, name, by=OPERATOR)
    listed = {token.session: token.revoked_at is not None for token in tokens(contests)}
    assert listed == {None: True, "token": True, "password": False}
