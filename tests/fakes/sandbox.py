"""Implement the sandbox port without isolation, for the trusted programs of tests."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Self, get_args

from agon.app.sandbox import DeterminismCheck, Mode, RunOutcome, RunRequest, RunResult

_ASKED = re.compile(rb"# outcome: (\w+)")


class FakeSandbox:
    """Run trusted programs in this process; a line ``# outcome: NAME`` decides how one ends.

    ``HASH_SEED`` is 1 in every run and 2 in the second of two, so that a program can differ.
    """

    mode: Mode = "cold"
    layers: tuple[str, ...] = ("none: this is a fake",)

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.closed = False

    def run(self, request: RunRequest) -> RunResult:
        """Run one job."""
        return self._run(request, hash_seed=1)

    def run_many(self, requests: Iterable[RunRequest]) -> Iterator[tuple[RunRequest, RunResult]]:
        """Run jobs sequentially."""
        for request in requests:
            yield request, self.run(request)

    def run_with_two_seeds(self, request: RunRequest) -> DeterminismCheck:
        """Run a job with two hash seeds."""
        return DeterminismCheck(self._run(request, hash_seed=1), self._run(request, hash_seed=2))

    def close(self) -> None:
        """Record the call."""
        self.closed = True

    def __enter__(self) -> Self:
        """Return the fake itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _run(self, request: RunRequest, *, hash_seed: int) -> RunResult:
        self.ran.append(request.name)
        directive = _ASKED.search(request.source)
        if directive:
            (outcome,) = (one for one in get_args(RunOutcome) if one == directive[1].decode())
            return self._ended(outcome, reason="asked for")
        space: dict[str, Any] = {"HASH_SEED": hash_seed}
        try:
            exec(compile(request.source, "program", "exec"), space)  # noqa: S102 - the tests' own text
            if request.entry == "seq":
                first = request.first_index
                terms = [space["seq"](n) for n in range(first, first + request.n_check)]
            else:
                arguments = (request.n_check,) if request.entry == "gen" else ()
                terms = space[request.entry](*arguments)[: request.n_check]
        except Exception as error:  # noqa: BLE001 - whatever a program does is its verdict
            return self._ended("runtime_error", reason=f"{type(error).__name__}: {error}")
        if any(type(term) is not int for term in terms):
            return self._ended("wrong_type", reason="a term is no int")
        return self._ended("ok", terms=tuple(map(str, terms)))

    def _ended(
        self, outcome: RunOutcome, *, terms: tuple[str, ...] = (), reason: str = ""
    ) -> RunResult:
        return RunResult(outcome=outcome, terms=terms, reason=reason, cpu_ms=1.25, wall_ms=2.5,
                   memory_kib=64, mode=self.mode, runner="fake")  # fmt: skip
