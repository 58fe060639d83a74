"""Test tokens: shown once, stored hashed, rejected with one message."""

import re
from dataclasses import replace

import pytest
from pydantic import ValidationError

from agon.api.models.access import TokenCreate
from agon.app.access.tokens import Grant, authenticate, create_token, revoke_token, tokens
from agon.app.access.users import create_user, disable_user
from agon.app.service import Service
from agon.client.local import Local
from agon.entities.access import Caller, Everywhere
from agon.errors import Forbidden, NotFound, Unauthenticated, Unavailable, Unreadable
from fakes.service import JUDGE, OPERATOR, ORGANISER, Clock


@pytest.fixture(autouse=True)
def _ada(service: Service) -> None:
    create_user(service, user="ada", by=OPERATOR)


def _grant(**changed: object) -> Grant:
    return replace(Grant(user="ada", role="judge"), **changed)  # type: ignore[arg-type] # values by name


def test_a_token_identifies_its_user(service: Service) -> None:
    """The text is enough, and has the documented form."""
    _, text = create_token(service, _grant(scopes=("vote",)), by=OPERATOR)
    assert re.fullmatch(r"agon_[\w-]{22}_[\w-]{43}", text)
    caller = authenticate(service, text, network="abc")
    assert (caller.name, caller.user, caller.role) == ("user:ada", "ada", "judge")
    assert (caller.scopes, caller.contests, caller.network) == (
        ("vote",), Everywhere.PUBLIC, "abc"
    )  # fmt: skip


def test_no_id_looks_like_an_option(service: Service) -> None:
    """``agon token revoke -E_ou…`` would be a misspelt option."""
    drawn = iter([b"s" * 32, b"\xf8" * 16, b"\x00" * 16])
    odd = replace(service, random=lambda _: next(drawn))
    create_user(odd, user="dash", by=OPERATOR)
    token, _ = create_token(odd, Grant(user="dash", role="viewer"), by=OPERATOR)
    assert token.id == "A" * 22


def test_the_secret_is_not_stored(service: Service) -> None:
    """A reader of the database gets no token."""
    token, text = create_token(service, _grant(), by=OPERATOR)
    secret = text[-43:]
    [stored] = tokens(service)
    assert stored.id == token.id
    assert secret not in repr(stored)
    with service.store.read() as session:
        assert secret not in repr(session.access.audit_entries())


def test_all_invalid_tokens_have_the_same_error(service: Service) -> None:
    """Attempts disclose nothing."""
    _, good = create_token(service, _grant(), by=OPERATOR)
    revoked, revoked_text = create_token(service, _grant(), by=OPERATOR)
    revoke_token(service, revoked.id, by=OPERATOR)
    _, expired = create_token(service, _grant(days=1e-9), by=OPERATOR)
    other = "B" if good[-2] != "B" else "C"
    wrong = ["", "agon_", "x" * 71, "agon_" + "A" * 22 + "_" + "A" * 43,
             good[:-2] + other + good[-1],
             good + " ", revoked_text, expired, "agon_\ud800"]  # fmt: skip
    messages = set()
    for text in wrong:
        with pytest.raises(Unauthenticated) as error:
            authenticate(service, text)
        messages.add(str(error.value))
    assert messages == {"this token is not valid; use another or create a new one"}
    assert authenticate(service, good).user == "ada"


def test_tokens_of_a_disabled_user_are_rejected(service: Service) -> None:
    """To disable a user is enough."""
    _, text = create_token(service, _grant(), by=OPERATOR)
    disable_user(service, user="ada", by=OPERATOR)
    with pytest.raises(Unauthenticated):
        authenticate(service, text)
    disable_user(service, user="ada", disabled=False, by=OPERATOR)
    assert authenticate(service, text).user == "ada"


