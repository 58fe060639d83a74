"""The processes of a small instance: workers, and writers that send records and submissions."""

import json
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from agon.api.catalog import all_operations
from agon.app.access.permissions import LOCAL
from agon.app.arena.live.network.ports import ArenaPorts
from agon.app.arena.live.network.transport import BotReply, Endpoint
from agon.app.contests.boards.publish import publish
from agon.app.contests.ingest.records import record
from agon.app.contests.ledgers.append import append
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.contests.submissions.creation import submit
from agon.app.contests.submissions.submission import SubmissionContent
from agon.app.queue.jobs import round_job
from agon.app.replay.replica_cache import ReplicaCache
from agon.app.sandbox import RunRequest, RunResult
from agon.app.service import Service, SigningKey
from agon.app.worker.handlers import round_runners, sandbox_runners, service_runners
from agon.app.worker.local_source import LocalSource
from agon.app.worker.loop import JobWorker, WorkResult
from agon.disciplines.arena.rounds.faults import Fault
from agon.disciplines.dojo.canonical import source_hash
from agon.entities.arena import LiveBot, Prompt
from agon.http.operations import operation_routes
from agon.ledger.entry import Draft
from agon.store import open_store
from agon.store.watch import Watch
from agon.wiring import now, sortable_id
from fakes.arena import Model, Network
from fakes.sandbox import FakeSandbox

ARENA, DOJO, RECORDED = "fights", "riddles", "duels"
# Rounds alone write the matches of an arena that plays; RECORDED is an arena of records.
FAR = ("worker-far", "writer-far")
"""Processes that reach the instance only over HTTP."""

LEASE = timedelta(seconds=0.6)
BOTS = 12
MATCHES_AT_ONCE = 10
SQUARES = "def seq(n):\n    return n * n\n"
PROBLEM = source_hash(SQUARES.encode())
TERMS = [str(n * n) for n in range(1, 21)]
PROGRAMS = (
    "def solver():\n    return [n * n for n in range(1, 21)]\n",
    "def solver():\n    return [1, 4, 8]\n",
    "def solver():\n    return 1 // 0\n",
)


LIVE_RULES = {
    "answer_seconds": 2, "vote_seconds": 2, "honeypot_probability": 0.3, "judge_min_matches": 0
}  # fmt: skip
"""Short deadlines: a round whose worker is killed for longer goes on with what it has."""


class SlowNetwork(Network):
    """Bots that take some milliseconds, so that kills interrupt rounds; some are down."""

    def ask(
        self, endpoint: Endpoint, work: Mapping[str, Any], *, seconds: float
    ) -> BotReply | Fault:
        """Return the bot's answer after a pause."""
        time.sleep(random.uniform(0, 0.02))
        if random.random() < 0.03:
            return Fault("transport", "reset")
        return super().ask(endpoint, work, seconds=seconds)


class SlowSandbox(FakeSandbox):
    """A sandbox as slow as small programs, so that kills interrupt running jobs."""

    def run(self, job: RunRequest) -> RunResult:
        """Run a job after a pause."""
        time.sleep(random.uniform(0, 0.03))
        return super().run(job)


def instance(url: str) -> Service:
    """Open the instance with leases short enough for a test."""
    return Service(
        store=open_store(url, create=False),
        clock=now,
        new_id=sortable_id,
        signer=SigningKey(bytes(range(32))),
        replicas=ReplicaCache(),
        lease_span=LEASE,
        network_key=bytes(range(32)),
    )


def prepare(url: str) -> None:
    """Initialize the database and open an arena and a dojo contest."""
    open_store(url).close()
    service = instance(url)
    for name, discipline in ((ARENA, "arena"), (RECORDED, "arena"), (DOJO, "dojo")):
        rules = LIVE_RULES if discipline == "arena" else {}
        new = NewContest(id=name, discipline=discipline, title=name, overrides=rules)
        create(service, new, by=LOCAL)
        open_contest(service, name, by=LOCAL)
    bots: list[tuple[str, dict[str, Any], str]] = [
        ("bots", {"id": f"b{n}", "name": f"Bot {n}", "owner_id": f"o{n}",
                  "qualified_at": "2026-01-01T00:00:00Z", "is_judge": True}, f"bot-{n}")
        for n in range(BOTS)
    ]  # fmt: skip
    owners: list[tuple[str, dict[str, Any], str]] = [
        ("owners", {"id": f"o{n}", "handle": f"owner {n}",
                    "account_created_at": "2025-01-01T00:00:00Z"}, f"owner-{n}")
        for n in range(BOTS)
    ]  # fmt: skip
    for name in (ARENA, RECORDED):
        record(service, name, owners + bots, by=LOCAL)
    with service.store.write() as session:
        no, at = session.contests.get(ARENA).no, service.clock()
        session.arena.save_prompts(no, [Prompt(id=f"p{n}", text=f"Why {n}?") for n in range(9)])
        for n in range(BOTS):
            session.arena.save_bot(
                LiveBot(
                    contest_no=no, id=f"b{n}", user=None, owner_id=f"o{n}", name=f"Bot {n}",
                    registered_at=at, version_at=at, endpoint=f"https://b{n}.example/",
                    judges=True,
                )
            )  # fmt: skip
    with service.store.write() as session:
        contest = session.contests.lock(DOJO)
        package = {"title": "squares", "interface": "seq", "N_check": 20, "source": SQUARES}
        published = {"problem": PROBLEM, "package": {**package, "terms": TERMS}}
        row = {"id": PROBLEM, "n_check": 20, "p_hash": PROBLEM}
        drafts = [
            Draft(kind=kind, body=body, at=service.clock(), by="local")
            for kind, body in (
                ("problem-published", published),
                ("record-added", {"table": "problems", "row": row}),
            )
        ]
        append(service, session, contest, drafts)
    service.store.close()


