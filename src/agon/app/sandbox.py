"""Say what a use case needs of the world outside: a place where untrusted programs run.

Adapters stand in ``runners``; use cases name only what is written here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self, TypeAlias

from agon.errors import InvalidRule, Unavailable

Entry: TypeAlias = Literal["solver", "seq", "gen"]
"""The function a program offers: ``solver()``, ``seq(n)`` for n from 1, or ``gen(N)``."""

Outcome: TypeAlias = Literal[
    "ok",
    "wrong_type",
    "runtime_error",
    "time_limit",
    "memory_limit",
    "output_limit",
    "syntax_error",
    "sandbox_error",
]
"""How a run ends; ``sandbox_error`` alone is our fault and says nothing about the program."""

Mode: TypeAlias = Literal["bwrap", "degraded", "cold"]
"""Which wall stood: namespaces with warm interpreters, none, or a new interpreter for each job."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bound one run (``dojo.md``, Programs: the solver's limits are the defaults).

    Attributes:
        cpu_s: seconds of processor time, user and system together.
        wall_s: seconds from start to end, whatever the program waits for.
        memory_mib: address space in MiB above what the warm interpreter has itself.
        output_bytes: bytes of the answer, and as many again of what the program prints.
        max_term_digits: digits of one term; Python itself converts no more without being asked.

    Raises:
        InvalidRule: when a limit is out of its bounds.
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
class Job:
    """Ask for one run of one program.

    Attributes:
        source: the canonical bytes; nothing else of the submission enters the sandbox.
        entry: the function to call.
        n_check: how many terms are wanted; a longer list is cut there, a shorter one is valid.
        limits: what the run may use.
        name: the caller's name for it; it comes back with the run and never enters the sandbox.
    """

    source: bytes = field(repr=False)
    entry: Entry = "solver"
    n_check: int = 200
    limits: Limits = Limits()
    name: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.n_check <= 1_000_000:  # noqa: PLR2004  # the bound is this line
            raise InvalidRule(f"n_check is {self.n_check}; give 1 to 1,000,000")


@dataclass(frozen=True, kw_only=True)
class Run:
    """Record what became of a job: a fact to store, never to be computed again for scoring.

    Attributes:
        outcome: how it ended.
        terms: decimal integers, at most ``n_check``; empty unless the outcome is ``ok``.
        reason: one line for people, made of printable text; empty when there is nothing to say.
        cpu_ms: processor time, as the kernel counts it.
        wall_ms: time from the fork to the end.
        memory_kib: resident memory at the peak above what the warm interpreter has itself.
        mode: which wall stood.
        runner: versions of the runner, of Python and of sympy.
        attempts: how often it was run before this was the verdict: 1 to 3.
    """

    outcome: Outcome
    terms: tuple[str, ...] = field(default=(), repr=False)
    reason: str = ""
    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    memory_kib: int = 0
    mode: Mode
    runner: str
    attempts: int = 1


@dataclass(frozen=True)
class Twice:
    """Hold two runs of one program in fresh processes with different hash seeds."""

    first: Run
    second: Run

    @property
    def agree(self) -> bool:
        """Whether both ended the same way with the same terms."""
        return self.first.outcome == self.second.outcome and self.first.terms == self.second.terms

    @property
    def first_difference(self) -> int | None:
        """Number, from 1, of the first term that differs or that one of the runs lacks.

        None when both gave the same terms (their outcomes may differ all the same).

        Example:
            >>> first = Run(outcome="ok", terms=("1", "3"), mode="bwrap", runner="example")
            >>> second = Run(outcome="ok", terms=("1", "4"), mode="bwrap", runner="example")
            >>> Twice(first, second).first_difference
            2
        """
        equal = matching_prefix(self.first.terms, self.second.terms)
        longest = max(len(self.first.terms), len(self.second.terms))
        return equal + 1 if equal < longest else None


class Escaped(Unavailable):
    """Say that a program got out of a sandbox in its self-test: nothing may run there."""


class Sandbox(Protocol):
    """Run programs that nobody trusts. This is the contract; every adapter keeps it.

    *One run for each job.* :meth:`run` and :meth:`run_many` give exactly one :class:`Run` for each
    :class:`Job`, whatever the program does. A program cannot make them raise, hang, or give
    another program's run; it can only spoil its own.

    *The wall.* The program computes and nothing else: it reads and writes no file, reaches no
    network, no process and no device, starts nothing, and outlives its run in no form. It finds
    neither secrets of the host nor anything of an earlier submission. The expected terms never
    enter: whoever knows them compares text with :func:`matching_prefix`, outside.

    *The verdict* follows from bytes and the kernel's account of the process, never from a claim
    that had to be believed. What the program writes into the answer's channel by hand is worth as
    much as having computed it, and no more.

    * ``ok``: the entry returned a list (for ``seq``: each call an ``int``) whose first ``n_check``
      elements are exactly ``int``;
    * ``wrong_type``: something else, with the index and the type in the reason;
    * ``syntax_error``: it cannot be compiled;
    * ``runtime_error``: an exception, a crash, a forbidden system call, an end without an answer;
    * ``time_limit``, ``memory_limit``, ``output_limit``: a limit of the job was reached;
    * ``sandbox_error``: our fault twice in a row (a lost worker). Never a fail, never a score.

    *Fair at the edge.* A run that ends by itself within 30 % above its processor time, or that
    waited although it had processor time left, is run once more, and the better one counts. A run
    lost with its worker is run once more too. ``Run.attempts`` tells.

    *Reproducible.* Every job runs in a fresh process with the same hash seed and the same dice;
    :meth:`run_twice` uses two different ones.

    *Safe to share.* Methods may be called from several threads. After :meth:`close`, which may
    be called twice, nothing is left: no process, no descriptor, no file.
    """

    @property
    def mode(self) -> Mode:
        """Name the wall, as every run records it."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Name what the wall is made of on this machine, outermost first."""

    def run(self, job: Job) -> Run:
        """Run one job and wait for it.

        Raises:
            Unavailable: when the sandbox is closed.
        """

    def run_many(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Run]]:
        """Run jobs on all workers; yield each with its run, as they finish.

        Jobs are taken from the iterable as workers become free, so it may be endless.

        Raises:
            Unavailable: when the sandbox is closed and there are jobs left.
        """

    def run_twice(self, job: Job) -> Twice:
        """Run a job in two fresh processes with different hash seeds (the setter's gate)."""

    def close(self) -> None:
        """End every worker; runs under way end as ``sandbox_error``."""

    def __enter__(self) -> Self:
        """Give itself."""

    def __exit__(self, *_: object) -> None:
        """Close."""


def matching_prefix(terms: Sequence[str], expected: Sequence[str]) -> int:
    """Count how many leading terms equal the expected ones, as text.

    Example:
        >>> matching_prefix(("1", "1", "2", "4"), ("1", "1", "2", "3", "5"))
        3
    """
    for at, (term, wanted) in enumerate(zip(terms, expected, strict=False)):
        if term != wanted:
            return at
    return min(len(terms), len(expected))
