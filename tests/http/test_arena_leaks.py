"""No response of an arena shows what a judge must not know, or what happens after a freeze."""

import io
import logging
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
import structlog

from agon.app.access.permissions import LOCAL
from agon.app.arena.live.entrants.bots import (
    BotChanges,
    change,
    register,
    rotate_secret,
    secrets_of,
)
from agon.app.arena.live.honeypots.bank import save_honeypot_answers
from agon.app.arena.live.qualification import begin as begin_qualification
from agon.app.arena.live.work import HandIn, hand_in
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.transfer import export
from agon.app.contests.lifecycle.transitions import freeze, open_contest
from agon.entities.arena import HumanAnswer, Prompt
from agon.logs import start_logging
from agon.runners.judges.opening import open_separate_judge
from fakes.arena import League, Model, league
from fakes.instance import Instance, instance_of
from fakes.models import KEY, error_body, serve_model, served
from fakes.models import Reply as ModelReply
from fakes.routes import routes
from fakes.service import ORGANISER, PARTICIPANT
from sizes import ALL

NAMES = {"contest": ["autumn"], "number": ["1", "2"]}
OF_ARENAS = (
    "/bots", "/rounds", "/next-round", "/matches/", "/judge/", "/judges/", "/work", "/results",
    "/robustness", "/honeypot-answers",
)  # fmt: skip
ROLES = (None, "viewer", "participant", "judge", "organiser", "operator")
VOLATILE = ("x-request-id", "ratelimit", "x-ratelimit", "date", "server-timing")


def templates(instance: Instance) -> list[str]:
    """Return the paths of all GET routes of arenas."""
    found = [
        route.template.removeprefix("/api/v1")
        for route in routes(instance.app)
        if route.method == "GET" and any(part in route.template for part in OF_ARENAS)
    ]
    assert len(found) == 16, found
    return found


def responses(
    instance: Instance, role: str | None, values: dict[str, list[str]], *, skip: str = "-"
) -> dict[str, tuple[int, dict[str, str], str]]:
    """Return status, headers and body of every GET route of arenas, for all known ids."""
    values = NAMES | {"judge": values["bot"]} | values
    answers = {}
    for template in templates(instance):
        names = re.findall(r"\{(\w+)\}", template)
        for chosen in product(*(values[name] for name in names)):
            path = template
            for name, value in zip(names, chosen, strict=True):
                path = path.replace("{" + name + "}", value)
            if skip in path:
                continue
            response = instance.get(path, role)
            assert response.status_code < 500, (path, response.text)
            headers = {
                name: value
                for name, value in response.headers.items()
                if not name.startswith(VOLATILE)
            }
            body = re.sub(r'"instance":"[^"]*"', "", response.text)
            answers[path] = (response.status_code, headers, body)
    return answers


def ids(played: League) -> dict[str, list[str]]:
    """Return the ids of bots and matches."""
    with played.service.store.read() as session:
        no = session.contests.get("autumn").no
        bots = [bot.id for bot in session.arena.bots(no, limit=3)]
    return {"bot": bots, "match": ["r1-1", "r1-2", "r2-1"]}


SEALED = ("honeypot", "audit", "shown_first", "reserves", "seed", "template", "robotic", "panel")
"""Words that stand in no response before a round is settled, except as names of empty fields.

All matches have the same fields, so that the name of one without a value says nothing.
"""

EMPTY_FIELD = re.compile(r'"\w+":null')


def test_until_settlement_honeypots_and_audits_look_like_other_matches(tmp_path: Path) -> None:
    """Leagues without any, with honeypots only, and with audits of all matches are compared.

    With TEST_ALL_SIZES also leagues whose honeypots are private texts or answers of weak bots.
    """
    seen: list[list[Any]] = []
    leagues: list[tuple[str, dict[str, Any]]] = [
        ("plain", {}),
        ("honeypots", {"honeypot_probability": 1.0}),
        ("audited", {"audit_probability": 1.0}),
        ("bank", {"honeypot_probability": 1.0}),
        ("weak", {
            "honeypot_probability": 1.0, "honeypot_weak_share": 1.0, "honeypot_weak_distance": 0.0
        }),
    ]  # fmt: skip
    for name, rules in leagues if ALL else leagues[:3]:
        folder = tmp_path / name
        folder.mkdir()
        played = league(folder, bots=6, pulling=tuple(f"b{n}" for n in range(1, 7)), **rules)
        add_bank(played, prompt=None if name == "bank" else "never")
        with instance_of(played.service, folder) as instance:
            seen.append(phases(played, instance))
            played.audit = watched = Watched(instance=instance)
            assert played.work() == []
        assert watched.calls == (3 if name == "audited" else 0)
        stated = [match.get("honeypot_text", {}) for match in played.outcomes()]
        assert any(name in text for text in stated) == (name in {"bank", "weak"})
    assert len(seen[0]) == 2
    for other in seen[1:]:
        assert other == seen[0]


