"""No response to non-staff callers depends on what happens after a freeze."""

import asyncio
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import ANONYMOUS, SYSTEM
from agon.app.contests.boards.publish import publish as publish_boards
from agon.app.contests.cases.cases import decide, open_case
from agon.app.contests.cases.findings import scan
from agon.app.contests.changes.change_sets import apply, dry_run, propose
from agon.app.contests.ingest.records import RecordImporter
from agon.app.contests.lifecycle.transitions import freeze
from agon.entities.access import Caller
from agon.http.sse import Listener, Streams
from fakes.autumn import CUBES, RIGHT, autumn, judged, publish
from fakes.instance import Instance, instance_at
from fakes.routes import OPEN, routes
from fakes.service import ORGANISER, PARTICIPANT, VIEWER
from sizes import ALL, sample

EXCEPTIONS = {
    "/api/v1/contests/{contest}/events": "is endless; its own test reads it to the keep-alive",
}
"""Paths that are not compared, each with the reason."""

VOLATILE = ("x-request-id", "ratelimit", "x-ratelimit", "date", "server-timing")
"""Headers about the request itself: its id, the time, how many requests are left."""

ROLES = (None, "viewer", "participant") if ALL else (None, "participant")


@pytest.fixture
def instance(tmp_path: Path) -> Any:
    """Open an instance that stores only three snapshots per board."""
    new_instance = instance_at(tmp_path)
    object.__setattr__(new_instance.service, "snapshots_kept", 3)
    yield new_instance
    new_instance.close()


class Frozen:
    """A frozen dojo contest with a problem, verdicts and a participant's submissions."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.problem = autumn(instance.service)
        self.sent = [self.submit() for _ in range(2)]
        judged(instance.service, self.sent[0], self.problem)
        self.rows(0, 4)
        publish_boards(instance.service, "autumn")
        self.rows(4, 6)
        freeze(instance.service, "autumn", by=ORGANISER)

    def submit(self) -> str:
        """Submit a program as ada."""
        body = {"problem": self.problem, "content": {"source": RIGHT}}
        response = self.instance.post("/contests/autumn/submissions", "participant", json=body)
        assert response.status_code == 202, response.text
        return str(response.json()["id"])

    def rows(self, begin: int, end: int) -> None:
        """Record verdicts of other participants."""
        rows = [
            ("submissions", {
                "id": f"r{n}", "problem_id": self.problem, "user_id": f"u{n}",
                "created_at": "2026-11-22T10:00:00Z", "source": RIGHT + f"# {n}\n",
                "verdict": "ok", "terms_matched": 200, "l_chars": len(RIGHT) + n,
            }, None)
            for n in range(begin, end)
        ]  # fmt: skip
        service = self.instance.service
        with service.store.write() as session:  # as those who judge do: the contest is live
            contest = session.contests.lock("autumn")
            RecordImporter(service, session, contest, SYSTEM, replace=False).run(rows)

    def hide(self) -> None:
        """Make changes that the public must not see."""
        service = self.instance.service
        for begin in range(10, 60 if ALL else 30, 10):
            self.rows(begin, begin + 10)
            publish_boards(service, "autumn")
        publish(service, CUBES)
        judged(service, self.sent[1], self.problem)
        judged(service, self.sent[0], self.problem, replace=True, verdict="time_limit")
        for kind, params in (
            ("adjustment", {"board": "players", "id": "u1", "points": 5}),
            ("void", {"records": ["submissions/r2"]}),
        ):
            self.change(kind, params)
        case = open_case(
            service, "autumn", title="Copies", subjects=["ada"], text="look", by=ORGANISER
        )
        decide(service, "autumn", case.id, decision="void", reason="copied", by=ORGANISER)
        scan(service, "autumn")
        publish_boards(service, "autumn")

    def change(self, kind: str, params: dict[str, Any]) -> None:
        """Apply a change set."""
        service = self.instance.service
        if kind == "adjustment":
            with service.store.read() as session:
                params["board"] = session.contests.get("autumn").boards[0]
        change_set = propose(service, "autumn", kind=kind, params=params, reason="r", by=ORGANISER)
        dry_run(service, "autumn", change_set.id)
        apply(service, "autumn", change_set.id, by=ORGANISER)

    def paths(self) -> list[str]:
        """Return the URLs of every GET route for all known ids."""
        with self.instance.service.store.read() as session:
            contest = session.contests.get("autumn")
            boards = [item for item in contest.boards if not item.endswith(">")]
            boards.append(f"problem:{self.problem}")
            jobs = [item.id for item in session.queue.page(limit=3)]
        values = {
            "contest": ["autumn"],
            "board": boards,
            "no": [str(no) for no in sample(range(1, 14))],
            "id": ["ada", "u11", self.problem, self.sent[1], jobs[0]],
        }
        if ALL:
            values["id"] += ["u1", self.sent[0], *jobs[1:]]
        urls = list[str]()
        for template in sorted(self.templates()):
            names = re.findall(r"\{(\w+)\}", template)
            every = [*product(*(values.get(name, ["x1"]) for name in names))]
            for chosen in sample(every, at_least=3):
                path = template
                for name, value in zip(names, chosen, strict=True):
                    path = path.replace("{" + name + "}", value)
                urls.append(path)
        return [*urls, *(f"{item}?as_of=40" for item in urls if "/boards/" in item),
                "/api/v1/contests/autumn?as_of=999999999",
                "/api/v1/contests/autumn/problems?limit=1",
                "/api/v1/contests/autumn/submissions?limit=1",
                "/api/v1/contests/autumn/participants?limit=2"]  # fmt: skip

    def templates(self) -> set[str]:
        """Return all GET routes of the schema except the exceptions."""
        schema = self.instance.client.get("/api/openapi.json").json()
        read = {path for path, methods in schema["paths"].items() if "get" in methods}
        known = {item.template for item in routes(self.instance.app) if item.method == "GET"}
        assert read == known | (OPEN - {"/api/openapi.json"})
        assert set(EXCEPTIONS) <= read
        return read - set(EXCEPTIONS)


def read_all(instance: Instance, paths: list[str], role: str | None) -> dict[str, object]:
    """Return status, stable headers and body of every path."""
    urls: dict[str, object] = {}
    for path in paths:
        response = instance.client.get(path, headers=instance.as_(role))
        assert response.status_code < 500, (path, response.text)
        headers = {k: v for k, v in response.headers.items() if not k.startswith(VOLATILE)}
        body = response.content
        if response.headers.get("content-type") == "application/problem+json":
            body = re.sub(rb'"instance":"[^"]*"', b"", body)
        urls[path] = (response.status_code, headers, body)
    return urls


def event_lines(instance: Instance, caller: Caller) -> list[bytes]:
    """Return the contest's events from the first up to the first keep-alive."""
    streams = Streams(instance.service, most=9, per_address=9, keepalive=0.01)

    async def listen() -> list[bytes]:
        lines = list[bytes]()
        leave = streams.admit(None)
        async for event in streams.events(Listener(contest="autumn", caller=caller, since=0)):
            if event.startswith(b":"):
                break
            lines.append(event)
        leave()
        streams.close()
        return lines

    return asyncio.run(listen())


