"""What happens behind a freeze cannot be seen at any address, by nobody but the staff."""

import asyncio
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.publish import publish as publish_boards
from agon.app.contests.cases.findings import scan
from agon.app.contests.changes.change_sets import apply, dry_run, propose
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.transitions import freeze
from agon.entities.access import Caller
from agon.http.sse import Listener, Streams
from fakes.autumn import CUBES, RIGHT, autumn, judged, publish
from fakes.instance import Instance, instance_at
from fakes.routes import OPEN, routes
from fakes.service import ORGANISER, PARTICIPANT, VIEWER

EXCEPTIONS = {
    "/api/v1/contests/{contest}/events": "is endless; its own test reads it to the first silence",
}
"""Addresses that are not compared, each with the reason."""

VOLATILE = ("x-request-id", "ratelimit", "x-ratelimit", "date", "server-timing")
"""Headers about the request itself: its id, the time, how many requests are left."""

ROLES = (None, "viewer", "participant")


@pytest.fixture
def instance(tmp_path: Path) -> Any:
    """Open an instance that forgets old boards early."""
    made = instance_at(tmp_path)
    object.__setattr__(made.service, "snapshots_kept", 3)
    yield made
    made.service.store.close()


class Frozen:
    """Hold a frozen dojo contest with a problem, verdicts and a participant's submissions."""

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
        """Send a program as ada."""
        body = {"problem": self.problem, "content": {"source": RIGHT}}
        answer = self.instance.post("/contests/autumn/submissions", "participant", json=body)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def rows(self, begin: int, end: int) -> None:
        """Record verdicts of others."""
        rows = [
            ("submissions", {
                "id": f"r{n}", "problem_id": self.problem, "user_id": f"u{n}",
                "created_at": "2026-11-22T10:00:00Z", "source": RIGHT + f"# {n}\n",
                "verdict": "ok", "terms_matched": 200, "l_chars": len(RIGHT) + n,
            }, None)
            for n in range(begin, end)
        ]  # fmt: skip
        record(self.instance.service, "autumn", rows, by=ORGANISER)

    def hide(self) -> None:
        """Let happen what the public must not see."""
        service = self.instance.service
        for begin in range(10, 60, 10):
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
        scan(service, "autumn")
        publish_boards(service, "autumn")

    def change(self, kind: str, params: dict[str, Any]) -> None:
        """Apply a change set."""
        service = self.instance.service
        if kind == "adjustment":
            with service.store.read() as session:
                params["board"] = session.contests.get("autumn").boards[0]
        made = propose(service, "autumn", kind=kind, params=params, reason="r", by=ORGANISER)
        dry_run(service, "autumn", made.id)
        apply(service, "autumn", made.id, by=ORGANISER)

    def paths(self) -> list[str]:
        """List addresses of every route that is read, for everything there is to name."""
        with self.instance.service.store.read() as session:
            contest = session.contests.get("autumn")
            boards = [one for one in contest.boards if not one.endswith(">")]
            boards.append(f"problem:{self.problem}")
            jobs = [one.id for one in session.queue.page(limit=3)]
        values = {
            "contest": ["autumn"],
            "board": boards,
            "no": [str(no) for no in range(1, 14)],
            "id": ["ada", "u1", "u11", self.problem, *self.sent, *jobs],
        }
        found = list[str]()
        for template in sorted(self.templates()):
            names = re.findall(r"\{(\w+)\}", template)
            for chosen in product(*(values.get(name, ["x1"]) for name in names)):
                path = template
                for name, value in zip(names, chosen, strict=True):
                    path = path.replace("{" + name + "}", value)
                found.append(path)
        return [*found, *(f"{one}?as_of=40" for one in found if "/boards/" in one),
                "/api/v1/contests/autumn/problems?limit=1",
                "/api/v1/contests/autumn/submissions?limit=1",
                "/api/v1/contests/autumn/participants?limit=2"]  # fmt: skip

    def templates(self) -> set[str]:
        """List what is read: all routes of the schema but the exceptions."""
        schema = self.instance.client.get("/api/openapi.json").json()
        read = {path for path, methods in schema["paths"].items() if "get" in methods}
        known = {one.template for one in routes(self.instance.app) if one.method == "GET"}
        assert read == known | (OPEN - {"/api/openapi.json"})
        assert set(EXCEPTIONS) <= read
        return read - set(EXCEPTIONS)