def add_bank(played: League, *, prompt: str | None) -> None:
    """Add texts for honeypots to a prompt, which may be one that is never drawn."""
    with played.service.store.write() as session:
        never = Prompt(id="never", text="Never?", retired=True)
        session.arena.save_prompts(played.contest.no, [never])
    texts = [{"id": f"k{at}", "text": f"private text {at}", "prompt_id": prompt} for at in range(9)]
    rows = [("honeypot_answers", row, None) for row in texts]
    save_honeypot_answers(played.service, "autumn", rows, by="local")


@dataclass
class Watched(Model):
    """A model that looks at the round while it audits it."""

    instance: Instance | None = None

    def compare(self, *, prompt: str, a: str, b: str, seconds: float) -> Any:
        """Return a vote; nothing shows yet that the match is audited."""
        assert self.instance is not None
        assert self.instance.get("/contests/autumn/rounds/1").json()["state"] == "settling"
        return super().compare(prompt=prompt, a=a, b=b, seconds=seconds)


def phases(played: League, instance: Instance) -> list[Any]:
    """Play a round; return what the public and participants see while it is played."""
    known: dict[str, list[str]] = {"bot": ids(played)["bot"][:1], "match": ["r1-1", "r1-2"]}
    shown: list[Any] = []
    off = instance.get("/contests/autumn/protections").json()
    played.start()
    for kind in ("answer", "vote"):
        assert played.work() == []
        assert instance.get("/contests/autumn/protections").json() == off
        roles = (None, "participant", "judge", "organiser")
        seen = {role: responses(instance, role, known, skip="/work") for role in roles}
        text = "".join(body for pages in seen.values() for _, _, body in pages.values())
        stated = EMPTY_FIELD.sub("", text)
        assert not [word for word in SEALED if word in stated]
        shown.append(seen)
        for item in waiting(played):
            assert set(item) == WORK | ({"answers"} if kind == "vote" else set())
            answer = HandIn(text=f"words of {item['id']}")
            done = answer if kind == "answer" else HandIn(vote="A")
            hand_in(played.service, played.contest, item["id"], done, by=LOCAL)
    return shown


def test_until_settlement_an_attempt_to_qualify_looks_like_a_match(tmp_path: Path) -> None:
    """A judge who knew could let a friend's bot qualify; no id, and no route, shows it.

    When it is asked may: see what the how-to says of attempts between rounds.
    """
    names = tuple(f"b{number}" for number in range(1, 7))
    played = league(tmp_path, bots=6, pulling=names)
    with played.service.store.write() as session:
        bot = session.arena.bots(played.contest.no)[0]
        answers = [HumanAnswer(id="h1", prompt_id="p1", text="Soup, of course.")]
        session.arena.save_human_answers(bot.contest_no, answers)
    attempt = begin_qualification(played.service, "autumn", bot.id, by=LOCAL)
    with played.service.store.write() as session:
        session.queue.add(attempt, now=played.clock.at)
    played.start()
    with instance_of(played.service, tmp_path) as instance:
        for kind in ("answer", "vote"):
            assert played.work() == []
            items = waiting(played)
            matches = {item["match"] for item in items}
            assert len(matches) == len(items)  # nobody's id is another's
            assert len({frozenset(item) - {"id", "match"} for item in items}) == 1
            for role in ROLES:
                for name in matches:
                    shown = instance.get(f"/contests/autumn/matches/{name}", role).json()
                    stated = {field: value for field, value in shown.items() if value is not None}
                    assert stated == {"id": name, "state": "playing"}
                listed = instance.get("/contests/autumn/rounds", role).json()["items"]
                assert [of["number"] for of in listed] == [1]
            for item in items:
                answer = HandIn(text=f"words of {item['id']}")
                done = answer if kind == "answer" else HandIn(vote="A")
                hand_in(played.service, played.contest, item["id"], done, by=LOCAL)
        assert played.work() == []
        settled = [instance.get(f"/contests/autumn/matches/{match}").json() for match in matches]
        played_in = {match["id"]: match["round"] for match in settled}
        assert sorted(played_in.values()) == ["q1", "r1", "r1", "r1"]


WORK = {
    "id", "kind", "match", "prompt", "max_chars", "deadline", "deadline_ms", "attempt",
    "last_latency_ms", "protocol",
}  # fmt: skip


def waiting(played: League) -> list[dict[str, Any]]:
    """Return all work that waits, as its assignees get it."""
    with played.service.store.read() as session:
        contest = session.contests.get("autumn")
        return [
            dict(item.body)
            for bot in session.arena.bots(contest.no)
            for item in session.arena.waiting_work(contest.no, bot.id, now=played.clock.at)
        ]


