"""Health, metrics, jobs, submissions and webhooks over HTTP; no secret in any of them."""

import io
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agon.app.contests.ledgers import append
from agon.entities.access import Role
from agon.entities.jobs import NewJob
from agon.entities.webhooks import EVENT_KINDS, STAFF_EVENTS
from agon.errors import DatabaseUnavailable, Unavailable, Unreadable
from agon.http.archives import unpack
from fakes.instance import Instance


def test_the_instance_is_alive_even_without_its_database(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who restarts processes asks one thing, who sends visitors there another."""
    assert instance.client.get("/readyz").json()["status"] == "ready"

    def gone() -> Any:
        raise Unavailable("the database is out of reach; start it")

    monkeypatch.setattr(instance.service.store, "read", gone)
    assert instance.client.get("/healthz").json()["status"] == "alive"
    answer = instance.client.get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (503, "not-ready")
    assert instance.get("/contests").status_code == 503


def test_where_the_database_is_and_what_ails_it_is_told_to_operators_alone(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger who knows the host and the port of a database knows where to knock."""
    asked = {who: instance.as_(who) for who in ("operator", "organiser")}

    def gone(*_: object) -> Any:
        raise DatabaseUnavailable("the database agon on db.inside, port 5432 is gone; start it")

    for asking in ("contests.Contests.get", "queue.Queue.paused"):
        monkeypatch.setattr(f"agon.store.{asking}", gone)
    address = "/api/v1/contests/spring/boards"
    told = {who: instance.client.get(address, headers=headers) for who, headers in asked.items()}
    told["nobody"] = instance.client.get(address)
    told["ready"] = instance.client.get("/readyz")
    assert {one.status_code for one in told.values()} == {503}
    assert [who for who, one in told.items() if "db.inside" in one.text] == ["operator"]


def test_metrics_count_by_template_never_by_address(instance: Instance) -> None:
    """Addresses are made up by strangers; each would be a series kept for ever."""
    instance.contest()
    instance.get("/contests/spring")
    instance.get("/made-up-by-a-stranger")
    text = instance.client.get("/metrics", headers=instance.as_("operator")).text
    assert 'route="/api/v1/contests/{contest}",status="200"' in text
    assert "made-up" not in text
    assert 'agon_ledger_entries{contest="spring"} 5.0' in text
    assert 'agon_jobs{kind="publish",state="queued"} 1.0' in text
    assert instance.client.get("/metrics").status_code == 401


def test_a_worker_claims_keeps_and_gives_back_a_job_with_its_lease(instance: Instance) -> None:
    """Only who holds the lease has a say."""
    instance.contest()
    body = {"kinds": ["publish"], "worker": "w-1"}
    given = instance.post("/jobs/claim", "operator", json=body).json()
    assert set(given) == {"id", "kind", "payload", "lease", "lease_seconds", "attempt"}
    path = f"/jobs/{given['id']}"
    wrong = {"lease": "guessed"}
    assert instance.post(f"{path}/heartbeat", "operator", json=wrong).status_code == 409
    beat = instance.post(
        f"{path}/heartbeat", "operator", json={"lease": given["lease"], "progress": 0.5}
    )
    assert beat.json()["progress"] == 0.5
    assert given["lease"] not in instance.get(path, "organiser").text
    assert instance.post(f"{path}/complete", "worker", json={"lease": given["lease"],
                      "outcome": {}}).status_code == 403  # fmt: skip
    failed = instance.post(
        f"{path}/fail", "operator", json={"lease": given["lease"], "cause": "tired"}
    ).json()
    assert (failed["state"], failed["causes"][0]["cause"]) == ("queued", "tired")
    assert instance.post("/jobs/claim", "worker", json={"kinds": ["judge"],
                      "worker": "w-1"}).status_code == 204  # fmt: skip


def test_a_paused_queue_hands_nothing_out(instance: Instance) -> None:
    """What is worked on ends, and then the instance can be mended."""
    instance.contest()
    assert instance.post("/queue", "operator", json={"paused": True}).json()["paused"]
    body = {"kinds": ["publish"], "worker": "w-1"}
    assert instance.post("/jobs/claim", "operator", json=body).status_code == 204
    instance.post("/queue", "operator", json={"paused": False})
    assert instance.post("/jobs/claim", "operator", json=body).status_code == 200


def test_jobs_never_show_their_payload_in_lists(instance: Instance) -> None:
    """A setter's program waits there before its problem is published."""
    instance.contest()
    for path in ("/jobs", "/jobs?state=queued&kind=publish"):
        listed = instance.get(path, "organiser").json()["items"]
        assert listed
        assert all("payload" not in job and "lease" not in job for job in listed)


def test_a_webhooks_secret_is_shown_once(instance: Instance) -> None:
    """And it is nowhere else: not in lists, not in the audit log."""
    instance.contest()
    path = "/contests/spring/webhooks"
    made = instance.post(path, "organiser", json={"url": "https://example.org/agon"})
    assert made.status_code == 201, made.text
    secret = made.json()["secret"]
    assert secret.startswith("whsec_")
    for seen in (instance.get(path, "organiser"), instance.get("/audit", "operator")):
        assert secret not in seen.text
    name = made.json()["id"]
    changed = instance.client.patch(
        f"/api/v1{path}/{name}", json={"active": False}, headers=instance.as_("organiser")
    )
    assert changed.json()["active"] is False
    assert instance.get(f"{path}/{name}/deliveries", "organiser").json()["items"] == []
    gone = instance.client.delete(f"/api/v1{path}/{name}", headers=instance.as_("organiser"))
    assert gone.status_code == 204
    assert instance.get(path, "organiser").json()["items"] == []


@pytest.mark.parametrize("url", ["http://127.0.0.1/x", "https://10.0.0.1/", "ftp://example.org",
                                 "https://169.254.169.254/latest"])  # fmt: skip
def test_webhooks_do_not_lead_into_our_own_network(instance: Instance, url: str) -> None:
    """A stranger's URL must not make the instance ask its neighbors."""
    instance.contest()
    answer = instance.post("/contests/spring/webhooks", "organiser", json={"url": url})
    assert (answer.status_code, answer.json()["code"]) == (422, "forbidden-url")


def test_a_webhook_for_an_unknown_kind_of_event_is_refused_with_a_suggestion(
    instance: Instance,
) -> None:
    """It would wait for ever; the description lists all kinds."""
    instance.contest("spring")
    path = "/contests/spring/webhooks"
    body = {"url": "https://hooks.example/", "events": ["snapshot-publised"]}
    refused = instance.post(path, "organiser", json=body)
    assert refused.status_code == 422
    assert "did you mean snapshot-published?" in refused.json()["detail"]
    made = instance.post(path, "organiser", json={**body, "events": list(EVENT_KINDS)})
    assert made.status_code == 201, made.text
    path = f"/api/v1{path}/{made.json()['id']}"
    headers = instance.as_("organiser")
    refused = instance.client.patch(path, json={"events": ["x"]}, headers=headers)
    assert refused.status_code == 422
    assert "contest-frozen" in refused.json()["detail"]


def test_the_listed_kinds_of_events_are_those_that_are_announced() -> None:
    """Of entries all that have an event; and the reference lists them all."""
    of_entries = {*append._PUBLIC_EVENTS, *append._STAFF_EVENTS}
    assert of_entries < set(EVENT_KINDS)
    assert set(EVENT_KINDS) - of_entries == {
        "findings-changed", "ledger-imported", "rank-changed", "snapshot-published",
    }  # fmt: skip
    assert set(append._STAFF_EVENTS) < set(STAFF_EVENTS)
    page = (Path(__file__).parents[2] / "docs" / "reference" / "http.md").read_text()
    assert all(f"`{kind}`" in page for kind in EVENT_KINDS)


def test_a_change_set_goes_from_proposal_to_roll_back(instance: Instance) -> None:
    """Each step is an answer of its own; what does not come next is a conflict."""
    instance.contest()
    path = "/contests/spring/change-sets"
    sent = {"kind": "void", "params": {"people": ["u1"]}, "reason": "left"}
    made = instance.post(path, "organiser", json=sent)
    assert (made.status_code, made.json()["state"]) == (202, "proposed")
    one = f"{path}/{made.json()['id']}"
    assert instance.post(f"{one}/apply", "organiser").status_code == 409
    assert instance.post(f"{one}/cancel", "organiser").json()["state"] == "cancelled"
    assert instance.get(path, "organiser").json()["items"][0]["state"] == "cancelled"


def test_a_case_is_opened_decided_and_closed(instance: Instance) -> None:
    """People decide, with reasons that stand in the ledger."""
    instance.contest()
    path = "/contests/spring/cases"
    made = instance.post(path, "organiser", json={"text": "odd votes", "title": "Odd",
                      "subjects": ["ada"]})  # fmt: skip
    assert made.status_code == 201, made.text
    one = f"{path}/{made.json()['id']}"
    decided = instance.post(f"{one}/decisions", "organiser", json={"decision": "dismissed",
                         "reason": "explained"})  # fmt: skip
    assert decided.json()["state"] == "decided"
    assert instance.post(f"{one}/appeals", "judge", json={"text": "no"}).status_code == 404
    appealed = instance.post(f"{one}/appeals", "participant", json={"text": "but"})
    assert appealed.json()["state"] == "appealed"
    # Who complained, and what the organisers noted, is not told to whom the case is about.
    assert [step["kind"] for step in appealed.json()["steps"]] == ["decision", "appeal"]
    assert appealed.json()["finding"] is None
    closed = instance.post(f"{one}/close", "organiser", json={"text": "done"})
    assert closed.json()["state"] == "closed"


def test_submissions_are_for_contests_that_take_them(instance: Instance) -> None:
    """A community has records and no submissions."""
    instance.contest()
    sent = {"content": {"source": "print(1)"}, "problem": "p"}
    assert (
        instance.post("/contests/spring/submissions", "participant", json=sent).status_code == 409
    )
    assert instance.get("/contests/spring/submissions", "participant").json()["items"] == []


@pytest.mark.parametrize(
    "names",
    [["../ledger.ndjson"], ["/etc/ledger.ndjson"], ["a/../../ledger.ndjson"], ["evil.py"],
     ["spring/ledger.ndjson", "other/heads.ndjson"], ["spring/a/ledger.ndjson"],
     ["spring\\..\\contest.json"]],
)  # fmt: skip
def test_an_archive_writes_nowhere_but_where_it_is_unpacked(
    instance: Instance, names: list[str]
) -> None:
    """Names in a stranger's archive are a stranger's paths."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, b"{}")
    headers = {"content-type": "application/zip"}
    body = packed.getvalue()
    answer = instance.post("/contests/import", "operator", content=body, headers=headers)
    assert answer.status_code == 422, answer.text


@pytest.mark.parametrize("body", [b"", b"PK", b"PK\x03\x04" + b"\x00" * 40, b"no zip at all"])
def test_what_is_no_archive_is_refused(instance: Instance, body: bytes) -> None:
    """In our form, whatever it is."""
    headers = {"content-type": "application/zip"}
    answer = instance.post("/contests/import", "operator", content=body, headers=headers)
    assert answer.status_code == 422, answer.text


def test_an_archive_that_unpacks_to_too_much_is_given_up(tmp_path: Any) -> None:
    """A megabyte of nothing packs into a thousand bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("spring/ledger.ndjson", b"\x00" * (1 << 20))
    with pytest.raises(Exception, match="larger than a ledger"):
        unpack(packed, tmp_path, most=1000)


def test_an_archive_of_very_many_names_is_not_even_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body of the largest size names a million files, and a gigabyte would hold their names."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(101):
            archive.writestr(f"{number}", b"")
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(Unreadable, match="too many files"):
        unpack(packed, tmp_path)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
@pytest.mark.parametrize("spoiled", [False, True])
def test_an_archive_packed_in_a_rare_way_is_refused(
    tmp_path: Path, method: int, *, spoiled: bool
) -> None:
    """Each further way of packing has faults of its own, and no export uses them."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("contest.json", b"{}" * 100)
    content = bytearray(packed.getvalue())
    if spoiled:
        content[45:60] = bytes(15)
    with pytest.raises(Unreadable):
        unpack(io.BytesIO(bytes(content)), tmp_path)


@pytest.mark.parametrize("role", ["worker", "organiser", "operator"])
def test_a_bound_token_does_not_learn_which_contests_there_are(
    instance: Instance, role: Role
) -> None:
    """A private contest and none at all are the same to whoever may see neither."""
    instance.contest("spring")
    instance.contest("hidden", visibility="private")
    token = instance.token(role, contests=["spring"])
    said = []
    for name in ("hidden", "nobody"):
        answer = instance.client.get(
            f"/api/v1/jobs?contest={name}", headers={"authorization": f"Bearer {token}"}
        )
        said.append((answer.status_code, answer.json()["detail"].replace(name, "it")))
    assert said[0] == said[1]
    assert said[0][0] == 403


def test_a_worker_does_not_see_why_the_instances_own_jobs_failed(instance: Instance) -> None:
    """A gate's refusal names a term of the answer; workers outside see no answer."""
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
    assert "4711" in instance.get("/jobs", "organiser").text
    listed = instance.get("/jobs", "worker")
    assert [one["id"] for one in listed.json()["items"]] == ["judge-1"]
    for path in ("/jobs?kind=gate", "/jobs/gate-1", "/jobs?kind=publish"):
        answer = instance.get(path, "worker")
        assert answer.status_code == 403
        assert "4711" not in answer.text
    assert instance.get("/jobs/judge-1", "worker").status_code == 200
