"""Rate limits: rejected requests say when to retry."""

import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from agon.errors import TooMany
from agon.http.limiting import Limiter
from agon.http.middleware.auth import client_address
from fakes.instance import Instance, instance_at


def test_requests_without_tokens_are_limited_by_network(tmp_path: Path) -> None:
    """One client must not block the others."""
    instance = instance_at(tmp_path, rate_limit_address="3/day")
    responses = [instance.get("/contests") for _ in range(4)]
    assert [response.status_code for response in responses] == [200, 200, 200, 429]
    assert int(responses[3].headers["retry-after"]) >= 1
    assert responses[3].json()["code"] == "too-many"
    assert [response.headers["ratelimit-remaining"] for response in responses[:3]] == [
        "2",
        "1",
        "0",
    ]
    assert responses[0].headers["ratelimit-limit"] == "3"
    assert instance.get("/me", "viewer").status_code == 200, "tokens are counted separately"
    assert instance.client.get("/healthz").status_code == 200, "health checks are not counted"
    instance.close()


@pytest.mark.exhaustive
def test_attempts_to_accept_invitations_count_against_the_address(tmp_path: Path) -> None:
    """Codes are tried without a token, and an idempotency key stores none of their responses."""
    instance = instance_at(tmp_path, rate_limit_address="3/day")
    headers = {"idempotency-key": "k1"}
    statuses = [
        instance.post(
            "/invitations/accept", json={"code": f"invite_{n}", "user": "ada"}, headers=headers
        ).status_code
        for n in range(4)
    ]
    assert statuses == [404, 404, 404, 429]
    instance.close()


def test_requests_with_a_token_have_a_separate_limit(tmp_path: Path) -> None:
    """The limit applies to the token from every address."""
    instance = instance_at(tmp_path, rate_limit_token="2/day")  # noqa: S106 (a rate)
    codes = [instance.get("/me", "viewer").status_code for _ in range(3)]
    assert codes == [200, 200, 429]
    assert instance.get("/me", "judge").status_code == 200
    instance.close()


def test_invalid_tokens_count_against_the_network_limit(tmp_path: Path) -> None:
    """This makes guessing tokens slow."""
    instance = instance_at(tmp_path, rate_limit_address="3/day")
    codes = []
    for _ in range(4):
        headers = {"authorization": "Bearer agon_" + "x" * 22 + "_" + "y" * 43}
        codes.append(instance.client.get("/api/v1/me", headers=headers).status_code)
    assert codes == [401, 401, 401, 429]
    instance.close()


def test_the_headers_report_the_tightest_of_several_rates() -> None:
    """The client needs the limit that it will reach first."""
    limiter = Limiter(token="5/second;7/minute", address="1/second")  # noqa: S106 (rates)
    limits = [limiter.hit_token("t")["ratelimit-limit"] for _ in range(5)]
    assert limits[0] == "5"
    with pytest.raises(TooMany):
        limiter.hit_token("t")


def test_the_limiter_starts_no_threads_and_deletes_expired_counters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The library's timer starts a thread every 10 ms that scans all networks."""
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
def test_forwarded_addresses_are_used_only_from_trusted_proxies(
    client: str, forwarded: str | None, expected: str | None
) -> None:
    """Otherwise clients could claim another address in each request."""
    scope = {"client": (client, 1)}
    assert client_address(scope, forwarded, ("10.0.0.0/8",)) == expected


def test_a_forged_forwarded_header_does_not_evade_the_limit(tmp_path: Path) -> None:
    """Some proxies add a second X-Forwarded-For below the client's instead of lengthening it."""
    instance = instance_at(tmp_path, rate_limit_address="1/day", trusted_proxies=("10.0.0.0/8",))
    proxied = TestClient(instance.app, client=("10.0.0.2", 1))
    codes = [
        proxied.get(
            "/api/v1/contests",
            headers=[("x-forwarded-for", forged), ("x-forwarded-for", "198.51.100.1")],
        ).status_code
        for forged in ("6.6.6.6", "7.7.7.7")
    ]
    assert codes == [200, 429]
    instance.close()


def test_client_addresses_are_not_stored(instance: Instance) -> None:
    """The audit log contains only keyed hashes of networks."""
    instance.post("/users", "operator", json={"id": "eve"})
    with instance.service.store.read() as session:
        networks = {line.network for line in session.access.audit_entries(limit=500)}
    assert all(response is None or len(response) == 32 for response in networks)
