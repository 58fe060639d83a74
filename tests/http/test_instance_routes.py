"""Health, metrics, jobs, submissions and webhooks over HTTP, without secrets."""

import io
import zipfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.app.contests.ledgers import append
from agon.entities.access import Role
from agon.entities.jobs import NewJob
from agon.entities.judging import ModelUsage
from agon.entities.webhooks import EVENT_KINDS, STAFF_EVENTS
from agon.errors import DatabaseUnavailable, Unavailable, Unreadable
from agon.http.archives import unpack
from fakes.instance import Instance, instance_at


def test_liveness_does_not_depend_on_the_database(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Supervisors check liveness, load balancers check readiness."""
    assert instance.client.get("/readyz").json()["status"] == "ready"

    def unavailable() -> Any:
        raise Unavailable("the database is out of reach; start it")

    monkeypatch.setattr(instance.service.store, "read", unavailable)
    assert instance.client.get("/healthz").json()["status"] == "alive"
    response = instance.client.get("/readyz")
    assert (response.status_code, response.json()["code"]) == (503, "not-ready")
    assert instance.get("/contests").status_code == 503


def test_only_operators_see_the_details_of_a_database_error(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host and port of a database help an attacker."""
    headers_of = {who: instance.as_(who) for who in ("operator", "organiser")}

    def unavailable(*_: object) -> Any:
        raise DatabaseUnavailable("the database agon on db.inside, port 5432 is gone; start it")

    for method in ("contests.Contests.get", "jobs.queue.Queue.is_paused"):
        monkeypatch.setattr(f"agon.store.{method}", unavailable)
    address = "/api/v1/contests/spring/boards"
    responses = {
        who: instance.client.get(address, headers=headers) for who, headers in headers_of.items()
    }
    responses["nobody"] = instance.client.get(address)
    responses["ready"] = instance.client.get("/readyz")
    assert {path.status_code for path in responses.values()} == {503}
    assert [who for who, path in responses.items() if "db.inside" in path.text] == ["operator"]


def test_metrics_are_labeled_by_route_template(instance: Instance) -> None:
    """Clients can invent any number of URLs, and each would be a time series."""
    instance.contest()
    instance.get("/contests/spring")
    instance.get("/no-such-route")
    with instance.service.store.write() as session:
        session.judging.save_usage(ModelUsage(judge="audit", calls=3, tokens=9, failures=2))
        session.judging.add_count("m-1", "flip", successes=1, trials=4)
        session.judging.add_failure(
            "m-1", "status-400", detail="HTTP 400", at=datetime(2026, 1, 31, tzinfo=UTC)
        )
    text = instance.client.get("/metrics", headers=instance.as_("operator")).text
    assert 'route="/api/v1/contests/{contest}",status="200"' in text
    assert "made-up" not in text
    assert 'agon_ledger_entries{contest="spring"} 5.0' in text
    assert 'agon_jobs{kind="publish",state="queued"} 1.0' in text
    assert 'agon_model_judge_usage{judge="audit",unit="tokens"} 9.0' in text
    assert 'agon_model_judge_failures{judge="audit"} 2.0' in text
    assert 'agon_model_judge_measure{count="trials",judge="m-1",measure="flip"} 4.0' in text
    assert 'agon_model_judge_failed_calls{judge="m-1",reason="status-400"} 1.0' in text
    assert instance.client.get("/metrics").status_code == 401


def test_metrics_are_public_where_the_operator_says_so(tmp_path: Path) -> None:
    """A scraper inside the network then needs no operator's token; nothing else is public."""
    with closing(instance_at(tmp_path, metrics_public=True)) as instance:
        assert "agon_http_requests" in instance.client.get("/metrics").text
        assert instance.client.get("/api/v1/queue").status_code == 401


def test_a_job_is_claimed_extended_and_released_with_its_lease(instance: Instance) -> None:
    """Only the owner of the lease can change the job."""
    instance.contest()
    body = {"kinds": ["publish"], "worker": "w-1"}
    job = instance.post("/jobs/claim", "operator", json=body).json()
    assert set(job) == {"id", "kind", "payload", "lease", "lease_seconds", "attempt"}
    path = f"/jobs/{job['id']}"
    wrong = {"lease": "guessed"}
    assert instance.post(f"{path}/heartbeat", "operator", json=wrong).status_code == 409
    beat = instance.post(
        f"{path}/heartbeat", "operator", json={"lease": job["lease"], "progress": 0.5}
    )
    assert beat.json()["progress"] == 0.5
    assert job["lease"] not in instance.get(path, "organiser").text
    assert instance.post(f"{path}/complete", "worker", json={"lease": job["lease"],
                      "outcome": {}}).status_code == 403  # fmt: skip
    failed = instance.post(
        f"{path}/fail", "operator", json={"lease": job["lease"], "cause": "tired"}
    ).json()
    assert (failed["state"], failed["causes"][0]["cause"]) == ("queued", "tired")
    assert instance.post("/jobs/claim", "worker", json={"kinds": ["judge"],
                      "worker": "w-1"}).status_code == 204  # fmt: skip


@pytest.mark.exhaustive
def test_a_paused_queue_returns_no_jobs(instance: Instance) -> None:
    """Running jobs finish, and then the instance can be repaired."""
    instance.contest()
    assert instance.post("/queue", "operator", json={"paused": True}).json()["paused"]
    body = {"kinds": ["publish"], "worker": "w-1"}
    assert instance.post("/jobs/claim", "operator", json=body).status_code == 204
    instance.post("/queue", "operator", json={"paused": False})
    assert instance.post("/jobs/claim", "operator", json=body).status_code == 200


@pytest.mark.exhaustive
def test_job_lists_contain_no_payloads(instance: Instance) -> None:
    """A payload may contain a setter's program before its problem is published."""
    instance.contest()
    for query in ("", "&state=queued&kind=publish"):
        jobs = instance.get(f"/jobs?contest=spring{query}", "organiser").json()["items"]
        assert jobs
        assert all("payload" not in job and "lease" not in job for job in jobs)


def test_a_webhooks_secret_is_shown_once(instance: Instance) -> None:
    """It is contained in no list and not in the audit log."""
    instance.contest()
    path = "/contests/spring/webhooks"
    created = instance.post(path, "organiser", json={"url": "https://example.org/agon"})
    assert created.status_code == 201, created.text
    secret = created.json()["secret"]
    assert secret.startswith("whsec_")
    for response in (instance.get(path, "organiser"), instance.get("/audit", "operator")):
        assert secret not in response.text
    name = created.json()["id"]
    changed = instance.client.patch(
        f"/api/v1{path}/{name}", json={"active": False}, headers=instance.as_("organiser")
    )
    assert changed.json()["active"] is False
    assert instance.get(f"{path}/{name}/deliveries", "organiser").json()["items"] == []
    deleted = instance.client.delete(f"/api/v1{path}/{name}", headers=instance.as_("organiser"))
    assert deleted.status_code == 204
    assert instance.get(path, "organiser").json()["items"] == []


@pytest.mark.sample(2)
@pytest.mark.parametrize("url", ["http://127.0.0.1/x", "https://10.0.0.1/", "ftp://example.org",
                                 "https://169.254.169.254/latest"])  # fmt: skip
def test_webhook_urls_of_private_networks_are_rejected(instance: Instance, url: str) -> None:
    """A webhook must not send requests into the internal network of the server."""
    instance.contest()
    response = instance.post("/contests/spring/webhooks", "organiser", json={"url": url})
    assert (response.status_code, response.json()["code"]) == (422, "forbidden-url")


def test_an_unknown_event_kind_is_rejected_with_a_suggestion(
    instance: Instance,
) -> None:
    """Such a webhook would never be called; the message lists all kinds."""
    instance.contest("spring")
    path = "/contests/spring/webhooks"
    body = {"url": "https://hooks.example/", "events": ["snapshot-publised"]}
    response = instance.post(path, "organiser", json=body)
    assert response.status_code == 422
    assert "did you mean snapshot-published?" in response.json()["detail"]
    response = instance.post(path, "organiser", json={**body, "events": list(EVENT_KINDS)})
    assert response.status_code == 201, response.text
    path = f"/api/v1{path}/{response.json()['id']}"
    headers = instance.as_("organiser")
    response = instance.client.patch(path, json={"events": ["x"]}, headers=headers)
    assert response.status_code == 422
    assert "contest-frozen" in response.json()["detail"]


def test_the_listed_event_kinds_are_exactly_those_that_are_emitted() -> None:
    """Every entry kind with an event is listed, also in the reference documentation."""
    of_entries = {*append._PUBLIC_EVENTS, *append._STAFF_EVENTS}
    assert of_entries < set(EVENT_KINDS)
    assert set(EVENT_KINDS) - of_entries == {
        "bot-paused", "findings-changed", "ledger-imported", "rank-changed", "snapshot-published",
    }  # fmt: skip
    assert set(append._STAFF_EVENTS) < set(STAFF_EVENTS)
    page = (Path(__file__).parents[2] / "docs" / "reference" / "http.md").read_text()
    assert all(f"`{kind}`" in page for kind in EVENT_KINDS)


@pytest.mark.exhaustive
def test_a_change_set_follows_its_states(instance: Instance) -> None:
    """Each step has its own request; a step out of order is a conflict."""
    instance.contest()
    path = "/contests/spring/change-sets"
    body = {"kind": "void", "params": {"people": ["u1"]}, "reason": "left"}
    response = instance.post(path, "organiser", json=body)
    assert (response.status_code, response.json()["state"]) == (202, "proposed")
    url = f"{path}/{response.json()['id']}"
    assert instance.post(f"{url}/apply", "organiser").status_code == 409
    assert instance.post(f"{url}/cancel", "organiser").json()["state"] == "cancelled"
    assert instance.get(path, "organiser").json()["items"][0]["state"] == "cancelled"


def test_a_case_is_opened_decided_and_closed(instance: Instance) -> None:
    """Decisions are made by people and recorded in the ledger with their reasons."""
    instance.contest()
    path = "/contests/spring/cases"
    response = instance.post(path, "organiser", json={"text": "odd votes", "title": "Odd",
                      "subjects": ["ada"]})  # fmt: skip
    assert response.status_code == 201, response.text
    url = f"{path}/{response.json()['id']}"
    decided = instance.post(f"{url}/decisions", "organiser", json={"decision": "dismissed",
                         "reason": "explained"})  # fmt: skip
    assert decided.json()["state"] == "decided"
    assert instance.post(f"{url}/appeals", "judge", json={"text": "no"}).status_code == 404
    appealed = instance.post(f"{url}/appeals", "participant", json={"text": "but"})
    assert appealed.json()["state"] == "appealed"
    # The subject of a case does not see the complainant or the organisers' notes.
    assert [step["kind"] for step in appealed.json()["steps"]] == ["decision", "appeal"]
    assert appealed.json()["finding"] is None
    closed = instance.post(f"{url}/close", "organiser", json={"text": "done"})
    assert closed.json()["state"] == "closed"


@pytest.mark.exhaustive
def test_a_contest_without_submissions_rejects_them(instance: Instance) -> None:
    """A community contest has records and no submissions."""
    instance.contest()
    body = {"content": {"source": "print(1)"}, "problem": "p"}
    assert (
        instance.post("/contests/spring/submissions", "participant", json=body).status_code == 409
    )
    assert instance.get("/contests/spring/submissions", "participant").json()["items"] == []


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "names",
    [["../ledger.ndjson"], ["/etc/ledger.ndjson"], ["a/../../ledger.ndjson"], ["evil.py"],
     ["spring/ledger.ndjson", "other/heads.ndjson"], ["spring/a/ledger.ndjson"],
     ["spring\\..\\contest.json"]],
)  # fmt: skip
def test_an_archive_with_unsafe_paths_is_rejected(instance: Instance, names: list[str]) -> None:
    """The paths in an uploaded archive are untrusted."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, b"{}")
    headers = {"content-type": "application/zip"}
    body = packed.getvalue()
    response = instance.post("/contests/import", "operator", content=body, headers=headers)
    assert response.status_code == 422, response.text


@pytest.mark.sample(2)
@pytest.mark.parametrize("body", [b"", b"PK", b"PK\x03\x04" + b"\x00" * 40, b"no zip at all"])
def test_a_body_that_is_not_an_archive_is_rejected(instance: Instance, body: bytes) -> None:
    """Every malformed body gives a validation error, not an internal one."""
    headers = {"content-type": "application/zip"}
    response = instance.post("/contests/import", "operator", content=body, headers=headers)
    assert response.status_code == 422, response.text


def test_an_archive_that_unpacks_to_too_many_bytes_is_rejected(tmp_path: Any) -> None:
    """A megabyte of zeros compresses to a thousand bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("spring/ledger.ndjson", b"\x00" * (1 << 20))
    with pytest.raises(Exception, match="larger than a ledger"):
        unpack(packed, tmp_path, most=1000)


