"""The port to the sandbox: where untrusted programs run.

Adapters are in ``runners``; use cases name only what is defined here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, Self, TypeAlias

from agon.errors import InvalidRule, Unavailable

EntryPoint: TypeAlias = Literal["solver", "seq", "gen"]
"""The function a program defines: ``solver()``, ``seq(n)`` for n from the first index on, or
``gen(N)``."""

RunOutcome: TypeAlias = Literal[
    "ok",
    "wrong_type",
    "runtime_error",
    "time_limit",
    "memory_limit",
    "output_limit",
    "syntax_error",
    "sandbox_error",
]
"""How a run ends. ``sandbox_error`` is a failure of the sandbox, not of the program."""

MAX_INDEX: Final = 1 << 53
"""Largest index of a first term, and the negative of the smallest: what JSON has exactly."""

Mode: TypeAlias = Literal["bwrap", "degraded", "cold"]
"""The isolation: namespaces with warm interpreters, the same without namespaces, or namespaces
with a new interpreter for each run."""


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """The limits of one run; the defaults are the solver's (``dojo.md``, Programs).

    Attributes:
        cpu_s: seconds of CPU time, user and system together.
        wall_s: seconds from start to end, including waits.
        memory_mib: address space in MiB above what the warm interpreter has itself.
        output_bytes: bytes of the answer, and as many again of what the program prints.
        max_term_digits: digits of one term. Other integers of a program have no limit but its time
            and memory.

    Raises:
        InvalidRule: a limit is out of its bounds.
    """

    cpu_s: float = 5.0
    wall_s: float = 10.0
    memory_mib: int = 256
    output_bytes: int = 1 << 20
    max_term_digits: int = 4300

    def __post_init__(self) -> None:
        bounds = {
            "cpu_s": (0.01, 3600),
            "wall_s": (0.01, 7200),
            "memory_mib": (1, 65_536),
            "output_bytes": (64, 1 << 30),
            "max_term_digits": (1, 1_000_000),
        }
        for name, (low, high) in bounds.items():
            if not low <= (value := getattr(self, name)) <= high:
                raise InvalidRule(f"{name} is {value}; give {low} to {high}")


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """A request for one run of one program.

    Attributes:
        source: the canonical bytes; nothing else of the submission enters the sandbox.
        entry: the function to call.
        n_check: number of terms; a longer list is cut there, a shorter one is valid.
        first_index: the first number ``seq`` is called with.
        recursion_limit: how deep the program's calls may be nested.
        exact_integers: whether terms may be of another type than ``int`` whose ``__index__`` gives
            an ``int``, such as sympy's integers; a bool may not.
        limits: what the run may use.
        name: the caller's name for it, returned with the result; it never enters the sandbox.
    """

    source: bytes = field(repr=False)
    entry: EntryPoint = "solver"
    n_check: int = 200
    first_index: int = 0
    recursion_limit: int = 1000
    exact_integers: bool = False
    limits: RunLimits = RunLimits()
    name: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.n_check <= 1_000_000:  # noqa: PLR2004  # the bound is this line
            raise InvalidRule(f"n_check is {self.n_check}; give 1 to 1,000,000")
        if abs(self.first_index) > MAX_INDEX:
            bounds = f"-{MAX_INDEX:,} to {MAX_INDEX:,}"
            raise InvalidRule(f"first_index is {self.first_index}; give {bounds}")


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """The result of a run: a fact to store, never computed again for scoring.

    Attributes:
        outcome: how the run ended.
        terms: decimal integers, at most ``n_check``; empty unless the outcome is ``ok``.
        reason: one line of printable text; empty when there is nothing to report.
        cpu_ms: CPU time as the kernel counts it.
        wall_ms: time from the fork to the end.
        memory_kib: peak resident memory above what the warm interpreter has itself.
        mode: the isolation.
        runner: versions of the runner, of Python and of sympy.
        attempts: number of runs until this was the result: 1 to 3.
    """

    outcome: RunOutcome
    terms: tuple[str, ...] = field(default=(), repr=False)
    reason: str = ""
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    memory_kib: int = 0
    mode: Mode
    runner: str
    attempts: int = 1


@dataclass(frozen=True)
class DeterminismCheck:
    """The results of two runs of one program in fresh processes with different hash seeds."""

    first: RunResult
    second: RunResult

    @property
    def agree(self) -> bool:
        """Return whether both runs ended the same way with the same terms."""
        return self.first.outcome == self.second.outcome and self.first.terms == self.second.terms

    @property
    def first_difference(self) -> int | None:
        """Return the number, from 1, of the first term that differs or that one run lacks.

        None when both gave the same terms; their outcomes may still differ.

        Example:
            >>> first = RunResult(outcome="ok", terms=("1", "3"), mode="bwrap", runner="example")
            >>> second = RunResult(outcome="ok", terms=("1", "4"), mode="bwrap", runner="example")
            >>> DeterminismCheck(first, second).first_difference
            2
        """
        equal = matching_prefix(self.first.terms, self.second.terms)
        longest = max(len(self.first.terms), len(self.second.terms))
        return equal + 1 if equal < longest else None


class SandboxEscape(Unavailable):
    """A program got out of the sandbox in its self-test: nothing untrusted may run here."""


class Sandbox(Protocol):
    """Runs untrusted programs. This is the contract that every adapter satisfies.

    *One result for each request.* :meth:`run` and :meth:`run_many` return exactly one
    :class:`RunResult` for each :class:`RunRequest`, for any program. A program cannot
    make them raise, hang, or return another program's result; it can only spoil its own.

    *Isolation.* The program computes and nothing else: it reads and writes no file, reaches no
    network, no process and no device, starts nothing, and leaves nothing after its run. It
    finds neither secrets of the host nor anything of an earlier submission. The expected terms
    never enter: the caller compares text with :func:`matching_prefix`, outside.

    *The outcome* follows from bytes and from the kernel's record of the process, never from a
    claim that has to be believed. What the program writes into the answer's channel itself counts
    as if it had computed it, and no more.

    * ``ok``: the entry point returned a list (``seq``: an ``int`` at each call) whose first
      ``n_check`` elements are exactly ``int`` (or, if the request allows it, convert exactly);
    * ``wrong_type``: something else, with the index, the type and what to write in the reason;
    * ``syntax_error``: it cannot be compiled;
    * ``runtime_error``: an exception, a crash, a forbidden system call, an end without an answer;
    * ``time_limit``, ``memory_limit``, ``output_limit``: a limit of the request was reached;
    * ``sandbox_error``: the sandbox failed twice in a row (a lost worker). Never a fail, never
      scored.

    *Fair near a limit.* A run that ends by itself within 30 % above its CPU time, or that reached
    its wall-clock limit although it had CPU time left, is run once more, and the better run counts.
    One that never waited and reached its wall-clock limit below its CPU time was kept from
    computing: it is run again alone, while no other program of this sandbox runs, and when
    that is no different, it is a ``sandbox_error``: the machine was too busy. A run lost with its
    worker is run once more too. ``RunResult.attempts`` says how often it was run.

    *Reproducible.* Every request runs in a fresh process with the same hash seed and the same
    random seed, and sees 0 as its process id; :meth:`run_with_two_seeds` uses two different hash
    seeds and other addresses of objects.

    *Thread-safe.* Methods may be called from several threads. After :meth:`close`, which may be
    called twice, nothing is left: no process, no descriptor, no file.
    """

    @property
    def mode(self) -> Mode:
        """Return the isolation, as every result records it."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Return the layers of the isolation on this machine, outermost first."""

    def run(self, request: RunRequest) -> RunResult:
        """Run one program and return the result.

        Raises:
            Unavailable: the sandbox is closed.
        """

    def run_many(self, requests: Iterable[RunRequest]) -> Iterator[tuple[RunRequest, RunResult]]:
        """Run programs on all workers; yield each request with its result as it finishes.

        Requests are taken from the iterable as workers become free, so it may be endless.

        Raises:
            Unavailable: the sandbox is closed and there are requests left.
        """

    def run_with_two_seeds(self, request: RunRequest) -> DeterminismCheck:
        """Run a program in two fresh processes with different hash seeds."""

    def close(self) -> None:
        """Stop every worker; runs in progress end as ``sandbox_error``."""

    def __enter__(self) -> Self:
        """Return the sandbox."""

    def __exit__(self, *_: object) -> None:
        """Close it."""


def matching_prefix(terms: Sequence[str], expected: Sequence[str]) -> int:
    """Return the number of leading terms that equal the expected ones, as text.

    Example:
        >>> matching_prefix(("1", "1", "2", "4"), ("1", "1", "2", "3", "5"))
        3
    """
    for index, (term, expected_term) in enumerate(zip(terms, expected, strict=False)):
        if term != expected_term:
            return index
    return min(len(terms), len(expected))
