"""Run the commands of a driver on the host inside a container, one by one."""

import io
import math
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Final

from agon.app.containers import AgentStep, ContainerGone, Shell
from agon.runners.containers.client_process import BoundedStream, End, follow
from agon.runners.containers.engine import CommandLine, EngineError
from agon.runners.containers.first_process import GRACE_S, has_begun, has_ended
from agon.runners.containers.isolation import OUTER_GRACE_S
from agon.runners.containers.outcomes import Diagnosis
from agon.runners.containers.run_specs import ContainerRun, RunSpec
from agon.runners.containers.runs import ContainerRunner

WAITING: Final = ("cat",)
"""The command of a driven container; it ends when its stdin does."""
_ENGINE_CODES: Final = (125, 126, 127, 137, 255)
_LATE_CODES: Final = (124, 137, 143)
_POLL_S: Final = 0.02
_AT_FIRST_S: Final = 300.0


def drive(
    attempts: ContainerRunner, engine: CommandLine, spec: RunSpec, driver: Callable[[Shell], None]
) -> ContainerRun:
    """Run a container whose command waits while a driver acts; the driver runs in this thread.

    If the container did not start because of an internal error, both are run once more. A driver
    that has acted cannot be run again: then a kill of unknown cause is the agent's.
    """
    for number in (1, 2):
        run, acted = _drive_once(attempts, engine, spec, driver, number)
        if run.diagnosis.outcome != "unscored" or acted or attempts.closed:
            break
    if acted and run.diagnosis.killed:
        return run.with_diagnosis(Diagnosis("failed", "it was killed: its memory is full",
                                    limits_hit=("memory",)))  # fmt: skip
    return run


def _drive_once(
    attempts: ContainerRunner,
    engine: CommandLine,
    spec: RunSpec,
    driver: Callable[[Shell], None],
    number: int,
) -> tuple[ContainerRun, bool]:
    name = attempts.new_name(spec.trial.run)
    shell = ContainerShell(engine, name, attempts.account_of(name), spec)
    with ThreadPoolExecutor(1, "driven") as executor:
        running = executor.submit(
            attempts.once, spec, number=number, name=name, started=shell.take_client
        )
        shell.follow(running)
        try:
            driver(shell)
        except ContainerGone:
            pass
        except BaseException:
            attempts.remove(name)
            raise
        finally:
            shell.finish()
        return running.result(), shell.acted


class ContainerShell:
    """The shell of a running container; implements :class:`agon.app.containers.Shell`."""

    def __init__(self, engine: CommandLine, name: str, account: Path, spec: RunSpec) -> None:
        self._engine = engine
        self._name = name
        self._account = account
        self._order = spec
        self._client: subprocess.Popen[bytes] | None = None
        self._started = Event()
        self.acted = False

    def take_client(self, client: "subprocess.Popen[bytes]") -> None:
        """Set the client whose stdin keeps the container waiting."""
        self._client = client
        self._started.set()

    def follow(self, running: "Future[ContainerRun]") -> None:
        """Set the future that is done when the container has ended."""
        self._running = running
        running.add_done_callback(lambda _: self._started.set())

    def execute(self, command: Sequence[str], *, timeout_s: float, user: str = "") -> AgentStep:
        """Run a command in the working folder, as a user if one is named, and wait for it.

        Raises:
            ContainerGone: the container has ended.
        """
        self.wait_until_begun()
        self.acted = True
        limit = max(1, math.ceil(timeout_s))
        workdir = self._order.image.workdir
        most = self._order.limits.output_kib << 10
        out, err = io.BytesIO(), io.BytesIO()
        streams = (BoundedStream(out, most), BoundedStream(err, most))
        begin = time.monotonic()

        def verdict() -> End | None:
            if any(stream.floods for stream in streams):
                return "output"
            return "time" if time.monotonic() > begin + limit + OUTER_GRACE_S else None

        with subprocess.Popen(  # noqa: S603  # the engine that was found; inside it may do anything
            [
                *(
                    *self._engine.command,
                    "exec",
                    f"--workdir={workdir}",
                    *((f"--user={user}",) if user else ()),
                    self._name,
                ),
                *("timeout", "-k", str(GRACE_S), str(limit), *command),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._account.parent,
            bufsize=0,
            start_new_session=True,
        ) as client:
            end = follow(client, streams, verdict=verdict, remove=client.kill)
        if client.returncode in _ENGINE_CODES and self._is_gone():
            raise ContainerGone
        took = time.monotonic() - begin
        return AgentStep(
            exit_code=client.returncode,
            stdout=out.getvalue(),
            stderr=err.getvalue(),
            timed_out=end == "time" or (client.returncode in _LATE_CODES and took >= limit),
            truncated=any(stream.total > stream.stored for stream in streams),
        )

    def finish(self) -> None:
        """Close the container's stdin, which ends it."""
        self._started.wait(_AT_FIRST_S)
        if self._client is not None and self._client.stdin is not None:
            self._client.stdin.close()

    def wait_until_begun(self) -> None:
        """Wait until the container's command has begun.

        Raises:
            ContainerGone: the container has ended.
        """
        while not self._running.done():
            try:
                if has_ended(self._account):
                    break
                if has_begun(self._account):
                    return
            except FileNotFoundError:
                pass  # not yet or no longer there; the future decides
            time.sleep(_POLL_S)
        raise ContainerGone

    def _is_gone(self) -> bool:
        """Return whether the container ended, not only the command."""
        try:
            details = self._engine.inspect("container", self._name)
        except EngineError:
            return True
        return details is None or not details["State"].get("Running")