def test_an_archive_with_too_many_files_is_rejected_before_listing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body of the maximum size can name a million files, whose list takes a gigabyte."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(101):
            archive.writestr(f"{number}", b"")
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(Unreadable, match="too many files"):
        unpack(packed, tmp_path)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
@pytest.mark.parametrize("spoiled", [False, True])
def test_an_archive_with_an_unusual_compression_is_rejected(
    tmp_path: Path, method: int, *, spoiled: bool
) -> None:
    """Every further decompressor adds risks, and no export uses these methods."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("contest.json", b"{}" * 100)
    content = bytearray(packed.getvalue())
    if spoiled:
        content[45:60] = bytes(15)
    with pytest.raises(Unreadable):
        unpack(io.BytesIO(bytes(content)), tmp_path)


@pytest.mark.sample(2)
@pytest.mark.parametrize("role", ["worker", "organiser", "operator"])
def test_a_bound_token_cannot_probe_for_other_contests(instance: Instance, role: Role) -> None:
    """A private contest and an unknown one give the same response."""
    instance.contest("spring")
    instance.contest("hidden", visibility="private")
    token = instance.token(role, contests=["spring"])
    responses = []
    for name in ("hidden", "nobody"):
        response = instance.client.get(
            f"/api/v1/jobs?contest={name}", headers={"authorization": f"Bearer {token}"}
        )
        responses.append((response.status_code, response.json()["detail"].replace(name, "it")))
    assert responses[0] == responses[1]
    assert responses[0][0] == 403


def test_a_worker_token_does_not_see_the_errors_of_service_jobs(instance: Instance) -> None:
    """A gate's error contains hidden terms, which remote workers must not see."""
    instance.contest("spring")
    gate = NewJob(id="gate-1", kind="gate", payload={}, contest_no=1, max_attempts=1)
    judge = NewJob(id="judge-1", kind="judge", payload={}, contest_no=1)
    with instance.service.store.write() as session:
        now = instance.service.clock()
        for job in (gate, judge):
            session.queue.add(job, now=now)
        session.queue.claim(["gate"], worker="w", lease="l", now=now, span=timedelta(seconds=9))
        cause = "term 3 differs between two runs: 4711 and 4712"
        session.queue.fail("gate-1", lease="l", cause=cause, now=now, retry_at=None)
    assert "4711" in instance.get("/jobs?contest=spring", "organiser").text
    jobs = instance.get("/jobs", "worker")
    assert [url["id"] for url in jobs.json()["items"]] == ["judge-1"]
    for path in ("/jobs?kind=gate", "/jobs/gate-1", "/jobs?kind=publish"):
        response = instance.get(path, "worker")
        assert response.status_code == 403
        assert "4711" not in response.text
    assert instance.get("/jobs/judge-1", "worker").status_code == 200
