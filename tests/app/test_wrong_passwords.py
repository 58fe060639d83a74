"""Test the limits of wrong passwords: guesses are few, and nobody is locked out by another."""

from datetime import UTC, datetime, timedelta

import pytest

from agon.app import wrong_passwords
from agon.app.wrong_passwords import BY_NETWORK, OF_NETWORK, WINDOW, WrongPasswords
from agon.errors import TooMany

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


def guess(
    counted: WrongPasswords, user: str, network: str | None, times: int, *, now: datetime = NOON
) -> int:
    """Send wrong passwords; return how many were accepted for checking."""
    accepted = 0
    for _ in range(times):
        try:
            counted.count(user, network, now=now)
        except TooMany:
            continue
        accepted += 1
    return accepted


def sign_in(
    counted: WrongPasswords, user: str, network: str | None, *, now: datetime = NOON
) -> None:
    """Send the right password; raise TooMany where it is not even checked."""
    counted.count(user, network, now=now)
    counted.remove(user, network, now=now)


def test_one_network_locks_the_user_out_of_itself_only() -> None:
    """However often it guesses."""
    counted = WrongPasswords()
    assert guess(counted, "ada", "evil", 10_000) == BY_NETWORK
    with pytest.raises(TooMany, match="wrong passwords for this user from your network; try again"):
        sign_in(counted, "ada", "evil")
    sign_in(counted, "ada", "home")
    assert guess(counted, "bob", "evil", 1) == 1


def test_the_lock_ends_after_the_window() -> None:
    """The error says when."""
    counted = WrongPasswords()
    guess(counted, "ada", "home", BY_NETWORK)
    with pytest.raises(TooMany) as error:
        sign_in(counted, "ada", "home", now=NOON + timedelta(minutes=5))
    assert error.value.retry_after == 600
    sign_in(counted, "ada", "home", now=NOON + WINDOW)


@pytest.mark.one_database
@pytest.mark.parametrize(("networks", "most"), [(20, 10 * 10 + 10 * 2), (2000, 100 + 900 + 1540)])
def test_guesses_from_many_networks_are_few_and_lock_nobody_out(networks: int, most: int) -> None:
    """From 100 on each network has two, from 1,000 on one; a user needs only one."""
    counted = WrongPasswords()
    total = sum(guess(counted, "ada", f"bot-{number}", 50) for number in range(networks))
    assert total <= most
    sign_in(counted, "ada", "home")


def test_an_attack_takes_no_attempts_where_the_user_signed_in_lately() -> None:
    """A user who mistypes twice at home is not stopped by guesses from elsewhere."""
    counted = WrongPasswords()
    sign_in(counted, "ada", "home")
    for number in range(2000):
        guess(counted, "ada", f"bot-{number}", 5)
    later = NOON + timedelta(minutes=1)
    assert guess(counted, "ada", "home", 50, now=later) == BY_NETWORK
    assert guess(counted, "ada", "hotel", 50, now=later) == 1


def test_a_network_does_not_try_a_password_on_every_user() -> None:
    """Many names with a common password are an attack as well."""
    counted = WrongPasswords()
    assert sum(guess(counted, f"user-{n}", "evil", 1) for n in range(500)) == OF_NETWORK
    assert guess(counted, "user-1", "elsewhere", 1) == 1


def test_others_in_an_office_do_not_lock_out_who_signs_in_there() -> None:
    """The limit of a network is for users who did not sign in from it lately."""
    counted = WrongPasswords()
    sign_in(counted, "ada", "office")
    for number in range(500):
        guess(counted, f"user-{number}", "office", 1)
    sign_in(counted, "ada", "office")
    with pytest.raises(TooMany, match="wrong passwords from your network"):
        sign_in(counted, "bob", "office")
    much_later = NOON + timedelta(days=31)  # it is no longer a network of ada's
    for number in range(OF_NETWORK):
        guess(counted, f"user-{number}", "office", 1, now=much_later)
    with pytest.raises(TooMany):
        sign_in(counted, "ada", "office", now=much_later)


def test_right_passwords_are_not_counted() -> None:
    """A script that signs in often is no attack."""
    counted = WrongPasswords()
    for _ in range(1000):
        sign_in(counted, "ada", "home")
    assert guess(counted, "ada", "home", 50) == BY_NETWORK


def test_invented_names_do_not_grow_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters are dropped, those changed longest ago first; that of a network stays."""
    monkeypatch.setattr(wrong_passwords, "_MAX_COUNTERS", 50)
    counted = WrongPasswords()
    for number in range(5000):
        guess(counted, "x" * 200 + str(number), f"net-{number}", 1)
        guess(counted, f"name-{number}", "evil", 1)
    sizes = [len(each.times) for each in (counted._pairs, counted._networks, counted._users)]
    assert max(sizes) <= 50
    assert guess(counted, "fresh", "evil", 1) == 0


def test_requests_without_a_network_share_a_counter() -> None:
    """A server behind a socket knows no addresses."""
    counted = WrongPasswords()
    assert guess(counted, "ada", None, 50) == BY_NETWORK
    assert guess(counted, "ada", "", 50) == 0
