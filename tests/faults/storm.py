"""Kill the instance's processes at random times, then check the resulting state."""

import os
import random
import signal
import socket
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from agon.app.queue.jobs import state
from agon.app.replay.replica import ContestReplica
from agon.app.service import Service
from agon.entities.jobs import JobState
from agon.ledger.entry import chain, genesis
from faults import over_http, parts

if TYPE_CHECKING:
    from collections.abc import Callable

_PAUSED_SHARE = 0.15
_TIMEOUT_S = 240.0
_LAST_COMMIT = 1.0
"""PostgreSQL may still end a transaction whose writer was killed while it committed."""

WITHOUT_BOARDS = {"submission-received", "draw-committed", "draw-made", "round-settled"}
"""Entries that change no board; a round whose matches are all void has no others."""

_UNDER_WAY: Final[tuple[JobState, ...]] = ("queued", "leased")


@dataclass
class Storm:
    """The processes of an instance and the faults injected into them.

    Attributes:
        url: the instance's database.
        folder: where the writers' journals are.
        dice: chooses processes and times.
        workers: number of workers beside the server.
        writers: number of writers beside the server.
        running: process ids by name.
        faults: number of faults by role and kind.
        ended: processes that ended by themselves, by role and status.
        seconds: duration of the fault injection.
        seen: length of the file of finished jobs at the last fault.
        door: the listening socket; it stays open when a server is killed.
    """

    url: str
    folder: Path
    dice: random.Random
    workers: int = 3
    writers: int = 2
    running: dict[str, int] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    seen: int = 0
    door: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def finished(self) -> Path:
        """Return the file to which workers append a line for every finished job."""
        return self.folder / "finished"

    def start(self) -> None:
        """Prepare the instance in a separate process, then start all processes."""
        self.finished.touch()
        parts.warm(self.folder)
        _, status = os.waitpid(parts.forked(lambda: parts.prepare(self.url)), 0)
        assert status == 0, "the instance could not be prepared"
        for name in self.names():
            self._begin(name)

    def names(self) -> list[str]:
        """Return the names of the processes."""
        workers = [f"worker-{n}" for n in range(self.workers)]
        writers = [f"writer-{n}" for n in range(self.writers)]
        return ["server", *workers, *writers, *parts.FAR]

    def journal(self, name: str) -> Path:
        """Return a writer's journal."""
        return self.folder / f"{name}.ndjson"

    def rage(self, faults: int, *, every: float, seconds: float) -> None:
        """Inject a number of faults at random intervals of about ``every`` seconds.

        On a busy machine they are delayed: between two of them a job is finished, or
        three seconds pass. Otherwise only starting jobs would be hit. It ends after this many
        ``seconds``, whatever the number of faults until then.
        """
        began = time.monotonic()
        for _ in range(faults):
            time.sleep(self.dice.uniform(0, every))
            self._await_progress()
            time.sleep(self.dice.uniform(0, every))
            self._replace_ended()
            if time.monotonic() - began > seconds:
                break
            name = self.dice.choice(self.names())
            if self.dice.random() < _PAUSED_SHARE:
                self._pause(name)
            else:
                self._kill(name)
                self._begin(name)
        self.seconds = time.monotonic() - began

    def calm(self) -> None:
        """Stop the writers, and let the workers finish the queued jobs.

        The server is stopped with them: it may be executing a request of a stopped writer and
        queue more jobs later. A new server receives the outcomes of remote workers.
        """
        for name in self.names():
            if name.startswith(("writer", "server")):
                self._kill(name, counted=False)
        self._begin("server")
        _, status = os.waitpid(parts.forked(self._drained), 0)
        for name in list(self.running):
            self._kill(name, counted=False)
        assert status == 0, "jobs were left when the storm was over"

    def check(self) -> dict[str, int]:
        """Check the state of the instance; return the counts."""
        service = parts.instance(self.url)
        counts = _Checks(service, {name: self.journal(name) for name in self.names()}).all()
        service.store.close()
        return counts

    def _await_progress(self) -> None:
        end = time.monotonic() + 3
        while self.finished.stat().st_size == self.seen and time.monotonic() < end:
            time.sleep(0.005)
        self.seen = self.finished.stat().st_size

    def _drained(self) -> None:
        """Wait for the last job; minutes without a finished job mean that jobs are stuck."""
        time.sleep(_LAST_COMMIT)
        service = parts.instance(self.url)
        counts = state(service).counts
        end = time.monotonic() + _TIMEOUT_S
        while remaining := sum(many for (_, how), many in counts.items() if how in _UNDER_WAY):
            time.sleep(0.05)
            before, counts = counts, state(service).counts
            if counts != before:
                end = time.monotonic() + _TIMEOUT_S
            if time.monotonic() > end:
                with service.store.read() as session:
                    stuck = session.queue.page(states=_UNDER_WAY, limit=3)
                raise TimeoutError(f"{remaining} jobs are stuck, among them {stuck}")

    def _begin(self, name: str) -> None:
        port = self.door.getsockname()[1]
        role, _, place = name.partition("-")
        mains: dict[tuple[str, bool], Callable[[], None]] = {
            ("server", False): lambda: over_http.serve(self.url, self.door),
            ("worker", False): lambda: parts.worker(self.url, name, self.finished),
            ("worker", True): lambda: over_http.worker(port, name, self.finished),
            ("writer", False): lambda: parts.writer(self.url, name, self.journal(name)),
            ("writer", True): lambda: over_http.writer(port, name, self.journal(name)),
        }
        self.running[name] = parts.forked(mains[role, place == "far"])

    def _kill(self, name: str, *, counted: bool = True) -> None:
        process = self.running.pop(name)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        if counted:
            self.faults[f"{name.partition('-')[0]} killed"] += 1

    def _pause(self, name: str) -> None:
        """Pause a process for longer than a lease, so that it continues late."""
        process = self.running[name]
        os.kill(process, signal.SIGSTOP)
        time.sleep(self.dice.uniform(1, 2) * parts.LEASE.total_seconds())
        os.kill(process, signal.SIGCONT)
        self.faults[f"{name.partition('-')[0]} paused"] += 1

    def _replace_ended(self) -> None:
        """Restart and count processes that ended by themselves, which none should do."""
        for name, process in list(self.running.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                self.ended[f"{name.partition('-')[0]} {status}"] += 1
                self._begin(name)


@dataclass
class _Checks:
    """Compares the writers' journals with the state of the instance."""

    service: Service
    journals: dict[str, Path]

    def all(self) -> dict[str, int]:
        """Run all checks; return the counts."""
        fights, matches, riddles = map(self._ledger, (parts.ARENA, parts.RECORDED, parts.DOJO))
        return {
            **self._requests(matches, riddles),
            **self._verdicts(riddles),
            **self._rounds(fights),
            **self._jobs(),
            **self._boards(),
            "entries": len(fights) + len(matches) + len(riddles),
        }

    def _ledger(self, contest_id: str) -> list[dict[str, Any]]:
        """Return a ledger; its chain must be complete and end in the contest's head."""
        with self.service.store.read() as session:
            contest = session.contests.get(contest_id)
            stored = list(session.entries.after(contest.no))
        head = genesis(contest_id)
        entries = []
        for seq, item in enumerate(stored, start=1):
            entry = orjson.loads(item.line)
            head = chain(head, item.line)
            assert (item.seq, entry["seq"], item.sha256) == (seq, seq, head), f"entry {seq}"
            entries.append(entry)
        assert (contest.seq, contest.head) == (len(stored), head), "the contest's head"
        return entries

    def _requests(self, *ledgers: list[dict[str, Any]]) -> dict[str, int]:
        """Check that answered requests are stored once, others completely or not."""
        there = Counter(
            entry["external_id"] for ledger in ledgers for entry in ledger if entry["external_id"]
        )
        assert set(there.values()) <= {1}, "an external id is there twice"
        answered = repeated = 0
        for name, journal in self.journals.items():
            begun, done = parts.read_journal(journal)
            repeated += len(begun) - len(set(begun))
            for number in set(begun):
                kind = parts.kind(name, number)
                if kind == "round":
                    continue
                if kind == "matches":
                    ids = [external for _, _, external in parts.matches(name, number)]
                else:
                    ids = [f"{name}-{number}"]
                held = sum(there[item] for item in ids)
                assert held in {0, len(ids)}, f"half of request {name}/{number} is there"
                if number in done:
                    answered += 1
                    assert held == len(ids), f"request {name}/{number} was lost"
        return {"requests answered": answered, "requests repeated": repeated}

    def _verdicts(self, ledger: list[dict[str, Any]]) -> dict[str, int]:
        """Check that every submission has exactly one verdict."""
        bodies = [(entry["kind"], entry["body"]) for entry in ledger]
        received = [body["submission"] for kind, body in bodies if kind == "submission-received"]
        judged = Counter(
            body["row"]["id"]
            for kind, body in bodies
            if kind == "record-added" and body["table"] == "submissions"
        )
        assert judged == Counter(received), "verdicts are missing or double"
        assert not any(kind == "record-replaced" for kind, _ in bodies)
        return {"verdicts": len(received)}

    def _rounds(self, ledger: list[dict[str, Any]]) -> dict[str, int]:
        """Check that every round was committed, drawn and settled once, one after the other."""
        steps = [
            (entry["kind"], entry["body"].get("round") or entry["body"]["purpose"][6:])
            for entry in ledger
            if entry["kind"] in {"draw-committed", "draw-made", "round-settled"}
        ]
        names = [name for kind, name in steps if kind == "draw-committed"]
        assert names == [f"r{number + 1}" for number in range(len(names))]
        kinds = ("draw-committed", "draw-made", "round-settled")
        assert steps == [(kind, name) for name in names for kind in kinds], "rounds are incomplete"
        stated = {
            match["match"]
            for entry in ledger
            if entry["kind"] == "round-settled"
            for match in entry["body"]["outcome"]["matches"]
            if match["outcome"] not in {"void", "again"}
        }
        recorded = {
            entry["body"]["row"]["id"]
            for entry in ledger
            if entry["kind"] == "record-added" and entry["body"]["table"] == "matches"
        }
        assert {name for name in recorded if name.split("-")[0] in names} == stated
        return {"rounds": len(names)}

    def _jobs(self) -> dict[str, int]:
        """Check that no job is stuck or failed."""
        counts = state(self.service).counts
        ended: Counter[str] = Counter()
        for (_, how), many in counts.items():
            ended[how] += many
        with self.service.store.read() as session:
            jobs = session.queue.page(limit=1_000_000)
        unlucky = [
            (item.kind, item.state, item.causes[-3:]) for item in jobs if item.state != "done"
        ]
        assert not unlucky, f"{len(unlucky)} jobs have not been done: {unlucky[:5]}"
        again = sum(item.attempts > 1 for item in jobs)
        most_attempts = max(item.attempts for item in jobs)
        return {"jobs": ended["done"], "jobs begun again": again, "most attempts": most_attempts}

    def _boards(self) -> dict[str, int]:
        """Check that the published boards are current and equal a replay from line 1."""
        published = 0
        for contest_id in (parts.ARENA, parts.RECORDED, parts.DOJO):
            with self.service.store.read() as session:
                contest = session.contests.get(contest_id)
                lines = [(item.seq, item.line) for item in session.entries.after(contest.no)]
            live = ContestReplica(contest_id)
            live.catch_up(lines)
            board = live.result().board(contest.boards[0])
            with self.service.store.read() as session:
                snapshot = session.snapshots.latest(contest.no, contest.boards[0])
                published += len(session.snapshots.page(contest.no, limit=100_000))
            assert snapshot is not None
            assert snapshot.board_sha256 == board.sha256, f"the board of {contest_id}"
            behind = [orjson.loads(line)["kind"] for seq, line in lines if seq > snapshot.seq]
            assert set(behind) <= WITHOUT_BOARDS, f"{contest_id} is behind by {behind}"
            live.close()
        return {"snapshots": published}
