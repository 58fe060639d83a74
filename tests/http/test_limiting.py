"""Who asks too often is told when to come back."""

import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from agon.errors import TooMany
from agon.http.limiting import Limiter
from agon.http.middleware.auth import client_address
from fakes.instance import Instance, instance_at


def test_a_network_without_tokens_is_bounded(tmp_path: Path) -> None:
    """One visitor must not take the instance from the others."""
    instance = instance_at(tmp_path, rate_limit_address="3/minute")
    answers = [instance.get("/contests") for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429]
    assert int(answers[3].headers["retry-after"]) >= 1
    assert answers[3].json()["code"] == "too-many"
    assert [one.headers["ratelimit-remaining"] for one in answers[:3]] == ["2", "1", "0"]
    assert answers[0].headers["ratelimit-limit"] == "3"
    assert instance.get("/me", "viewer").status_code == 200, "tokens are counted apart"
    assert instance.client.get("/healthz").status_code == 200, (
        "who watches the instance is not counted"
    )
    instance.service.store.close()


def test_a_token_is_bounded_by_itself(tmp_path: Path) -> None:
    """Whatever address it comes from."""
    instance = instance_at(tmp_path, rate_limit_token="2/minute")  # noqa: S106 (a rate)
    codes = [instance.get("/me", "viewer").status_code for _ in range(3)]
    assert codes == [200, 200, 429]
    assert instance.get("/me", "judge").status_code == 200
    instance.service.store.close()


def test_guessing_tokens_is_slow(tmp_path: Path) -> None:
    """Wrong tokens count as requests of their network."""
    instance = instance_at(tmp_path, rate_limit_address="3/minute")
    codes = []
    for _ in range(4):
        headers = {"authorization": "Bearer agon_" + "x" * 22 + "_" + "y" * 43}
        codes.append(instance.client.get("/api/v1/me", headers=headers).status_code)
    assert codes == [401, 401, 401, 429]
    instance.service.store.close()


def test_the_tightest_of_several_rates_is_told() -> None:
    """The client needs the one it will meet first."""
    limiter = Limiter(token="5/second;7/minute", address="1/second")  # noqa: S106 (rates)
    told = [limiter.hit_token("t")["ratelimit-limit"] for _ in range(5)]
    assert told[0] == "5"
    with pytest.raises(TooMany):
        limiter.hit_token("t")


def test_counting_starts_no_threads_and_forgets_what_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The library's own timer starts one every 10 ms, which walks through all networks."""
    limiter = Limiter(token="5/second", address="5/second")  # noqa: S106 (a rate)
    now = time.time()
    started: list[object] = []
    monkeypatch.setattr("threading.Thread.start", started.append)
    for number in range(200):
        limiter.hit_address(f"network {number}")
    counting: Any = limiter._window.storage
    counts = counting.storage
    assert len(counts) == 200
    monkeypatch.setattr("time.time", lambda: now + 60)
    limiter.hit_address("another")
    assert len(counts) == 1
    assert not started


@pytest.mark.parametrize(
    ("client", "forwarded", "expected"),
    [
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("10.0.0.2", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.2", "6.6.6.6, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.2", "198.51.100.1, 10.0.0.3", "198.51.100.1"),
        ("10.0.0.2", None, "10.0.0.2"),
        ("10.0.0.2", "nonsense", None),
    ],
)
def test_proxies_are_believed_only_where_they_are_trusted(
    client: str, forwarded: str | None, expected: str | None
) -> None:
    """Otherwise everybody could name another address with each request."""
    scope = {"client": (client, 1)}
    assert client_address(scope, forwarded, ("10.0.0.0/8",)) == expected


def test_a_header_a_client_brings_hides_nobody(tmp_path: Path) -> None:
    """Some proxies add a second X-Forwarded-For below the client's instead of lengthening it."""
    instance = instance_at(tmp_path, rate_limit_address="1/minute", trusted_proxies=("10.0.0.0/8",))
    behind = TestClient(instance.app, client=("10.0.0.2", 1))
    codes = [
        behind.get(
            "/api/v1/contests",
            headers=[("x-forwarded-for", forged), ("x-forwarded-for", "198.51.100.1")],
        ).status_code
        for forged in ("6.6.6.6", "7.7.7.7")
    ]
    assert codes == [200, 429]
    instance.service.store.close()


def test_addresses_are_kept_nowhere(instance: Instance) -> None:
    """Only keyed hashes of networks are; the audit log is where they are kept."""
    instance.post("/users", "operator", json={"id": "eve"})
    with instance.service.store.read() as session:
        networks = {line.network for line in session.access.audit_entries(limit=500)}
    assert all(one is None or len(one) == 32 for one in networks)
