"""``agon worker``: run the jobs of the service."""

import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from signal import pthread_kill
from threading import Event, Thread, get_ident
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, get_args

import click

from agon.cli.dojo.arguments import MODES
from agon.cli.shared import interrupts
from agon.cli.shared.algebra import use_one_thread
from agon.cli.shared.commands import Command, option
from agon.cli.shared.tables import echo
from agon.cli.shared.target import Target, read_token, target

if TYPE_CHECKING:
    from agon.app.queue.source import JobSource
    from agon.app.sandbox import Mode
    from agon.app.service import Service
    from agon.app.worker.loop import JobWorker, Run, WorkResult
    from agon.entities.jobs import JobKind
    from agon.errors import AgonError
    from agon.settings import Settings

T = TypeVar("T")

_AGAIN_S: Final = 0.1
_STOPS: Final = (signal.SIGTERM, signal.SIGINT)
SANDBOXED: Final = frozenset({"judge", "gate"})
"""Kinds that run programs in the sandbox."""


@click.command("worker", cls=Command)
@option(
    "--kinds",
    metavar="K,…",
    help="Kinds of jobs to run: publish, judge, trial, … (default: all that are possible here).",
)
@option("--name", metavar="N", help="The worker's name (default: host and process).")
@option("--once", is_flag=True, help="Stop when there are no jobs.")
@option(
    "--tasks",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder of tasks for trials (default: setting tasks_folder).",
)
@option(
    "--sandbox",
    "mode",
    type=click.Choice(MODES),
    help="The sandbox's isolation (default: the first of setting sandbox_modes).",
)
@option(
    "--grace",
    type=click.FloatRange(min=0),
    default=20.0,
    show_default=True,
    metavar="S",
    help="Seconds a job may still take after a signal to stop.",
)
@target
def command(
    *,
    kinds: str | None,
    name: str | None,
    once: bool,
    tasks: Path | None,
    mode: str | None,
    grace: float,
    target: Target,
) -> None:
    """Run the service's jobs: boards, verdicts, trials, rounds.

    A job is leased while it runs, and its result is stored together with its end. If a worker
    dies, another one runs its job. On SIGTERM or Ctrl-C a worker finishes its job, or returns it to
    the queue when that takes longer than --grace; on a second signal it returns it immediately.

    With --server it works over HTTP as an untrusted worker: it gets programs and tasks only, and
    its results are validated before they count.

      agon worker
      agon worker --kinds judge --sandbox bwrap
      agon worker --server https://agon.example --token-file worker.token --tasks tasks/
    """
    use_one_thread(os.environ)  # before numpy is imported
    from agon.app.worker.loop import JobWorker, WorkerStopped
    from agon.records.spill_folders import remove_abandoned
    from agon.settings import load

    remove_abandoned()
    settings = load(
        {"database": target.database, "tasks_folder": None if tasks is None else str(tasks)}
    )
    called = name or f"{socket.gethostname()}-{os.getpid()}"
    stopping = Event()
    with ExitStack() as opened:
        connection = _reach(opened, target, settings, called=called, stopping=stopping)
        runners = _runners(opened, settings, connection, kinds=_kinds(kinds), mode=mode)
        worker = JobWorker(
            connection.source,
            runners,
            prepare=partial(_plan, connection, runners),
            stopping=stopping,
            on_result=_print_result,
            on_error=_print_error,
        )
        try:
            claims = connection.service is None  # a database answers or is busy for a time
            with _stopped_by_signals(worker, grace=grace, claims=claims):
                # Who waits for this line may send a signal at once.
                click.echo(f"worker {called}: {', '.join(runners)}", err=True)
                worker.work(idle=not once)
        except WorkerStopped as stopped:
            click.echo(f"worker {called}: stopped; {stopped}", err=True)


@dataclass(frozen=True)
class _Connection:
    """The source of jobs, and the handlers of those that need the service's data.

    Attributes:
        service: the service with its database; None: jobs come over HTTP, which limits their kinds.
    """

    source: "JobSource"
    runners: "dict[JobKind, Run]"
    service: "Service | None"


def _plan(connection: _Connection, runners: "Mapping[JobKind, Run]") -> None:
    """Plan the rounds of arenas as a server does: a setting may have changed, and none may run."""
    from agon.app.arena.live.schedule import plan_rounds

    if connection.service is not None and "round" in runners:
        plan_rounds(connection.service)


def _reach(
    opened: ExitStack,
    target: Target,
    settings: "Settings",
    *,
    called: str,
    stopping: Event,
) -> _Connection:
    """Connect to the queue: over HTTP, or with direct access to the database."""
    from agon import wiring

    if target.server:
        if target.database:
            raise click.UsageError("--server and --database exclude each other; give one")
        from agon.client import Client

        def pause(seconds: float) -> bool:
            """Wait to repeat a request; a worker that is to stop repeats no claim, but an outcome.

            So a server that cannot be reached does not keep it, and one that starts again gets what
            it did.
            """
            if source.is_claiming:
                return stopping.wait(seconds)
            sleep(seconds)
            return False

        token = read_token(target.token_file)
        client = opened.enter_context(Client(target.server, token=token, sleep=pause))
        source = client.job_source(worker=called, wait=stopping.wait)
        return _Connection(source, {}, service=None)
    from agon.app.worker.handlers import post_runners, round_runners, service_runners
    from agon.app.worker.local_source import LocalSource

    service = wiring.open_service(settings)
    opened.callback(service.store.close)
    waiting = wiring.watch(settings, pause=stopping.wait)
    opened.callback(waiting.close)
    runners = service_runners(service) | post_runners(service, wiring.post(settings))
    runners |= round_runners(service, wiring.arena_ports(settings, service.store))
    return _Connection(
        LocalSource(service, worker=called, wait=waiting.wait), runners, service=service
    )


