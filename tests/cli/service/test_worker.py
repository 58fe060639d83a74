"""``agon worker`` with real processes, a real sandbox and every kind of shutdown."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Event, Thread, get_ident
from typing import Any

import pytest

from agon.app.arena.live import schedule
from agon.app.service import Service
from agon.app.worker.loop import JobWorker, WorkerStopped
from agon.cli.service.worker import _stopped_by_signals
from agon.entities.jobs import Job, NewJob
from agon.settings import load
from agon.wiring import open_service
from app.worker.contests import RIGHT, dojo, entries, gated, job_of, published, submitted
from cli.command import Cli

BUSY = f"{RIGHT}\nfor _ in range(10_000_000):\n    pass\n"
ENDLESS = "def solver():\n    while True:\n        pass\n"
TIMEOUT_S = 100.0


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Open an instance with a dojo contest on a separate database."""
    service_ = open_service(load({"database": f"sqlite:///{tmp_path}/agon.db"}, environ={}))
    dojo(service_)
    yield service_
    service_.store.close()


AGON = ("-m", "agon")
PATIENT = ("-c", """
from agon.app.worker import submissions
limits = submissions.RunLimits(cpu_s=3600, wall_s=7200)
submissions.RunLimits = lambda: limits
from agon.__main__ import main
main()
""")  # fmt: skip
"""A worker whose programs may run for an hour: an endless one runs when the test stops it."""


def words(tmp_path: Path, *options: str) -> list[str]:
    """Return the arguments of a worker on that database."""
    return ["worker", "--database", f"sqlite:///{tmp_path}/agon.db", *options]


def command(tmp_path: Path, *options: str, agon: tuple[str, ...] = AGON) -> list[str]:
    """Return the command of a worker in a separate process."""
    return [sys.executable, *agon, *words(tmp_path, *options)]


