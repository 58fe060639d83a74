"""Supervise zygotes: distribute runs among them, replace lost ones, repeat unfair runs."""

import os
import platform
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from importlib.metadata import version
from itertools import islice
from typing import NamedTuple, Self

from agon.app.sandbox import DeterminismCheck, Mode, RunRequest, RunResult
from agon.errors import Unavailable
from agon.runners.sandbox.inside.child import PADS
from agon.runners.sandbox.inside.wire import ENTRIES, Report, WireRequest
from agon.runners.sandbox.isolation import Isolation
from agon.runners.sandbox.self_test import self_test
from agon.runners.sandbox.turns import Turns
from agon.runners.sandbox.verdicts import EDGE, Verdict, WorkerLost, decide
from agon.runners.sandbox.zygote import Zygote
from agon.version import __version__

_SEEDS = (1, 2)
"""Hash seeds: the first for every run, the second for every second run of a setter."""
_CLOSED = "the sandbox was closed"
_REQUESTS_AHEAD = 2
"""Number of requests taken in advance for each worker, so that none waits for the caller."""


class WorkerKind(NamedTuple):
    """The kind of a worker; zygotes of different kinds cannot replace each other."""

    hash_seed: int
    sympy: bool


class Pool:
    """A :class:`agon.app.sandbox.Sandbox` of zygotes with one kind of isolation.

    Each worker is a thread that borrows a zygote for each run. A zygote with sympy costs several
    times as much to fork, so only programs whose source names sympy get one; it starts when the
    first such program comes.

    A run that the machine kept from computing is repeated alone: no other worker runs a program
    meanwhile.
    """

    def __init__(
        self, isolation: Isolation, *, workers: int | None = None, tested: bool = True
    ) -> None:
        """Start a zygote for each worker, and test the isolation.

        Args:
            isolation: how zygotes are started.
            workers: number of programs that run at a time; by default one for each processor.
            tested: whether every zygote that serves more than one run passes the self-test first
                (one that serves a single run has the same isolation as the first, which does).

        Raises:
            Unavailable: zygotes do not start, or a hostile program escapes.
        """
        self._isolation = isolation
        self._tested = tested
        self._workers = workers or len(os.sched_getaffinity(0))
        self._lock = threading.Lock()
        self._idle: dict[WorkerKind, list[Zygote]] = {}
        self._all: set[Zygote] = set()
        self._closed = False
        self._turns = Turns()
        self._runner = (
            f"sandbox 1, agon {__version__}, Python {platform.python_version()}, "
            f"sympy {version('sympy')}"
        )
        self._executor = ThreadPoolExecutor(self._workers, "sandbox")
        try:
            started = [self._executor.submit(self._first) for _ in range(self._workers)]
            for start in started:
                self._layers = start.result()
        except BaseException:
            self.close()
            raise

    @property
    def mode(self) -> Mode:
        """Return the isolation, as every result records it."""
        return self._isolation.mode

    @property
    def layers(self) -> tuple[str, ...]:
        """Return the layers of the isolation on this machine, outermost first."""
        return self._layers

    def run(self, request: RunRequest) -> RunResult:
        """Run one program and return the result.

        Raises:
            Unavailable: the sandbox is closed.
        """
        return self._submit(request).result()

    def run_many(self, requests: Iterable[RunRequest]) -> Iterator[tuple[RunRequest, RunResult]]:
        """Run programs on all workers; yield each request with its result as it finishes.

        Raises:
            Unavailable: the sandbox is closed and there are requests left.
        """
        coming = iter(requests)
        under_way: dict[Future[RunResult], RunRequest] = {}
        try:
            while True:
                free = self._workers * (1 + _REQUESTS_AHEAD) - len(under_way)
                under_way |= {self._submit(request): request for request in islice(coming, free)}
                if not under_way:
                    return
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    yield under_way.pop(future), future.result()
        finally:
            for future in under_way:
                future.cancel()

    def run_with_two_seeds(self, request: RunRequest) -> DeterminismCheck:
        """Run a program in two fresh processes with different hash seeds.

        When both agree, it runs ten times more, with its objects at other addresses: output that
        depends on the low bits of an address differs in one of the runs. These have twice the
        processor time, so that a program near its limit does not end in another way.
        """
        runs = [self._submit(request, number) for number in range(2)]
        check = DeterminismCheck(*(run.result() for run in runs))
        if not check.agree or check.first.outcome != "ok":
            return check
        limits = replace(request.limits, cpu_s=2 * request.limits.cpu_s)
        further = replace(request, limits=limits)
        runs = [self._submit(further, number) for number in range(2, len(PADS))]
        checks = [DeterminismCheck(check.first, run.result()) for run in runs]
        return next((other for other in checks if not other.agree), check)

    def close(self) -> None:
        """Stop every worker; runs in progress end as ``sandbox_error``."""
        with self._lock:
            self._closed = True
            zygotes = list(self._all)
        for zygote in zygotes:
            zygote.close()
        self._executor.shutdown(wait=True)  # requests that wait for a worker end immediately

    def __enter__(self) -> Self:
        """Return the sandbox."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _submit(self, request: RunRequest, variation: int = 0) -> Future[RunResult]:
        try:
            return self._executor.submit(self._judge, request, variation)
        except RuntimeError:
            raise Unavailable("the sandbox is closed; open another") from None

    def _judge(self, request: RunRequest, variation: int) -> RunResult:
        """Run a program until the result is fair: again when lost, again when in doubt."""
        kind = WorkerKind(_SEEDS[variation % 2], sympy=_names_sympy(request.source))
        lost = doubted = starved = False
        attempts = 0
        while True:
            attempts += 1
            try:
                with self._turns.alone() if starved else self._turns.share():
                    verdict, report = self._attempt(request, kind, variation)
            except (WorkerLost, Unavailable, OSError) as wrong:
                if lost or self._closed:
                    return self._sandbox_error(str(wrong), attempts)
                lost = True
                continue
            if verdict.doubtful and not doubted:
                doubted, starved = True, verdict.outcome == "sandbox_error"
                continue
            return RunResult(
                outcome=verdict.outcome,
                terms=verdict.terms,
                reason=verdict.reason,
                cpu_ms=report.cpu_us / 1000,
                wall_ms=report.wall_us / 1000,
                memory_kib=report.memory_kib,
                mode=self.mode,
                runner=self._runner,
                attempts=attempts,
            )

    def _sandbox_error(self, reason: str, attempts: int) -> RunResult:
        return RunResult(
            outcome="sandbox_error", reason=reason, mode=self.mode, runner=self._runner,
            attempts=attempts,
        )  # fmt: skip

    def _attempt(
        self, request: RunRequest, kind: WorkerKind, variation: int
    ) -> tuple[Verdict, Report]:
        zygote = self._borrow(kind)
        try:
            report, answer = zygote.run(_request(request, variation), request.source)
        except BaseException:
            self._discard(zygote)
            raise
        self._release(zygote, kind)
        return decide(report, answer, request), report

    def _first(self) -> tuple[str, ...]:
        """Start a worker's first zygote and return the layers of its isolation."""
        kind = WorkerKind(_SEEDS[0], sympy=False)
        zygote = self._start(kind)
        if self._tested:
            self._self_test(zygote)
        self._release(zygote, kind)
        return _layers(self._isolation, zygote.greeting)

    def _borrow(self, kind: WorkerKind) -> Zygote:
        with self._lock:
            if self._closed:
                raise WorkerLost(_CLOSED)
            if idle := self._idle.get(kind):
                return idle.pop()
        zygote = self._start(kind)
        if self._tested and not self._isolation.single_use:
            self._self_test(zygote)
        return zygote

    def _start(self, kind: WorkerKind) -> Zygote:
        zygote = Zygote(self._isolation, hash_seed=kind.hash_seed, sympy=kind.sympy)
        with self._lock:
            if not self._closed:
                self._all.add(zygote)
                return zygote
        zygote.close()
        raise WorkerLost(_CLOSED)

    def _self_test(self, zygote: Zygote) -> None:
        def run(request: RunRequest) -> Verdict:
            return decide(*zygote.run(_request(request, 0), request.source), request)

        try:
            self_test(run)
        except BaseException as wrong:
            self._discard(zygote)
            if isinstance(wrong, WorkerLost):
                raise Unavailable(f"the sandbox does not pass its own test: {wrong}") from None
            raise

    def _release(self, zygote: Zygote, kind: WorkerKind) -> None:
        if self._isolation.single_use:
            self._discard(zygote)
            return
        with self._lock:
            self._idle.setdefault(kind, []).append(zygote)

    def _discard(self, zygote: Zygote) -> None:
        zygote.close()
        with self._lock:
            self._all.discard(zygote)