def answers(instance: Instance, paths: list[str], role: str | None) -> dict[str, object]:
    """Ask for everything; return status, lasting headers and body of each."""
    found: dict[str, object] = {}
    for path in paths:
        answer = instance.client.get(path, headers=instance.as_(role))
        assert answer.status_code < 500, (path, answer.text)
        headers = {k: v for k, v in answer.headers.items() if not k.startswith(VOLATILE)}
        body = answer.content
        if answer.headers.get("content-type") == "application/problem+json":
            body = re.sub(rb'"instance":"[^"]*"', b"", body)
        found[path] = (answer.status_code, headers, body)
    return found


def heard(instance: Instance, caller: Caller) -> list[bytes]:
    """Listen to the contest's events from the first to the silence."""
    streams = Streams(instance.service, most=9, per_address=9, keepalive=0.01)

    async def listen() -> list[bytes]:
        said = list[bytes]()
        leave = streams.admit(None)
        async for event in streams.events(Listener(contest="autumn", caller=caller, since=0)):
            if event.startswith(b":"):
                break
            said.append(event)
        leave()
        streams.close()
        return said

    return asyncio.run(listen())


def test_behind_a_freeze_no_answer_moves_by_a_byte(instance: Instance) -> None:
    """Not a count, not a position, not an ETag: each would tell something of the hidden result."""
    contest = Frozen(instance)
    paths = contest.paths()
    before = {role: answers(instance, paths, role) for role in ROLES}
    staff = answers(instance, paths, "organiser")
    good = {path for path, told in before[None].items() if told[0] == 200}  # type: ignore[index]  # a tuple
    assert len(good) > 20
    contest.hide()
    for role in ROLES:
        now = answers(instance, paths, role)
        moved = [path for path in paths if now[path] != before[role][path]]
        assert moved == [], (role, [(now[path], before[role][path]) for path in moved[:2]])
    assert answers(instance, paths, "organiser") != staff


def test_what_is_hidden_in_one_contest_is_not_counted_in_another(instance: Instance) -> None:
    """Numbers of states rise with each; a public contest's would tell how busy a frozen one is."""
    contest = Frozen(instance)
    instance.contest("spring", people=1)
    before = newest(instance, "spring")
    contest.hide()
    instance.people("spring", 1, begin=1)
    boards = len(instance.get("/contests/spring/boards").json()["items"])
    assert newest(instance, "spring") == before + boards


def newest(instance: Instance, contest: str) -> int:
    """Return the number of the newest state a stranger sees."""
    listed = instance.get(f"/contests/{contest}/snapshots?limit=1").json()["items"]
    return int(listed[0]["snapshot"])


@pytest.mark.parametrize("caller", [ANONYMOUS, VIEWER, PARTICIPANT], ids=lambda one: one.name)
def test_behind_a_freeze_no_event_is_heard(instance: Instance, caller: Caller) -> None:
    """Their ids tell nothing either: no number in them rises with what is hidden."""
    contest = Frozen(instance)
    before = heard(instance, caller)
    assert len(before) > 3
    contest.hide()
    assert heard(instance, caller) == before
    names = [re.findall(rb"id: (\w+)", one)[0] for one in before[1:]]
    assert all(len(name) == 32 for name in names)
    assert names != sorted(names)


def test_what_a_participant_sends_behind_a_freeze_is_told_without_its_place(
    instance: Instance,
) -> None:
    """A submission every minute would count what others send."""
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
