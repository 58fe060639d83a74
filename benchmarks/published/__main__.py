"""Print published figures about attacks next to ours, with the limit that each has to keep."""

import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.published import reproduce
from benchmarks.published.figures import Sources

import agon

_VOTES = Path(agon.__file__).parent / "examples" / "llmfao"


def _tables(file: str) -> Mapping[str, Any]:
    """Return the tables of imported votes of LLMFAO; a match is a vote."""
    return agon.import_records("comparisons", str(_VOTES / file), unit="votes").tables


SOURCES: Sources = {
    "crowd": lambda: _tables("crowd-comparisons.csv"),
    "gpt-4": lambda: _tables("gpt4-crowd-comparisons.csv"),
}


def main() -> int:
    """Print every figure; the exit code is 1 when one differs by more than its limit."""
    holds = True
    for row in reproduce(SOURCES, clock=perf_counter):
        figure = row.figure
        holds = holds and figure.holds
        theirs, ours = figure.with_unit(figure.theirs), figure.with_unit(figure.ours)
        mark = "holds" if figure.holds else "DIFFERS"
        print(f"{row.source} | {figure.name} | {theirs} | {ours} | {figure.limit} | {mark}")
        sys.stdout.flush()
    return 0 if holds else 1


if __name__ == "__main__":
    raise SystemExit(main())