def warm(folder: Path) -> None:
    """Import the modules and build the routes that the processes need, so that they start fast.

    A separate process finds these modules by running everything once; nothing runs here, since
    a process with threads cannot be forked safely.
    """
    folders = folder / "modules"

    def use_everything() -> None:
        url = f"sqlite:///{folder}/warm.db"
        prepare(url)
        service = instance(url)
        for number in range(1, 5):
            request(service, "warm", number)
        for contest in (ARENA, RECORDED, DOJO):
            publish(service, contest)
        read_once = Watch(url)
        read_once.wait(0)
        folders.write_text("\n".join(sorted(sys.modules)))

    os.waitpid(forked(use_everything), 0)
    for name in folders.read_text().splitlines():
        with suppress(ImportError):
            import_module(name)
    operation_routes(all_operations())


def worker(url: str, name: str, finished: Path) -> None:
    """Work until killed; record every finished job."""
    service = instance(url)
    watch = Watch(url)
    runners = service_runners(service) | sandbox_runners(SlowSandbox())
    runners |= round_runners(
        service, ArenaPorts(transport=SlowNetwork(), judge=Model(), audit=Model(), threads=4)
    )
    source = LocalSource(service, worker=name, wait=watch.wait)
    JobWorker(source, runners, on_result=lambda job_: note_end(finished, job_)).work()


def writer(url: str, name: str, journal: Path) -> None:
    """Send requests directly to the database until killed."""
    service = instance(url)
    write(journal, lambda number: request(service, name, number))


def write(journal: Path, send: Callable[[int], None]) -> None:
    """Send requests until killed; record when each is started and when it is answered.

    A started request without a response is first sent again, as a client would do.
    """
    for number in _numbers(journal):
        _note(journal, {"begun": number})
        send(number)
        _note(journal, {"done": number})
        time.sleep(random.uniform(0, 0.3))


def request(service: Service, name: str, number: int) -> None:
    """Send one request: mostly matches, else a submission, sometimes a round to draw."""
    what = kind(name, number)
    if what == "matches":
        record(service, RECORDED, matches(name, number), by=LOCAL)
    elif what == "submission":
        submit(service, DOJO, submission(name, number), by=LOCAL)
    else:
        with service.store.write() as session:
            contest, at = session.contests.get(ARENA), service.clock()
            session.queue.add(round_job(contest, id=service.new_id(), not_before=at), now=at)


def kind(name: str, number: int) -> str:
    """Return the kind of a writer's request by its number; only local writers request rounds."""
    if number % 10 == 1 and name not in FAR:
        return "round"
    return "submission" if number % 3 == 0 else "matches"


def submission(name: str, number: int) -> SubmissionContent:
    """Return the submission of a request."""
    return SubmissionContent(
        user=f"u{number % 7}",
        problem=PROBLEM,
        content={"source": PROGRAMS[number % len(PROGRAMS)]},
        external_id=f"{name}-{number}",
    )


def matches(name: str, number: int) -> list[tuple[str, dict[str, Any], str]]:
    """Return the matches of a request; equal numbers give equal matches."""
    dice = random.Random(f"{name}/{number}")
    folders = []
    for place in range(MATCHES_AT_ONCE):
        a, b = dice.sample(range(BOTS), 2)
        row = {
            "id": f"{name}-{number}-{place}", "played_at": "2026-03-01T12:00:00Z",
            "bot_a": f"b{a}", "bot_b": f"b{b}", "kind": "rated", "winner": dice.choice("ab"),
        }  # fmt: skip
        folders.append(("matches", row, f"{name}-{number}-{place}"))
    return folders


def read_journal(journal: Path) -> tuple[list[int], set[int]]:
    """Return the numbers of the started and of the answered requests."""
    lines = journal.read_bytes().splitlines() if journal.exists() else []
    notes = [json.loads(line) for line in lines]
    begun = [note["begun"] for note in notes if "begun" in note]
    return begun, {note["done"] for note in notes if "done" in note}


def note_end(finished: Path, worked: WorkResult) -> None:
    """Record that a worker has finished a job."""
    _note(finished, {worked.assignment.kind: 1})


def _numbers(journal: Path) -> Iterator[int]:
    begun, finished_ = read_journal(journal)
    last = max(begun, default=0)
    if last and last not in finished_:
        yield last
    while True:
        last += 1
        yield last


def _note(journal: Path, note: dict[str, int]) -> None:
    """Append a line with one write, which a kill cannot split."""
    handle = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(handle, json.dumps(note).encode() + b"\n")
    os.close(handle)


def forked(main: Callable[[], None]) -> int:
    """Start a process and return its id; it ends with this one."""
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        _die_with(parent)
        main()
        code = 0
    except Exception:  # noqa: BLE001 - there is no caller to report it
        traceback.print_exc()
    finally:
        os._exit(code)


def _die_with(parent: int) -> None:
    import ctypes
    import signal

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)
