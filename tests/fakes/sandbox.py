"""Keep the sandbox's contract without any wall, for the programs that tests write themselves."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Self, get_args

from agon.app.sandbox import Job, Mode, Outcome, Run, Twice

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

    def run(self, job: Job) -> Run:
        """Run one job."""
        return self._run(job, hash_seed=1)

    def run_many(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Run]]:
        """Run jobs one after the other."""
        for job in jobs:
            yield job, self.run(job)

    def run_twice(self, job: Job) -> Twice:
        """Run a job with two hash seeds."""
        return Twice(self._run(job, hash_seed=1), self._run(job, hash_seed=2))

    def close(self) -> None:
        """Remember it."""
        self.closed = True

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _run(self, job: Job, *, hash_seed: int) -> Run:
        self.ran.append(job.name)
        asked = _ASKED.search(job.source)
        if asked:
            (outcome,) = (one for one in get_args(Outcome) if one == asked[1].decode())
            return self._ended(outcome, reason="asked for")
        space: dict[str, Any] = {"HASH_SEED": hash_seed}
        try:
            exec(compile(job.source, "program", "exec"), space)  # noqa: S102 - the tests' own text
            if job.entry == "seq":
                terms = [space["seq"](n) for n in range(1, job.n_check + 1)]
            else:
                given = (job.n_check,) if job.entry == "gen" else ()
                terms = space[job.entry](*given)[: job.n_check]
        except Exception as wrong:  # noqa: BLE001 - whatever a program does is its verdict
            return self._ended("runtime_error", reason=f"{type(wrong).__name__}: {wrong}")
        if any(type(term) is not int for term in terms):
            return self._ended("wrong_type", reason="a term is no int")
        return self._ended("ok", terms=tuple(map(str, terms)))

    def _ended(self, outcome: Outcome, *, terms: tuple[str, ...] = (), reason: str = "") -> Run:
        return Run(outcome=outcome, terms=terms, reason=reason, cpu_ms=1.25, wall_ms=2.5,
                   memory_kib=64, mode=self.mode, runner="fake")  # fmt: skip
