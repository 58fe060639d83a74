"""Passwords: how they are hashed, and what a check shows about users."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from argon2 import PasswordHasher

from agon.app import password_hashing
from agon.app.access.passwords import check_password
from agon.app.access.users import create_user, disable_user, set_password
from agon.app.password_hashing import PasswordHashing
from agon.app.service import Service
from agon.errors import Unauthenticated
from fakes.service import OPERATOR

PASSWORD = "correct horse battery"  # noqa: S105 - a test's
REAL_S, SMALL_S = 0.27, 0.0007
"""Processor times of a hash and of a small one, as measured on one machine."""


class Work:
    """A hasher that computes nothing and counts: processor time, and the memory of each hash."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.hashes: list[int] = []

    def hasher(self, *, memory_kib: int = password_hashing.MEMORY_KIB, passes: int = 3) -> Any:
        """Return a hasher of that much memory."""
        assert passes in {1, 3}
        work = self

        class Hasher:
            def hash(self, password: str) -> str:
                work.seconds += REAL_S if memory_kib == password_hashing.MEMORY_KIB else SMALL_S
                work.hashes.append(memory_kib)
                return f"hash of {password}"

            def verify(self, password_hash: str, password: str) -> bool:
                return self.hash(password) == password_hash

            def check_needs_rehash(self, password_hash: str) -> bool:
                return not password_hash.startswith("hash of ")

        return Hasher()


@pytest.fixture(name="work")
def _work(monkeypatch: pytest.MonkeyPatch) -> Work:
    work = Work()
    monkeypatch.setattr(password_hashing, "_hasher", work.hasher)
    return work


def timed(service: Service, work: Work) -> Callable[[str, str], tuple[float, int]]:
    """Return a function that fails to sign in: its processor time, and its largest hash in KiB."""

    def attempt(user: str, password: str) -> tuple[float, int]:
        began, count = work.seconds, len(work.hashes)
        with pytest.raises(Unauthenticated):
            check_password(service, user=user, password=password)
        return round(work.seconds - began, 6), max(work.hashes[count:])

    return attempt


def test_a_hash_takes_the_memory_that_the_settings_state(service: Service) -> None:
    """The parameters are ours: another version of the library changes none of them."""
    user = create_user(service, user="ada", password=PASSWORD, by=OPERATOR)
    assert (user.password or "").startswith("$argon2id$v=19$m=65536,t=3,p=1$")
    assert password_hashing.MEMORY_KIB == 65536


def test_an_invented_name_takes_the_time_of_a_check_without_its_memory(
    service: Service, work: Work
) -> None:
    """Time shows nothing about users, and a flood of invented names needs no memory."""
    service = replace(service, passwords=PasswordHashing(cpu_time=lambda: work.seconds))
    create_user(service, user="ada", password=PASSWORD, by=OPERATOR)
    create_user(service, user="tokens-only", by=OPERATOR)
    create_user(service, user="eve", password=PASSWORD, by=OPERATOR)
    disable_user(service, user="eve", by=OPERATOR)
    attempt = timed(service, work)
    assert attempt("nobody", PASSWORD) == (REAL_S, 65536)  # nothing is measured yet
    real = [attempt("ada", "wrong password"), attempt("eve", PASSWORD), attempt("ada", "")]
    assert real == [(REAL_S, 65536)] * 3
    for name in ("nobody", "tokens-only", "ADA", "ada ", "\0", "\ud800", "x" * 5000, ""):
        seconds, memory = attempt(name, PASSWORD)
        assert REAL_S <= seconds < REAL_S + 2 * SMALL_S
        assert memory <= 1024


def test_checks_without_a_hash_take_turns_with_the_times_that_were_measured() -> None:
    """One measured time for all would differ from checks whose times vary."""
    seconds, durations = 0.0, iter([0.25, 0.3, 0.2, 0.28])
    spent = []

    class Hasher:
        def hash(self, _password: str) -> str:
            nonlocal seconds
            seconds += 0.001
            return ""

    hashing = PasswordHashing(cpu_time=lambda: seconds)
    hashing._measured.extend(durations)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(password_hashing, "_hasher", lambda **_: Hasher())
        for _ in range(5):
            began = seconds
            assert not hashing.matches(None, PASSWORD)
            spent.append(round(seconds - began, 2))
    assert spent == [0.25, 0.3, 0.2, 0.28, 0.25]


def test_a_hash_of_other_parameters_is_accepted_and_replaced(service: Service) -> None:
    """Parameters can change without new passwords; the times of old ones are not taken over."""
    user = create_user(service, user="ada", password=PASSWORD, by=OPERATOR)
    older = PasswordHasher(time_cost=1, memory_cost=64, parallelism=4).hash(PASSWORD)
    with service.store.write() as session:
        session.access.save_user(replace(user, password=older))
    with pytest.raises(Unauthenticated):
        check_password(service, user="ada", password="wrong password")  # noqa: S106 - a test's
    with service.store.read() as session:
        assert session.access.user("ada").password == older
    assert not service.passwords._measured
    assert check_password(service, user="ada", password=PASSWORD).id == "ada"
    with service.store.read() as session:
        replaced = session.access.user("ada").password or ""
    assert replaced.startswith("$argon2id$v=19$m=65536,t=3,p=1$")
    set_password(service, user="ada", password=None, by=OPERATOR)
    with pytest.raises(Unauthenticated):
        check_password(service, user="ada", password=PASSWORD)
