"""A live arena in one process: bots behind a transport without a network, jobs run one by one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from agon.app.access.permissions import LOCAL
from agon.app.arena.judging.port import Exchange, JudgeModel, ModelVote
from agon.app.arena.live.entrants.bots import register
from agon.app.arena.live.network.pinging import endpoint_check
from agon.app.arena.live.network.ports import ArenaPorts
from agon.app.arena.live.network.transport import BotReply, Endpoint
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.queue import leases
from agon.app.queue.jobs import round_job
from agon.app.queue.source import Assignment, JobProgress
from agon.app.service import Service
from agon.app.worker.handlers import RESULT_HANDLERS, round_runners
from agon.disciplines.arena.rounds.faults import Fault
from agon.entities.arena import Prompt
from agon.entities.contests import Contest
from agon.errors import AgonError
from agon.ledger.entry import read_line
from fakes.service import Clock, service_at

OLD = "2026-01-01T00:00:00Z"
Answer = Callable[[Mapping[str, Any]], BotReply | Fault]


def answer(endpoint: str, work: Mapping[str, Any]) -> BotReply:
    """Return what an honest bot answers: words of its own, and a vote that follows from the text.

    The vote does not depend on the order in which the answers are shown.
    """
    if work["kind"] == "ping":
        return BotReply(nonce=work["nonce"])
    if work["kind"] == "answer":
        words = sha256(f"{endpoint}/{work['match']}".encode()).hexdigest()
        return BotReply(text=" ".join(words[at : at + 4] for at in range(0, 32, 4)), latency_ms=7.0)
    texts = work["answers"]
    return BotReply(vote=max(texts, key=lambda label: sha256(texts[label].encode()).digest()))


@dataclass
class Network:
    """A transport to bots that are functions; ``behavior`` replaces an endpoint's answers."""

    behavior: dict[str, Answer] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def ask(
        self, endpoint: Endpoint, work: Mapping[str, Any], *, seconds: float
    ) -> BotReply | Fault:
        """Return the bot's answer."""
        assert seconds > 0
        self.asked.append((endpoint.url, dict(work)))
        behavior = self.behavior.get(endpoint.url)
        return answer(endpoint.url, work) if behavior is None else behavior(work)


@dataclass
class Model:
    """A model that prefers the same answer in both orders."""

    name: str = "model-1"
    fault: Fault | None = None
    calls: int = 0

    def pause(self) -> Fault | None:
        """Return the fault of the next call."""
        return self.fault

    def compare(self, *, prompt: str, a: str, b: str, seconds: float) -> ModelVote | Fault:
        """Return a vote that follows from the texts."""
        assert prompt
        assert seconds > 0
        self.calls += 1
        if self.fault is not None:
            return self.fault
        side: Any = "a" if sha256(a.encode()).digest() > sha256(b.encode()).digest() else "b"
        return ModelVote(choices=(side, side), exchanges=(Exchange(b"q", b"r"),), tokens=2)