def test_after_a_freeze_no_response_changes_by_a_byte(instance: Instance) -> None:
    """A count, a position or an ETag would leak information about the hidden result."""
    contest = Frozen(instance)
    paths = contest.paths()
    before = {role: read_all(instance, paths, role) for role in ROLES}
    (board,) = (path for path in paths if path.endswith("/boards/season"))
    staff = read_all(instance, [board], "organiser")
    good = {path for path, response in before[None].items() if response[0] == 200}  # type: ignore[index]  # a tuple
    assert len(good) > 20
    contest.hide()
    for role in ROLES:
        now = read_all(instance, paths, role)
        moved = [path for path in paths if now[path] != before[role][path]]
        assert moved == [], (role, [(now[path], before[role][path]) for path in moved[:2]])
    assert read_all(instance, [board], "organiser") != staff


def test_hidden_changes_of_one_contest_do_not_affect_numbers_of_another(instance: Instance) -> None:
    """Global state numbers in a public contest would reveal the activity of a frozen one."""
    contest = Frozen(instance)
    instance.contest("spring", people=1)
    before = newest(instance, "spring")
    contest.hide()
    instance.people("spring", 1, begin=1)
    boards = len(instance.get("/contests/spring/boards").json()["items"])
    assert newest(instance, "spring") == before + boards


def newest(instance: Instance, contest: str) -> int:
    """Return the number of the newest snapshot that is public."""
    listed = instance.get(f"/contests/{contest}/snapshots?limit=1").json()["items"]
    return int(listed[0]["snapshot"])


@pytest.mark.sample(1)
@pytest.mark.parametrize("caller", [ANONYMOUS, VIEWER, PARTICIPANT], ids=lambda item: item.name)
def test_after_a_freeze_no_event_is_streamed(instance: Instance, caller: Caller) -> None:
    """Event ids must not count hidden entries either."""
    contest = Frozen(instance)
    before = event_lines(instance, caller)
    assert len(before) > 3
    contest.hide()
    assert event_lines(instance, caller) == before
    names = [re.findall(rb"id: (\w+)", item)[0] for item in before[1:]]
    assert all(len(name) == 32 for name in names)
    assert names != sorted(names)


def test_a_submission_after_a_freeze_returns_no_position(
    instance: Instance,
) -> None:
    """Regular submissions would otherwise count the entries of others."""
    contest = Frozen(instance)
    contest.hide()
    body = {"problem": contest.problem, "content": {"source": RIGHT}, "external_id": "mine"}
    sent = instance.post("/contests/autumn/submissions", "participant", json=body)
    assert sent.json()["seq"] is None
    assert sent.headers["location"].endswith(sent.json()["id"])
    body["content"] = {"source": RIGHT + "# other\n"}
    again = instance.post("/contests/autumn/submissions", "participant", json=body)
    assert again.status_code == 409
    assert not re.search(r"entry|\b\d{2,}\b", again.json()["detail"])
