"""``agon worker``: do what the service has to do."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final, TypeVar, cast, get_args

import click

from agon.cli.dojo.arguments import MODES
from agon.cli.shared.commands import Command, option
from agon.cli.shared.target import Target, read_token, target

if TYPE_CHECKING:
    from agon.app.queue.source import JobSource
    from agon.app.sandbox import Mode
    from agon.app.worker.loop import Run, Worker, WorkResult
    from agon.entities.jobs import JobKind
    from agon.errors import AgonError
    from agon.settings import Settings

T = TypeVar("T")

SANDBOXED: Final = frozenset({"judge", "gate"})
"""Kinds that run programs behind the wall."""


@click.command("worker", cls=Command)
@option(
    "--kinds",
    metavar="K,…",
    help="Kinds of jobs to do: publish, judge, trial, … (default: all that can be done here).",
)
@option("--name", metavar="N", help="The worker's name (default: host and process).")
@option("--once", is_flag=True, help="Stop when there is nothing to do.")
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
    help="The wall programs are judged behind (default: the first of setting sandbox_modes).",
)
@option(
    "--grace",
    type=click.FloatRange(min=0),
    default=20.0,
    show_default=True,
    metavar="S",
    help="Seconds a job may still take when the worker is asked to stop.",
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
    """Work on the service's jobs: boards, verdicts, trials, rounds.

    Each job is held on a lease that is kept alive while it runs; what came of it is stored
    together with its end. A worker that dies loses nothing: its job is begun again elsewhere.
    Asked to stop (SIGTERM, Ctrl-C) it finishes its job, or gives it back when that takes longer
    than --grace; asked twice it gives it back at once.

    With --server it works over HTTP for a service that does not trust it: programs and tasks only,
    and what it sends back is checked before it counts.

      agon worker
      agon worker --kinds judge --sandbox bwrap
      agon worker --server https://agon.example --token-file worker.token --tasks tasks/
    """
    from agon.app.worker.loop import Stopped, Worker
    from agon.settings import load

    settings = load(
        {"database": target.database, "tasks_folder": None if tasks is None else str(tasks)}
    )
    called = name or f"{socket.gethostname()}-{os.getpid()}"
    stopping = Event()
    with ExitStack() as opened:
        reached = _reach(opened, target, settings, called=called, stopping=stopping)
        runners = _runners(opened, settings, reached, kinds=_kinds(kinds), mode=mode)
        source = reached.source
        worker = Worker(source, runners, stopping=stopping, on_result=_tell, on_error=_refused)
        click.echo(f"worker {called}: {', '.join(runners)}", err=True)
        try:
            with _stopped_by_signals(worker, grace=grace):
                worker.work(idle=not once)
        except Stopped:
            click.echo(f"worker {called}: stopped, its job given back", err=True)


@dataclass(frozen=True)
class _Reached:
    """The source of jobs, and the handlers of those that need the service's data.

    Attributes:
        remote: whether jobs come over HTTP, which limits their kinds.
    """

    source: "JobSource"
    runners: "dict[JobKind, Run]"
    remote: bool


def _reach(
    opened: ExitStack,
    target: Target,
    settings: "Settings",
    *,
    called: str,
    stopping: Event,
) -> _Reached:
    """Reach the queue: over HTTP, or beside the database."""
    from agon import wiring

    if target.server:
        if target.database:
            raise click.UsageError("--server and --database exclude each other; give one")
        from agon.client import Client

        client = opened.enter_context(Client(target.server, token=read_token(target.token_file)))
        source = client.job_source(worker=called, wait=stopping.wait)
        return _Reached(source, {}, remote=True)
    from agon.app.worker.handlers import post_runners, service_runners
    from agon.app.worker.local_source import LocalSource

    service = wiring.open_service(settings)
    opened.callback(service.store.close)
    waiting = wiring.watch(settings, pause=stopping.wait)
    opened.callback(waiting.close)
    runners = service_runners(service) | post_runners(service, wiring.post(settings))
    return _Reached(LocalSource(service, worker=called, wait=waiting.wait), runners, remote=False)


def _kinds(text: str | None) -> "set[JobKind] | None":
    """Read ``--kinds``.

    Raises:
        Unreadable: one of them is none.
    """
    from agon.entities.jobs import JobKind
    from agon.errors import Unreadable, did_you_mean

    if text is None:
        return None
    known = get_args(JobKind)
    kinds = {part.strip() for part in text.split(",") if part.strip()}
    for one in sorted(kinds - set(known)):
        raise Unreadable(f"unknown kind of job {one!r}: {did_you_mean(one, known)}")
    return cast("set[JobKind]", kinds)


def _runners(
    opened: ExitStack,
    settings: "Settings",
    reached: _Reached,
    *,
    kinds: "set[JobKind] | None",
    mode: str | None,
) -> "dict[JobKind, Run]":
    """Return what runs each kind of job here; what was asked for by name must be possible.

    Raises:
        Unavailable: a kind that was asked for needs what this machine has not.
    """
    from agon import wiring
    from agon.app.queue.source import REMOTE_KINDS
    from agon.app.worker.handlers import sandbox_runners, trial_runners
    from agon.errors import Unavailable

    found = dict(reached.runners)
    if kinds is None or kinds & SANDBOXED:
        chosen = cast("Mode", mode or settings.sandbox_modes[0])
        sandbox = _opened(
            opened, lambda: wiring.sandbox(chosen, workers=1), what="judged", must=kinds is not None
        )
        found |= {} if sandbox is None else sandbox_runners(sandbox)
    if settings.tasks_folder and (kinds is None or "trial" in kinds):
        engine = _opened(opened, wiring.containers, what="tried", must=kinds is not None)
        tasks, agent = Path(settings.tasks_folder), wiring.submitted_agent
        if engine is not None:
            found |= trial_runners(tasks, engine, agent, now=wiring.now)
    if reached.remote:
        found = {kind: run for kind, run in found.items() if kind in REMOTE_KINDS}
    if not found:
        raise Unavailable("nothing can be done here; see agon worker --help")
    if kinds is None:
        return found
    if lacking := sorted(kinds - set(found)):
        raise Unavailable(f"{', '.join(lacking)} cannot be done here; see agon worker --help")
    return {kind: run for kind, run in found.items() if kind in kinds}


def _opened(
    opened: ExitStack, begin: "Callable[[], AbstractContextManager[T]]", *, what: str, must: bool
) -> "T | None":
    """Open what the kinds of jobs need; warn where it is missing, raise where required."""
    from agon.errors import Unavailable

    try:
        return opened.enter_context(begin())
    except Unavailable as missing:
        if must:
            raise
        click.echo(f"nothing is {what} here: {missing}", err=True)
        return None


@contextmanager
def _stopped_by_signals(worker: "Worker", *, grace: float) -> Iterator[None]:
    """Stop the worker after its job on a first signal, during it on a second or a timeout."""
    from agon.app.worker.loop import Stopped

    def stop(*_: object) -> None:
        if worker.stopping.is_set():
            give_back()
            return
        worker.stopping.set()
        signal.setitimer(signal.ITIMER_REAL, max(grace, 0.001))

    def give_back(*_: object) -> None:
        if worker.running:
            raise Stopped

    kept = {
        number: signal.signal(number, handler)
        for number, handler in (
            (signal.SIGTERM, stop),
            (signal.SIGINT, stop),
            (signal.SIGALRM, give_back),
        )
    }
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in kept.items():
            signal.signal(number, handler)


def _refused(refused: "AgonError") -> None:
    click.echo(f"no jobs for now: {refused}; trying again until there are", err=True)


def _tell(worked: "WorkResult") -> None:
    assignment = worked.assignment
    cause = f": {worked.cause}" if worked.cause else ""
    click.echo(f"{assignment.kind} {assignment.id} {worked.end}{cause}", err=True)
