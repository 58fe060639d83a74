"""Users, tokens, answered requests and the audit log in a database."""

from dataclasses import replace

import pytest

from agon.entities.access import AuditEntry, Everywhere, StoredResponse, Token, User
from agon.errors import Conflict, NotFound
from agon.store.session import Store
from store.factories import NOON, later

pytestmark = pytest.mark.one_database

ADA = User(id="ada", name="Ada Ł", created_at=NOON, password="$argon2id$x")  # noqa: S106 - a hash


def _token(name: str = "t1", *, user: str = "ada") -> Token:
    return Token(
        id=name, user=user, label="laptop", role="organiser", secret_sha256=b"\x00" * 32,
        contests=Everywhere.ALL, scopes=(), created_at=NOON, expires_at=None,
    )  # fmt: skip


def _answer(key: str = "k", *, status: int = 0, at: float = 0) -> StoredResponse:
    return StoredResponse(
        caller="t1", key=key, request_sha256=b"r" * 32, status=status, headers={"etag": '"x"'},
        body=b"\x00\xff", at=later(at),
    )  # fmt: skip


def test_users_are_added_once_and_saved(store: Store) -> None:
    """A second ada would inherit the first one's tokens."""
    with store.write() as session:
        session.access.add_user(ADA)
        session.access.add_user(replace(ADA, id="bob", disabled=True))
        with pytest.raises(Conflict, match="'ada' exists"):
            session.access.add_user(replace(ADA, name="Eve"))
        assert session.access.user("ada") == ADA
        session.access.save_user(replace(ADA, disabled=True))
    with store.read() as session:
        assert session.access.user("ada") == replace(ADA, disabled=True)
        assert [one.id for one in session.access.users()] == ["ada", "bob"]
        assert [one.id for one in session.access.users(after="ada", limit=5)] == ["bob"]
        with pytest.raises(NotFound, match="did you mean bob"):
            session.access.user("bop")


def test_an_unknown_user_is_not_saved(store: Store) -> None:
    """Saving is for what is there."""
    with pytest.raises(NotFound, match="add one first"), store.write() as session:
        session.access.save_user(ADA)


def test_tokens_come_back_as_stored(store: Store) -> None:
    """No contest at all is not the same as every contest."""
    limited = replace(
        _token("t2"), contests=(), scopes=("records.add",), expires_at=later(9),
        revoked_at=later(1), used_at=later(2), session="token", sources=("t1", "t0"),
    )  # fmt: skip
    with store.write() as session:
        session.access.add_user(ADA)
        session.access.add_user(replace(ADA, id="bob"))
        session.access.add_token(_token())
        session.access.add_token(replace(limited, revoked_at=None))
        session.access.add_token(_token("t0", user="bob"))
        session.access.save_token(limited)
    with store.read() as session:
        assert session.access.token("t1") == _token()
        assert session.access.token("t2") == limited
        assert session.access.token("t9") is None
        assert [one.id for one in session.access.tokens()] == ["t0", "t1", "t2"]
        assert [one.id for one in session.access.tokens(user="ada", after="t1")] == ["t2"]


def test_a_revoked_token_stays_revoked_whatever_is_saved(store: Store) -> None:
    """A request that read it just before the revocation notes its use just after."""
    with store.write() as session:
        session.access.add_user(ADA)
        session.access.add_token(_token())
        read_before = session.access.token("t1")
        assert read_before is not None
        session.access.save_token(replace(read_before, revoked_at=later(5)))
    with store.write() as session:
        session.access.save_token(replace(read_before, used_at=later(6)))
        token = session.access.token("t1")
    assert token == replace(read_before, revoked_at=later(5), used_at=later(6))


def test_tokens_need_a_user_and_an_id_of_their_own(store: Store) -> None:
    """A token without a user could not be revoked."""
    with store.write() as session:
        with pytest.raises(NotFound, match="'ada'"):
            session.access.add_token(_token())
        session.access.add_user(ADA)
        session.access.add_token(_token())
        with pytest.raises(Conflict, match="token"):
            session.access.add_token(_token())
        with pytest.raises(NotFound, match="token"):
            session.access.save_token(_token("t9"))


def test_a_request_is_answered_once(store: Store) -> None:
    """The second of two equal requests must wait for the first one's answer, not act again."""
    with store.write() as session:
        assert session.access.response("t1", "k") is None
        assert session.access.add_response(_answer())
        assert not session.access.add_response(replace(_answer(), request_sha256=b"s" * 32))
        assert session.access.response("t1", "k") == _answer()
        session.access.save_response(_answer(status=201, at=3))
    with store.read() as session:
        assert session.access.response("t1", "k") == _answer(status=201, at=3)
        assert session.access.response("anonymous", "k") is None


def test_answers_are_forgotten_in_time(store: Store) -> None:
    """One that came to nothing frees its key; one that was given is not dropped by mistake."""
    with store.write() as session:
        for key, status, at in [("old", 200, 1), ("new", 200, 5), ("open", 0, 5)]:
            assert session.access.add_response(_answer(key, status=status, at=at))
        session.access.delete_pending_response("t1", "open")
        session.access.delete_pending_response("t1", "new")
        assert session.access.delete_responses(before=later(5), limit=0) == 0
        assert session.access.delete_responses(before=later(5), limit=2) == 1
        result = [session.access.response("t1", key) for key in ("old", "new", "open")]
    assert [answer is not None for answer in result] == [False, True, False]


def test_only_what_gives_no_sign_of_life_is_taken_over(store: Store) -> None:
    """A long request must not be done twice, nor one that died block its client."""
    again = _answer(at=20)
    with store.write() as session:
        session.access.add_response(_answer(at=0))
        session.access.touch_response("t1", "k", at=later(6))
        assert not session.access.take_over_response(again, lost_before=later(5))
        assert session.access.take_over_response(again, lost_before=later(6))
        assert not session.access.take_over_response(again, lost_before=later(6))
        session.access.save_response(_answer(status=201, at=20))
        session.access.touch_response("t1", "k", at=later(30))
        assert not session.access.take_over_response(again, lost_before=later(40))
        assert session.access.response("t1", "k") == _answer(status=201, at=20)


def test_the_audit_log_is_read_newest_first(store: Store) -> None:
    """Readers of the log need the latest rows first."""
    with store.write() as session:
        for place in range(3):
            session.access.add_audit_entry(
                AuditEntry(no=0, at=later(place), by="user:ada", action="contest.create",
                        target=f"c{place}", detail={"n": place}, network="ab" * 16)
            )  # fmt: skip
    with store.read() as session:
        lines = session.access.audit_entries()
        assert [line.target for line in lines] == ["c2", "c1", "c0"]
        assert lines[0].detail == {"n": 2}
        assert (lines[0].at, lines[0].network) == (later(2), "ab" * 16)
        assert session.access.audit_entries(before=lines[0].no, limit=1) == [lines[1]]