def test_after_a_freeze_no_response_of_an_arena_changes(tmp_path: Path) -> None:
    """Rounds, matches, pauses, versions and registrations after it are the hidden result."""
    played = league(tmp_path, bots=4)
    played.model = Model()
    with instance_of(played.service, tmp_path) as instance:
        open_contest(played.service, "autumn", by=ORGANISER)
        own, _ = register(played.service, "autumn", name="ada's", by=PARTICIPANT)
        assert played.play() == []
        known = {**ids(played), "bot": [*ids(played)["bot"], own.id]}
        freeze(played.service, "autumn", by=ORGANISER)
        roles = (None, "viewer", "judge")
        own_work = "/judge/"  # a judge who asks is drawn from then on
        before = {role: responses(instance, role, known, skip=own_work) for role in roles}
        eligible = f"/contests/autumn/bots/{own.id}/eligibility"
        reasons = instance.get(eligible, "participant").json()
        played.fail("b1", only="answer")
        for _ in range(3):
            assert played.play() == []
        failing = played.bot("b1")
        assert failing.paused is not None
        new = BotChanges(version="2", author="eve", judges=False, endpoint=None)
        change(played.service, "autumn", played.bot("b2").id, new, by=LOCAL)
        record(played.service, "autumn", [("owners", OWNER, None)], by=LOCAL)
        late, _ = register(played.service, "autumn", name="late", owner="zoe", by=LOCAL)
        row = {"id": own.id, "name": own.name, "owner_id": "ada", "qualified_at": OLD}
        record(played.service, "autumn", [("bots", row, None)], by=LOCAL, replace=True)
        for role in roles:
            now = responses(instance, role, known, skip=own_work)
            changed = {path: (before[role][path], now[path]) for path in now
                       if now[path] != before[role][path]}  # fmt: skip
            assert changed == {}, role
        assert instance.get(f"/contests/autumn/bots/{late.id}").status_code == 404
        assert instance.get(eligible, "participant").json() == reasons
        mine = instance.get(f"/contests/autumn/bots/{own.id}", "participant").json()
        assert mine["qualified_at"] == "2026-01-01T00:00:00Z"
        staff = instance.get(f"/contests/autumn/bots/{failing.id}", "organiser").json()
        assert staff["status"] == "paused"
        listed = instance.get("/contests/autumn/rounds", "organiser").json()["items"]
        assert [of["number"] for of in listed] == [4, 3, 2, 1]


OLD = "2026-01-01T00:00:00Z"
OWNER = {"id": "zoe", "handle": "zoe", "account_created_at": OLD}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Return a stream for the log, and leave logging as it was."""
    root = logging.getLogger()
    before, level = root.handlers, root.level
    yield io.StringIO()
    root.handlers = before
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def test_no_secret_is_in_a_response_a_log_an_event_an_export_or_the_database(
    tmp_path: Path, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Secrets of bots (both, while one is rotated), keys of models that repeat them, tokens."""
    monkeypatch.setenv("AGON_ARENA_JUDGE_KEY", KEY)
    played = league(tmp_path, bots=4)
    service = played.service = replace(played.service, random=Random(1).randbytes)
    played.fail("b1", only="answer")
    first = played.bot("b2").id
    rotate_secret(service, "autumn", first, by=LOCAL)
    rotated, shown = rotate_secret(service, "autumn", first, by=LOCAL)
    keys = set(secrets_of(service, rotated))
    assert len(keys) == 2
    with serve_model() as model, instance_of(played.service, tmp_path) as instance:
        start_logging(form="json", level="debug", stream=log)
        judge = open_separate_judge(served("openai", model.url))
        played.model = played.audit = judge
        model.replies += [ModelReply(401, error_body("authentication_error"))] * 2
        for _ in range(3):
            played.play()
            played.later(61)
            assert played.work() == []
        assert len(played.entries("round-settled")) >= 2
        wrong = {"name": "x", "endpoint": shown, "owner": "nobody"}
        rejected = instance.post("/contests/autumn/bots", "organiser", json=wrong)
        assert rejected.status_code >= 400
        texts = [rejected.text]
        known = ids(played)
        for role in ROLES:
            texts += [body for _, _, body in responses(instance, role, known).values()]
        for path in ("/contests/autumn/findings", "/jobs", "/model-judges", "/audit"):
            texts.append(instance.get(path, "operator").text)
        tokens = [token.encode() for token in instance.tokens.values()]
        export(service, "autumn", tmp_path / "ledger")
        with service.store.read() as session:
            texts += [str(event) for event in session.events.after(0)]
            texts += [str(job) for job in session.queue.page(limit=500)]
            texts += [repr(bot) for bot in session.arena.bots(session.contests.get("autumn").no)]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name.startswith("agon.db") for path in files)
    assert len(files) > 3
    content = b"".join(path.read_bytes() for path in files)
    content += "".join(texts).encode() + log.getvalue().encode()
    secrets = [KEY.encode(), *tokens, *keys, *map(b64encode, keys)]
    assert [secret for secret in secrets if secret in content] == []
