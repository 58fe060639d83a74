"""Read the hostile programs: a folder per family, a file per program, and the expected outcomes."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from agon.app.sandbox import RunLimits, RunRequest, RunResult

FOLDER = Path(__file__).parent / "hostile"
LIMITS = RunLimits(cpu_s=0.2, wall_s=2.0, memory_mib=64, output_bytes=65_536)


@dataclass(frozen=True)
class HostileProgram:
    """A hostile program and the outcomes that show it was contained.

    Attributes:
        name: family and program.
        why: what it tries.
        source: its bytes.
        outcomes: each shows that it was contained; which one occurs can depend on the machine.
        terms: the terms of an ``ok``; a program that reports an escape reports other ones.
        n_check: number of requested terms.
    """

    name: str
    why: str
    source: bytes
    outcomes: tuple[str, ...]
    terms: tuple[str, ...]
    n_check: int

    @property
    def request(self) -> RunRequest:
        """Return the request that runs it."""
        return RunRequest(source=self.source, n_check=self.n_check, limits=LIMITS, name=self.name)

    def is_contained(self, run: RunResult) -> bool:
        """Return whether a run is as expected."""
        as_expected = run.terms == self.terms if run.outcome == "ok" else run.terms == ()
        return run.outcome in self.outcomes and as_expected


def hostile_programs() -> list[HostileProgram]:
    """Read all programs, in order."""
    return [
        HostileProgram(
            name=f"{folder.name}/{name}",
            why=expected["why"],
            source=_source((folder / f"{name}.py.txt").read_bytes(), expected),
            outcomes=tuple(expected["outcome"]),
            terms=tuple(expected.get("terms", ())),
            n_check=expected.get("n_check", 5),
        )
        for folder in sorted(FOLDER.iterdir())
        for name, expected in tomllib.loads((folder / "expect.toml").read_text()).items()
    ]


def stratified(programs: list[HostileProgram], *, part: int, parts: int) -> list[HostileProgram]:
    """Return one of several parts of the programs, each with at least one of every family."""
    strata: dict[str, list[HostileProgram]] = {}
    for program in programs:
        strata.setdefault(program.name.partition("/")[0], []).append(program)
    return [
        program
        for family in strata.values()
        for number, program in enumerate(family)
        if number % min(parts, len(family)) == part % min(parts, len(family))
    ]


def _source(text: bytes, expected: dict[str, object]) -> bytes:
    """Expand a text that is repeated (a parser bomb) or escaped (no valid text)."""
    if expected.get("escaped"):
        return text.rstrip(b"\n").decode("unicode_escape").encode("latin-1")
    if "times" not in expected:
        return text
    piece = text.decode().removesuffix("\n") if b"{" not in text else text.decode()
    pieces = (
        piece.replace("{number}", str(at)).replace("{blanks}", " " * at)
        for at in range(int(str(expected["times"])))
    )
    return f"{expected.get('head', '')}{''.join(pieces)}{expected.get('tail', '')}\n".encode()