def test_a_token_is_valid_where_its_use_cannot_be_stored(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk boards and metrics can still be read."""
    _, text = create_token(service, _grant(), by=OPERATOR)

    def full(_: object) -> None:
        raise Unavailable("the database or disk is full; make room")

    monkeypatch.setattr(type(service.store), "write", full)
    assert authenticate(service, text).user == "ada"


def test_use_is_stored_once_an_hour(service: Service) -> None:
    """A write for every request would cost more than the request."""
    token, text = create_token(service, _grant(), by=OPERATOR)
    authenticate(service, text)
    [first] = tokens(service)
    authenticate(service, text)
    [second] = tokens(service)
    assert first.used_at is not None
    assert second.used_at == first.used_at
    assert isinstance(service.clock, Clock)
    service.clock.at += service.clock.step * 3601
    authenticate(service, text)
    [third] = tokens(service)
    assert third.used_at is not None
    assert third.used_at > first.used_at
    assert third.id == token.id


@pytest.mark.parametrize("by", [ORGANISER, JUDGE, replace(OPERATOR, contests=("spring",))])
def test_only_operators_of_the_instance_create_tokens(service: Service, by: Caller) -> None:
    """Otherwise a token could create one with more permissions."""
    with pytest.raises(Forbidden):
        Local(service, by=by).access.create_token(TokenCreate(user="ada", role="judge"))


@pytest.mark.parametrize("contests", ["everything", ["a"] * 101, {"a": 1}, [["a"]], 7, ["x" * 64]])
def test_a_span_of_no_form_is_one_error_of_the_field(contests: object) -> None:
    """The pointer of the error is that of the field, whatever forms it could have."""
    with pytest.raises(ValidationError) as error:
        TokenCreate.model_validate({"user": "ada", "role": "judge", "contests": contests})
    assert [issue["loc"] for issue in error.value.errors()] == [("contests",)]


def test_a_token_creates_no_token_with_more_permissions(service: Service) -> None:
    """An operator's token with few scopes must not create one with all."""
    narrow = replace(OPERATOR, scopes=("token", "records.add"))
    create_token(service, _grant(role="organiser", scopes=("records.add",)), by=narrow)
    for scopes in ((), ("records",), ("export",)):
        with pytest.raises(Forbidden, match="cannot create one with others"):
            create_token(service, _grant(scopes=scopes), by=narrow)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"user": "eve"}, NotFound),
        ({"role": "king"}, NotFound),
        ({"scopes": ("record",)}, NotFound),
        ({"contests": ("nowhere",)}, NotFound),
        ({"contests": Everywhere.ALL}, Unreadable),
        ({"role": "organiser", "contests": Everywhere.ALL}, Unreadable),
        ({"role": "operator", "contests": Everywhere.PUBLIC}, Unreadable),
        ({"role": "worker", "contests": Everywhere.PUBLIC}, Unreadable),
        ({"days": 0}, Unreadable),
        ({"days": 1e9}, Unreadable),
        ({"days": float("nan")}, Unreadable),
        ({"label": "a\nb"}, Unreadable),
    ],
)
def test_an_invalid_grant_is_rejected(
    service: Service, changed: dict[str, object], error: type[Exception]
) -> None:
    """A misspelt scope would give a token with other permissions than intended."""
    with pytest.raises(error):
        create_token(service, _grant(**changed), by=OPERATOR)
    assert tokens(service) == []


def test_revoking_twice_changes_nothing_and_an_unknown_token_is_not_found(service: Service) -> None:
    """The audit log has the first revocation."""
    token, _ = create_token(service, _grant(), by=OPERATOR)
    first = revoke_token(service, token.id, by=OPERATOR)
    assert revoke_token(service, token.id, by=OPERATOR) == first
    with pytest.raises(NotFound):
        revoke_token(service, "none", by=OPERATOR)
    with service.store.read() as session:
        actions = [line.action for line in session.access.audit_entries()]
    assert actions == ["token.revoke", "token.create", "user.create"]