@dataclass
class League:
    """A service with an arena called ``autumn``, and the network of its bots."""

    service: Service
    network: Network
    clock: Clock
    model: JudgeModel | None = None
    audit: JudgeModel | None = None
    pauses: list[float] = field(default_factory=list)
    threads: int = 1

    @property
    def ports(self) -> ArenaPorts:
        """The network of the rounds; bots are asked one after the other by default."""

        def pause(seconds: float) -> None:
            self.pauses.append(seconds)
            self.clock.at += timedelta(seconds=seconds)

        return ArenaPorts(
            transport=self.network,
            judge=self.model,
            audit=self.audit,
            pause=pause,
            threads=self.threads,
            model_threads=self.threads,
        )

    @property
    def contest(self) -> Contest:
        """The arena as it is now."""
        with self.service.store.read() as session:
            return session.contests.get("autumn")

    def add_bot(self, name: str, *, pulls: bool = False, judges: bool = True) -> str:
        """Register a qualified bot of its own owner, which judges as well; return its id."""
        owner = {"id": f"o-{name}", "handle": f"handle {name}", "account_created_at": OLD}
        record(self.service, "autumn", [("owners", owner, None)], by=LOCAL)
        registered, _ = register(
            self.service, "autumn", name=name, judges=judges, owner=f"o-{name}",
            endpoint=None if pulls else f"https://{name}.example/", by=LOCAL,
        )  # fmt: skip
        row = {
            "id": registered.id, "name": name, "owner_id": f"o-{name}", "qualified_at": OLD,
            "is_judge": judges,
        }  # fmt: skip
        record(self.service, "autumn", [("bots", row, None)], by=LOCAL, replace=True)
        return registered.id

    def work(self) -> list[str]:
        """Run jobs until none is due; return the causes of those that failed."""
        service = self.service
        failed: list[str] = []
        runners = round_runners(service, self.ports)
        while True:
            job = leases.claim(service, ["round"], worker="w")
            if job is None:
                return failed
            assignment = Assignment.of(job, lease_seconds=30)
            try:
                outcome = runners["round"](assignment, JobProgress())
            except AgonError as error:
                leases.fail(service, job.id, lease=job.lease or "", cause=str(error), retry=False)
                failed.append(str(error))
                continue
            ended = leases.complete(
                service, job.id, lease=job.lease or "", outcome=outcome, handlers=RESULT_HANDLERS
            )
            if ended.state != "done":
                failed.append(ended.causes[-1]["cause"])

    def start(self) -> None:
        """Queue a new round."""
        with self.service.store.write() as session:
            contest = session.contests.get("autumn")
            job = round_job(contest, id=self.service.new_id())
            session.queue.add(job, now=self.clock.at)

    def play(self) -> list[str]:
        """Play a round to its end."""
        self.start()
        return self.work()

    def later(self, seconds: float) -> None:
        """Advance the clock."""
        self.clock.at += timedelta(seconds=seconds)

    def entries(self, kind: str) -> list[dict[str, Any]]:
        """Return the bodies of the ledger's entries of a kind."""
        with self.service.store.read() as session:
            no = session.contests.get("autumn").no
            lines = [read_line(stored.line) for stored in session.entries.after(no)]
        return [dict(line.body) for line in lines if line.kind == kind]

    def ledger(self) -> list[bytes]:
        """Return the lines of the ledger."""
        with self.service.store.read() as session:
            return [one.line for one in session.entries.after(session.contests.get("autumn").no)]

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the records of a table."""
        return [
            dict(body["row"]) for body in self.entries("record-added") if body["table"] == table
        ]

    def outcomes(self) -> list[dict[str, Any]]:
        """Return what the ledger says of the matches of the last settled round."""
        matches: list[dict[str, Any]] = self.entries("round-settled")[-1]["outcome"]["matches"]
        return matches

    def pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of the last round that was drawn."""
        drawn = self.entries("draw-made")[-1]["result"]["matches"]
        return [(match["bot_a"], match["bot_b"]) for match in drawn]

    def fail(
        self, *names: str, code: str = "status-500", owner: Any = "bot", only: str = ""
    ) -> None:
        """Let bots fail at all work, or at one kind of it."""
        for name in names:
            url = f"https://{name}.example/"

            def behave(work: Mapping[str, Any], url: str = url) -> BotReply | Fault:
                failing = only in {"", work["kind"]}
                return Fault(owner, code) if failing else answer(url, work)

            self.network.behavior[url] = behave

    def bot(self, name: str) -> Any:
        """Return a bot by its name."""
        with self.service.store.read() as session:
            no = session.contests.get("autumn").no
            return next(bot for bot in session.arena.bots(no) if bot.name == name)


def league(
    folder: Path,
    *,
    url: str | None = None,
    bots: int = 6,
    pulling: tuple[str, ...] = (),
    judging: bool = True,
    **rules: Any,
) -> League:
    """Return an arena of qualified bots ``b1``, ``b2``, …, which play and, if ``judging``, judge.

    Judges need no matches before; there are no honeypots and audits unless the rules say so.
    """
    clock = Clock(step=timedelta(0))
    network = Network()
    base = service_at(folder, clock=clock, url=url)
    service = replace(base, random=lambda count: b"s" * count, lease_span=timedelta(0))
    check = endpoint_check(network, random=service.random, new_id=service.new_id)
    service = replace(service, check_endpoint=check)
    overrides = {
        "honeypot_probability": 0.0, "audit_probability": 0.0, "judge_min_matches": 0, **rules
    }  # fmt: skip
    create(
        service,
        NewContest(id="autumn", discipline="arena", title="A", overrides=overrides),
        by=LOCAL,
    )
    opened = League(service, network, clock)
    for number in range(bots):
        name = f"b{number + 1}"
        opened.add_bot(name, pulls=name in pulling, judges=judging)
    with service.store.write() as session:
        no = session.contests.get("autumn").no
        session.arena.save_prompts(no, [Prompt(id=f"p{at}", text=f"Why {at}?") for at in range(6)])
    return opened