def _kinds(text: str | None) -> "set[JobKind] | None":
    """Return the kinds in ``--kinds``.

    Raises:
        Unreadable: a kind does not exist.
    """
    from agon.entities.jobs import JobKind
    from agon.errors import Unreadable, did_you_mean

    if text is None:
        return None
    all_kinds = get_args(JobKind)
    kinds = {part.strip() for part in text.split(",") if part.strip()}
    for kind in sorted(kinds - set(all_kinds)):
        raise Unreadable(f"unknown kind of job {kind!r}: {did_you_mean(kind, all_kinds)}")
    return cast("set[JobKind]", kinds)


def _runners(
    opened: ExitStack,
    settings: "Settings",
    connection: _Connection,
    *,
    kinds: "set[JobKind] | None",
    mode: str | None,
) -> "dict[JobKind, Run]":
    """Return the function that runs each kind of job; kinds in ``--kinds`` are required.

    Raises:
        Unavailable: a requested kind is not possible on this machine.
    """
    from agon import wiring
    from agon.app.queue.source import REMOTE_KINDS
    from agon.app.worker.handlers import sandbox_runners, trial_runners
    from agon.errors import Unavailable

    runners = dict(connection.runners)
    if kinds is None or kinds & SANDBOXED:
        chosen = cast("Mode", mode or settings.sandbox_modes[0])
        sandbox = _open_runner(
            opened,
            lambda: wiring.sandbox(chosen, workers=1),
            work="programs are judged",
            must=kinds is not None,
        )
        runners |= {} if sandbox is None else sandbox_runners(sandbox)
    if settings.tasks_folder and (kinds is None or "trial" in kinds):
        engine = _open_runner(
            opened, wiring.containers, work="trials are run", must=kinds is not None
        )
        tasks, agent = Path(settings.tasks_folder), wiring.submitted_agent
        if engine is not None:
            runners |= trial_runners(tasks, engine, agent, now=wiring.now)
    if connection.service is None:
        runners = {kind: run for kind, run in runners.items() if kind in REMOTE_KINDS}
    if not runners:
        raise Unavailable("no kind of job can be run here; see agon worker --help")
    if kinds is None:
        return runners
    if missing := sorted(kinds - set(runners)):
        raise Unavailable(f"{', '.join(missing)} cannot be run here; see agon worker --help")
    return {kind: run for kind, run in runners.items() if kind in kinds}


def _open_runner(
    opened: ExitStack, begin: "Callable[[], AbstractContextManager[T]]", *, work: str, must: bool
) -> "T | None":
    """Open what some kinds of jobs need; if it is missing, warn, or raise if it is required."""
    from agon.errors import Unavailable

    try:
        return opened.enter_context(begin())
    except Unavailable as missing:
        if must:
            raise
        click.echo(f"no {work} here: {missing}", err=True)
        return None


@contextmanager
def _stopped_by_signals(
    worker: "JobWorker", *, grace: float, claims: bool = False
) -> Iterator[None]:
    """Stop the worker after its job on the first signal, during it on a second or after the grace.

    With ``claims`` it also stops then while it asks a server for a job, which may never answer.

    A thread learns of signals: the kernel may deliver one to another thread than the main one, or
    just before the main one begins to wait; Python would call a handler when that wait ends.
    """
    from agon.app.worker.loop import WorkerStopped

    main = get_ident()
    ended = Event()
    interrupted = False
    signals, written = socket.socketpair()

    def interrupt(*_: object) -> None:
        nonlocal interrupted
        if interrupted:
            return
        if worker.running:
            interrupted = True
            raise WorkerStopped("its job was returned to the queue")
        if claims and worker.claiming:
            interrupted = True
            raise WorkerStopped("the server did not answer")

    def stop() -> None:
        if not _is_signalled(signals, None):
            return
        worker.stopping.set()
        _is_signalled(signals, max(grace, 0.001))
        # The worker may have claimed a job that is about to begin.
        while not (interrupted or ended.is_set()):
            pthread_kill(main, signal.SIGALRM)
            ended.wait(_AGAIN_S)

    written.setblocking(False)
    handlers: dict[int, Any] = dict.fromkeys(_STOPS, _note) | {signal.SIGALRM: interrupt}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    fd_before = signal.set_wakeup_fd(written.fileno(), warn_on_full_buffer=False)
    watching = Thread(target=stop, name="signals", daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(fd_before)
        signals.shutdown(socket.SHUT_RD)
        watching.join()
        for number, handler in before.items():
            signal.signal(number, handler)
        signals.close()
        written.close()


def _note(number: int, _frame: object) -> None:
    interrupts.note(number)


def _is_signalled(signals: socket.socket, seconds: float | None) -> bool:
    """Wait for a signal to stop; return False after the time, or when none can come any more."""
    end = None if seconds is None else monotonic() + seconds
    while True:
        signals.settimeout(None if end is None else max(end - monotonic(), 0.001))
        try:
            numbers = signals.recv(1)
        except TimeoutError:
            return False
        if not numbers:
            return False
        if numbers[0] in _STOPS:
            return True


def _print_error(error: "AgonError") -> None:
    echo(f"no jobs at present: {error}; retrying", err=True)


def _print_result(result: "WorkResult") -> None:
    assignment = result.assignment
    cause = f": {result.cause}" if result.cause else ""
    echo(f"{assignment.kind} {assignment.id} {result.end}{cause}", err=True)
