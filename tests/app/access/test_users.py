"""Test users and their passwords."""

import pytest

from agon.api.models.access import UserCreate
from agon.app.access.passwords import check_password
from agon.app.access.users import create_user, disable_user, set_password, users
from agon.app.service import Service
from agon.client.local import Local
from agon.errors import Conflict, Forbidden, Unauthenticated, Unreadable
from fakes.service import OPERATOR, ORGANISER

pytestmark = pytest.mark.usefixtures("quick_hashes")

PASSWORD = "correct horse battery"  # noqa: S105 - a test's


def test_a_password_is_stored_hashed_and_accepted(service: Service) -> None:
    """Only the hash is stored, and it is not shown."""
    user = create_user(service, user="ada", password=PASSWORD, by=OPERATOR)
    assert (user.password or "").startswith("$argon2id$")
    assert "argon2" not in repr(user)
    assert check_password(service, user="ada", password=PASSWORD).id == "ada"


def test_unknown_users_and_wrong_passwords_have_the_same_error(service: Service) -> None:
    """The error does not disclose which users exist."""
    create_user(service, user="ada", password=PASSWORD, by=OPERATOR)
    create_user(service, user="bob", by=OPERATOR)
    create_user(service, user="eve", password=PASSWORD, by=OPERATOR)
    disable_user(service, user="eve", by=OPERATOR)
    messages = set()
    for user, password in [("ada", "wrong"), ("bob", ""), ("eve", PASSWORD), ("nobody", PASSWORD)]:
        with pytest.raises(Unauthenticated) as error:
            check_password(service, user=user, password=password)
        messages.add(str(error.value))
    assert len(messages) == 1


def test_a_password_can_be_changed_and_removed(service: Service) -> None:
    """A user who lost one gets another."""
    create_user(service, user="ada", password=PASSWORD, by=OPERATOR)
    set_password(service, user="ada", password=PASSWORD + "!", by=OPERATOR)
    assert check_password(service, user="ada", password=PASSWORD + "!").id == "ada"
    set_password(service, user="ada", password=None, by=OPERATOR)
    with pytest.raises(Unauthenticated):
        check_password(service, user="ada", password=PASSWORD + "!")


@pytest.mark.parametrize("user", ["", "Ada", "a b", "-a", "a" * 64, "a/b", "ä"])
def test_an_ambiguous_id_is_rejected(service: Service, user: str) -> None:
    """Ids are in URLs and, permanently, in entries."""
    with pytest.raises(Unreadable, match="is not a user's id"):
        create_user(service, user=user, by=OPERATOR)


@pytest.mark.parametrize("password", ["short", "x" * 2000])
def test_a_password_has_a_minimum_and_a_maximum_length(service: Service, password: str) -> None:
    """Short ones are guessed, long ones take time to hash."""
    with pytest.raises(Unreadable, match="12 to 1,024"):
        create_user(service, user="ada", password=password, by=OPERATOR)


def test_an_id_is_used_once_and_only_operators_create_users(service: Service) -> None:
    """A second ada would be taken for the author of the first one's entries."""
    create_user(service, user="ada", name="Ada", by=OPERATOR)
    with pytest.raises(Conflict):
        create_user(service, user="ada", by=OPERATOR)
    with pytest.raises(Forbidden):
        Local(service, by=ORGANISER).access.create_user(UserCreate(id="bob"))
    assert [user.name for user in users(service)] == ["Ada"]