@contextmanager
def working(
    tmp_path: Path, *options: str, agon: tuple[str, ...] = AGON
) -> Iterator["subprocess.Popen[str]"]:
    """Run a worker in the background."""
    with subprocess.Popen(
        command(tmp_path, *options, agon=agon), stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(true: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + TIMEOUT_S
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def state(service: Service, job: Job) -> str:
    """Return a job's state."""
    return job_of(service, job).state


@pytest.mark.exhaustive
def test_once_runs_all_queued_jobs_and_exits(service: Service, agon: Cli, tmp_path: Path) -> None:
    """One command gates a setter in the sandbox, judges a submission and publishes a board."""
    gate = gated(service)
    process = subprocess.run(
        command(tmp_path, "--once"), capture_output=True, text=True, check=False
    )
    assert (process.returncode, state(service, gate)) == (0, "done"), process.stderr
    seq = entries(service, "problem-published")[0].seq
    judged = submitted(service, seq)
    second = agon(*words(tmp_path, "--once", "--name", "north"))
    assert (second.code, second.out) == (0, "")
    result = job_of(service, judged).result or {}
    assert result["verdict"] == "ok"
    row = entries(service, "record-added")[-1]
    assert (row.by, row.body["row"]["mode"]) == ("worker:north", "bwrap")
    with service.store.read() as session:
        contest = session.contests.get("autumn")
        board = session.snapshots.latest(contest.no, contest.boards[0])
    assert board is not None
    assert board.rows == 1


@pytest.mark.parametrize(("kinds", "calls"), [("publish,round", 1), ("publish", 0)])
def test_a_worker_that_runs_rounds_plans_them_when_it_starts(
    kinds: str, calls: int, agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no server runs, or has not started again, a changed setting would hold never."""
    planned: list[Service] = []
    monkeypatch.setattr(schedule, "plan_rounds", planned.append)
    database = f"sqlite:///{tmp_path}/agon.db"
    assert agon("worker", "--once", "--kinds", kinds, "--database", database).code == 0
    assert len(planned) == calls


def test_unknown_job_kinds_are_rejected(tmp_path: Path, agon: Cli) -> None:
    """A worker with a misspelled kind would wait forever."""
    result = agon("worker", "--database", f"sqlite:///{tmp_path}/agon.db", "--kinds", "juge")
    assert result.code == 2
    assert "did you mean judge?" in result.err


@pytest.mark.exhaustive
@pytest.mark.usefixtures("service")
def test_an_idle_worker_stops_on_sigterm(tmp_path: Path) -> None:
    """A machine's shutdown must not wait for an idle worker; its first line says it is ready."""
    with working(tmp_path, "--kinds", "publish") as worker:
        assert worker.stderr is not None
        assert "publish" in worker.stderr.readline()
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(TIMEOUT_S) == 0


@pytest.mark.exhaustive
def test_a_stopping_worker_releases_a_long_job(service: Service, tmp_path: Path) -> None:
    """Other workers can claim the job at once, before the lease expires."""
    job = submitted(service, published(service), source=ENDLESS)
    with working(tmp_path, "--kinds", "judge", "--grace", "0.1", agon=PATIENT) as worker:
        wait_for(lambda: state(service, job) == "leased")
        worker.send_signal(signal.SIGTERM)
        _, printed = worker.communicate(timeout=TIMEOUT_S)
    assert (worker.returncode, printed.splitlines()[-1].partition(": ")[2]) == (
        0, "stopped; its job was returned to the queue"
    ), printed  # fmt: skip
    back = job_of(service, job)
    assert (back.state, back.causes[-1]["cause"]) == ("queued", "the worker was stopped")


def test_a_grace_that_ends_before_a_claimed_job_begins_ends_the_job() -> None:
    """The worker of a busy machine ran the job to its end."""
    source: Any = None  # it is not asked
    worker = JobWorker(source, {})
    with pytest.raises(WorkerStopped), _stopped_by_signals(worker, grace=0.001):  # noqa: PT012 - it is raised by a signal
        signal.raise_signal(signal.SIGTERM)
        time.sleep(0.1)  # the grace ends; where it ended later, the claim would hold as well
        worker.running = True
        time.sleep(TIMEOUT_S)


def test_a_signal_that_another_thread_gets_stops_the_worker() -> None:
    """The kernel chooses the thread, and the main one waits for a job's result."""
    source: Any = None  # it is not asked
    worker = JobWorker(source, {})
    worker.running = True
    main, waits = get_ident(), Condition.wait.__code__
    ready, result = Event(), Event()

    def receive() -> None:
        ready.wait()
        wait_for(lambda: sys._current_frames()[main].f_code is waits)
        signal.pthread_kill(get_ident(), signal.SIGTERM)

    receiving = Thread(target=receive)
    receiving.start()
    with pytest.raises(WorkerStopped), _stopped_by_signals(worker, grace=0.001):  # noqa: PT012 - it is raised by a signal
        ready.set()
        result.wait(TIMEOUT_S)
    receiving.join()
    assert worker.stopping.is_set()


@pytest.mark.exhaustive
def test_a_stopping_worker_finishes_its_current_job(service: Service, tmp_path: Path) -> None:
    """A restart must not discard finished work."""
    job = submitted(service, published(service), source=BUSY)
    with working(tmp_path, "--kinds", "judge", "--grace", "100") as worker:
        wait_for(lambda: state(service, job) == "leased")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(TIMEOUT_S) == 0
    assert (job_of(service, job).result or {})["verdict"] == "ok"


@pytest.mark.exhaustive
def test_a_worker_notices_a_paused_and_a_resumed_queue(service: Service, tmp_path: Path) -> None:
    """Operators drain an instance without stopping its workers."""
    with working(tmp_path, "--kinds", "publish") as worker:
        assert worker.stderr is not None
        worker.stderr.readline()
        with service.store.write() as session:
            session.queue.pause(paused=True)
        job = asked_for(service)
        time.sleep(1.5)
        assert state(service, job) == "queued"
        with service.store.write() as session:
            session.queue.pause(paused=False)
        wait_for(lambda: state(service, job) == "done")


def test_a_killed_worker_leaves_no_process_and_its_job_is_reassigned(
    service: Service, tmp_path: Path
) -> None:
    """The sandbox of a running program ends with its killed worker."""
    job = submitted(service, published(service), source=ENDLESS)
    with working(tmp_path, "--kinds", "judge", agon=PATIENT) as worker:
        wait_for(lambda: state(service, job) == "leased" and bool(descendants(worker.pid)))
        below = descendants(worker.pid)
        worker.kill()
        worker.wait(TIMEOUT_S)
    wait_for(lambda: not any(map(alive, below)))
    assert state(service, job) == "leased"


def asked_for(service: Service) -> Job:
    """Queue the publication of the contest's boards."""
    with service.store.write() as session:
        contest = session.contests.get("autumn")
        job = NewJob(
            id=service.new_id(), kind="publish", payload={"contest": contest.id},
            contest_no=contest.no,
        )  # fmt: skip
        return session.queue.add(job, now=service.clock())


def descendants(process: int) -> list[int]:
    """Return the ids of all descendants of a process."""
    pids: list[int] = []
    waiting = [process]
    while waiting:
        tasks = Path(f"/proc/{waiting.pop()}/task")
        for children in tasks.glob("*/children"):
            below = [int(pid) for pid in children.read_text().split()]
            pids += below
            waiting += below
    return pids


def alive(process: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


HOLDER = """
import sys
from agon.records.raw import MemoryEngine
engine = MemoryEngine()
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.exhaustive
def test_a_start_removes_the_spill_folder_of_a_killed_process(
    service: Service, tmp_path: Path
) -> None:
    """They held gigabytes until a process happened to open tables."""
    assert service is not None  # its database is there
    place = tmp_path / "temporary"
    place.mkdir()
    environment = {**os.environ, "TMPDIR": str(place)}

    def holder() -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=environment,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        return process

    with holder() as killed, holder() as alive:
        try:
            both = set(place.iterdir())
            killed.kill()
            killed.wait()
            subprocess.run(
                command(tmp_path, "--once", "--kinds", "deliver"), env=environment, check=True,
                cwd=tmp_path, timeout=TIMEOUT_S, capture_output=True,
            )  # fmt: skip
            [kept] = place.iterdir()
            assert len(both) == 2
            assert kept in both
            assert alive.poll() is None
        finally:
            alive.kill()