def _names_sympy(source: bytes) -> bool:
    """Return whether a source has the name sympy, in any letters that Python reads as it.

    Or random: sympy uses it, and it is large enough to keep it from other zygotes.
    """
    text = source.decode("utf-8", "replace")
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return "sympy" in text or "random" in text


def _request(request: RunRequest, variation: int) -> WireRequest:
    limits = request.limits
    return WireRequest(
        number=0,  # each attempt gets one of its own
        source_bytes=len(request.source),
        entry=ENTRIES.index(request.entry),
        n_check=request.n_check,
        first_index=request.first_index,
        recursion_limit=request.recursion_limit,
        cpu_s=limits.cpu_s * EDGE,
        wall_s=limits.wall_s,
        memory_bytes=limits.memory_mib << 20,
        output_bytes=limits.output_bytes,
        max_term_digits=limits.max_term_digits,
        exact_integers=request.exact_integers,
        variation=variation,
    )


def _layers(isolation: Isolation, greeting: dict[str, str]) -> tuple[str, ...]:
    namespaces = ("mount", "pid", "network", "ipc", "uts", "cgroup", "user")
    landlock = greeting["landlock"]
    own_user = (
        not isolation.hides_processes or os.geteuid() != 0 or greeting["own_namespace"] == "1"
    )
    return (
        *((f"namespaces ({', '.join(namespaces[: 7 if own_user else 6])})",)
          if isolation.hides_processes else ()),
        *((f"landlock {landlock}",) if landlock != "0" else ()),
        "no privileges",
        "resource limits",
        "system call list",
    )  # fmt: skip
