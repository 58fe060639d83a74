"""Whatever a live contest accepts, replay explains: every operation with every role, then replay.

Requests are plausible or hostile: of other roles, for other matches, at chosen times, twice.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agon.api.catalog import all_operations
from agon.api.operation import Operation
from agon.app.access.permissions import LOCAL
from agon.app.arena.draw_audit import DrawReport, check_draws, check_stored_draws
from agon.app.contests.boards.publish import publish
from agon.app.contests.changes import change_sets
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.replay.replay import replay
from agon.entities.arena import HumanAnswer
from agon.errors import AgonError
from agon.ledger.fold import empty_ledger, fold
from agon.store.maintenance.verify import verify
from fakes.arena import League, league
from fakes.instance import API, ROLES, USERS, Instance, instance_at
from sizes import size

CONTEST = "autumn"
TIME = "2026-01-01T00:00:00Z"
CALLERS = (None, *ROLES, "organiser of another contest")
ENDS = ("finalizeContest", "unfinalizeContest")
"""Operations after which most others are refused; they come last."""

SKIPPED = {
    "streamEvents": "has no end",
    "changeUser": "would disable the callers",
    "revokeToken": "would end their tokens",
    "setQueue": "would pause the jobs",
    "importContest": "takes a file; test_doors.py of live arenas imports",
}
OPERATIONS = [each for each in all_operations() if each.id not in SKIPPED]


class World:
    """A live arena behind HTTP: what can be named in requests, and a check of its ledger."""

    def __init__(self, folder: Path, played: League, instance: Instance, random: Random) -> None:
        self.folder = folder
        self.played = played
        self.instance = instance
        self.random = random
        self.checked = 0
        self.accepted: set[tuple[str, str | None]] = set()

    def request(self, operation: Operation[Any, Any], caller: str | None) -> int:
        """Send a request of a role, and check the ledger if it has grown; return the status."""
        path, body = self.path(operation), self.body(operation.id, caller)
        headers = self.headers(caller)
        options: dict[str, Any] = {}
        if isinstance(body, bytes):
            headers["content-type"] = "application/x-ndjson"
            options["content"] = body
        elif body is not None:
            options["json"] = body
        query = {"replace": "true"} if operation.id == "addRecords" and self.maybe() else {}
        response = self.instance.client.request(
            operation.method, path, headers=headers, params=query, **options
        )
        what = (operation.id, caller, path, body, response.text[:500])
        assert response.status_code < 500, what
        if response.status_code < 300 and operation.changes:
            self.accepted.add((operation.id, caller))
        if operation.id == "proposeChangeSet" and response.status_code == 202:
            self.dry_run(response.json()["id"])
        self.check(what)
        return int(response.status_code)

    def headers(self, caller: str | None) -> dict[str, str]:
        """Return the headers of a caller."""
        if caller is None:
            return {}
        if caller not in ROLES:
            token = self.instance.limited_token("organiser", contests=("hidden",))
            return self.instance.as_(None, token)
        return self.instance.as_(caller)

    def maybe(self, share: float = 0.5) -> bool:
        """Return True in a share of cases."""
        return self.random.random() < share

    def path(self, operation: Operation[Any, Any]) -> str:
        """Return a path with names that exist, mostly."""
        prefix = API if operation.url.startswith(API) else ""
        path = operation.url.removeprefix(prefix)
        for name in operation.placeholders:
            value = CONTEST if name == "contest" else self.name(operation, name)
            path = path.replace("{" + name + "}", value)
        return prefix + path

    def name(self, operation: Operation[Any, Any], placeholder: str) -> str:
        """Return a name for a placeholder of a path."""
        with self.played.service.store.read() as session:
            no = session.contests.get(CONTEST).no
            bots = [bot.id for bot in session.arena.bots(no)]
        known = {
            "bot": bots,
            "match": self.matches(),
            "number": ["1", "2"],
            "board": ["bots", "judges"],
            "judge": ["judy", *bots],
            "id": self.ids(operation),
        }.get(placeholder, ["x1"])
        return self.random.choice([*known, *known, "x1"])

    def ids(self, operation: Operation[Any, Any]) -> list[str]:
        """Return ids of what an operation is about."""
        with self.played.service.store.read() as session:
            no = session.contests.get(CONTEST).no
            if "change-sets" in operation.path:
                return [change.id for change in session.changes.page(no, limit=100)][-4:]
            if "/cases" in operation.path:
                return [case.id for case in session.cases.page(no, limit=100)][-4:]
            if "/work/" in operation.path:
                assignees = ["judy", "olga", *(bot.id for bot in session.arena.bots(no))]
                now = self.played.clock.at
                return [
                    item.id
                    for name in assignees
                    for item in session.arena.waiting_work(no, name, now=now)
                ]
        return []

    def matches(self) -> list[str]:
        """Return ids of matches: of settled rounds, of coming ones, and others."""
        settled = [row["id"] for row in self.played.rows("matches")][-6:]
        return [*settled, "r1-1", "r2-1", "r3-1", "r99-1", "q1-1", "other"]

    def body(self, operation: str, caller: str | None) -> Any:
        """Return a body for an operation."""
        user = USERS.get(caller or "", "ada")
        bots = [row["id"] for row in self.played.rows("bots")] or ["none"]
        choose, match = self.random.choice, self.random.choice(self.matches())
        number = self.random.randrange(10**6)
        if operation in {"addVotes", "addRecords"}:
            rows = self.records(user, match, bots)
            return ndjson([rows["votes"]] if operation == "addVotes" else [
                {"table": table, "row": row,
                 **({"external_id": choice} if (choice := choose(["e1", "e2", None])) else {})}
                for table, row in [choose(list(rows.items()))]
            ])  # fmt: skip
        bodies: dict[str, Any] = {
            "addPrompts": ndjson([{"id": f"p{number % 8}", "text": f"Why {number}?"}]),
            "addHumanAnswers": ndjson([{"id": "h1", "prompt_id": "p1", "text": "Soup."}]),
            "registerBot": {"name": f"n{number % 9}", "judges": self.maybe(),
                            **({"owner": choose(["ada", "judy", "o-b1", "none"])}
                               if self.maybe(0.3) else {})},
            "changeBot": choose([{"judges": self.maybe()}, {"version": str(number % 3)},
                                 {"paused": self.maybe()}]),
            "handIn": choose([{"vote": choose("AB")}, {"text": f"words {number}"},
                              {"error": "no"}, {"vote": "C"}]),
            "submit": {"user": user, "problem": None, "content": {"source": "x = 1"}},
            "openCase": {"title": "Odd", "subjects": bots[:1]},
            "decideCase": {"decision": "kept", "reason": "fine"},
            "noteCase": {"text": "seen"},
            "appealCase": {"text": "please"},
            "closeCase": {"reason": "done"},
            "proposeChangeSet": self.change(match, bots),
            "applyChangeSet": {"even_if_moved": True},
            "rollBackChangeSet": {"reason": "again"},
            "unfreezeContest": {"reason": "on"},
            "finalizeContest": {"force": True},
            "unfinalizeContest": {"reason": "again"},
            "editContest": {"title": f"A {number}"},
            "createContest": {"id": f"c{number}", "discipline": "arena", "title": "C"},
            "createInvitation": {"role": "participant"},
            "acceptInvitation": {"code": "none"},
            "claimJob": {"worker": "w2", "kinds": ["round", "publish"]},
            "createWebhook": {"url": "https://hook.example/", "events": ["*"]},
        }  # fmt: skip
        return bodies.get(operation)

    def records(self, user: str, match: str, bots: list[str]) -> dict[str, Any]:
        """Return a row of each table, of the caller or of others."""
        choose = self.random.choice
        names = [user, "judy", "ada", *bots[:2]]
        return {
            "votes": {"match_id": match, "judge_id": choose(names), "shown_first": choose("ab"),
                      "vote": choose(["A", "B", "tie"]), "voted_at": choose([TIME, None])},
            "matches": {"id": match, "played_at": choose([TIME, None]), "bot_a": choose(bots),
                        "bot_b": choose(bots), "kind": choose(["rated", "skipped"])},
            "judges": {"id": choose(names), "kind": choose(["person", "api"])},
            "owners": {"id": choose(names), "handle": "x", "account_created_at": None},
            "bots": {"id": choose([*bots, "new"]), "name": "x", "owner_id": choose(names)},
            "reinstatements": {"judge_id": choose(names), "reinstated_at": TIME, "reason": "r"},
            "versions": {"bot_id": choose(bots), "version": "2", "since": TIME},
        }  # fmt: skip

    def change(self, match: str, bots: list[str]) -> Mapping[str, Any]:
        """Return a proposal of a change set."""
        votes = self.played.rows("votes") or [{"match_id": match, "judge_id": "judy"}]
        vote = self.random.choice(votes)
        key = {name: vote[name] for name in ("match_id", "judge_id")}
        seq = self.random.randrange(1, len(self.played.ledger()) + 2)
        kind, params = self.random.choice([
            ("correction", {"table": "votes", "rows": [{**key, "vote": "tie"}]}),
            ("correction", {"table": "matches",
                            "rows": [{"id": match, "winner": "a", "bot_a": bots[-1]}]}),
            ("correction", {"table": "bots", "rows": [{"id": bots[0], "name": "other"}]}),
            ("void", {"records": [f"matches/{match}"]}),
            ("void", {"records": [str(seq)]}),
            ("void", {"people": [self.random.choice(["judy", *bots])]}),
            ("rules", {"overrides": {"judges_per_match": self.random.choice([1, 3]),
                                     "honeypot_probability": self.random.choice([0.0, 0.6])}}),
            ("adjustment", {"board": "bots", "id": bots[0], "points": 5}),
            ("rejudge", {}),
        ])  # fmt: skip
        return {"kind": kind, "params": params, "reason": "tried"}

    def dry_run(self, change: str) -> None:
        """Run a change set dry, as a worker does; one that cannot be applied stays without."""
        with suppress(AgonError):
            change_sets.dry_run(self.played.service, CONTEST, change)

    def play(self) -> None:
        """Run the jobs that wait, and let deadlines pass."""
        self.played.work()
        self.check("work")
        self.played.later(self.random.choice([1, 40, 400, 4000]))
        self.played.work()
        self.check("late work")

    def check(self, what: object) -> None:
        """Replay the ledger if it has grown."""
        lines = self.played.ledger()
        if len(lines) == self.checked:
            return
        self.checked = len(lines)
        state = fold(lines, start=empty_ledger(CONTEST))
        assert check_draws(lines, state) == DrawReport(), what
        replayed = replay(lines, contest=CONTEST)
        replayed.live.close()
        assert replayed.seq == len(lines)


def ndjson(rows: list[Any]) -> bytes:
    """Return rows as lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Open an arena with bots that pull and push, people and a prompt, and play two rounds."""
    random = Random(30)
    played = league(tmp_path, pulling=("b6",), honeypot_probability=0.3, judges_per_match=3)
    played.service = replace(played.service, random=random.randbytes)
    open_contest(played.service, CONTEST, by=LOCAL)
    with played.service.store.write() as session:
        no = session.contests.get(CONTEST).no
        session.arena.save_human_answers(no, [HumanAnswer(id="h", prompt_id="p1", text="Soup.")])
    instance = instance_at(tmp_path, service=played.service)
    instance.contest("hidden", visibility="private")
    made = World(tmp_path, played, instance, random)
    for _ in range(2):
        played.start()
        made.play()
    publish(played.service, CONTEST)
    yield made
    instance.close()


@pytest.mark.exhaustive
def test_every_accepted_entry_of_a_live_arena_can_be_replayed(world: World) -> None:
    """First each operation with each role in random order, then any, with rounds between them."""
    pairs = [(each, caller) for each in OPERATIONS for caller in CALLERS if each.id not in ENDS]
    world.random.shuffle(pairs)
    pairs = pairs[: size(len(pairs), dear=True)]
    changing = [each for each in OPERATIONS if each.changes and each.id not in ENDS]
    busy = [each for each in changing if each.permission not in {"user.manage", "token.manage"}]
    for _ in range(size(1500, dear=True)):
        pairs.append((world.random.choice(busy), world.random.choice(CALLERS)))
    for number, (operation, caller) in enumerate(pairs):
        world.request(operation, caller)
        if number % 12 == 0:
            world.play()
    for operation in OPERATIONS:
        if operation.id in ENDS:
            for caller in CALLERS:
                world.request(operation, caller)
    for operation in world.random.sample(changing, len(changing)):
        world.request(operation, "organiser")
    world.play()
    assert len(world.accepted) > 10
    assert check_stored_draws(world.played.service.store) == DrawReport()
    verified = verify(f"sqlite:///{world.folder}/agon.db")
    assert verified.issues == ()
