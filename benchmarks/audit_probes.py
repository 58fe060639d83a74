"""Print how often each probe of the audit says *look*: by the strength of its defect, and without.

The tables of *What each probe notices* in ``docs/methods/ratings.md`` are this output.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agon.disciplines.arena.audits import TABLE
from agon.disciplines.arena.audits.board import AuditedBoard, audited_board
from agon.disciplines.arena.facts import facts_of
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import ScoredArena
from agon.records import read_rows

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from disciplines.arena.planted import DEFECTS, ELO, Row, clean

BOARDS = 100
PROBES = dict(zip(DEFECTS, TABLE, strict=True))


@dataclass(frozen=True)
class Size:
    """Boards without a defect: neighbors differ by a step, sides and judges are drawn by lot."""

    bots: int
    matches: int
    judges: int
    step: float


SIZES = (
    Size(3, 300, 10, 80),
    Size(6, 60, 60, 80),
    Size(6, 100, 200, 80),
    Size(6, 600, 12, 80),
    Size(6, 600, 30, 80),
    Size(6, 3_000, 12, 120),
    Size(8, 4_000, 150, 124),
    Size(12, 2_000, 20, 60),
    Size(30, 6_000, 500, 30),
)


def board_of(rows: list[Row]) -> AuditedBoard:
    """Return drawn matches as the board that probes examine."""
    names = sorted({row[side] for row in rows for side in ("bot_a", "bot_b")})
    bots = [{"id": name, "name": name, "owner_id": None} for name in names]
    with read_rows(SCHEMA, {"bots": bots, "matches": rows}) as records:
        return audited_board(ScoredArena(facts_of(records), ArenaRules()))


def by_strength() -> Iterator[str]:
    """Yield a row for each probe: of 100 boards of each strength, how many make it say *look*."""
    for name, defect in DEFECTS.items():
        found = []
        for strength in defect.strengths:
            boards = (
                board_of(defect.draw(np.random.default_rng(seed), strength))
                for seed in range(BOARDS)
            )
            looks = sum(PROBES[name](board).verdict == "look" for board in boards)
            found.append(f"{strength:g}: {looks}")
        yield f"| {name} | {defect.says} | {', '.join(found)} |"


def without_defects() -> Iterator[str]:
    """Yield a row for each size: how many boards of 100 make which probe say *look*."""
    for size in SIZES:
        looks: Counter[str] = Counter()
        for seed in range(BOARDS):
            board = board_of(
                clean(
                    np.random.default_rng(seed),
                    bots=size.bots,
                    matches=size.matches,
                    judges=size.judges,
                    spread=size.step / ELO * (size.bots - 1) / 2,
                )
            )
            looks.update(name for name, probe in PROBES.items() if probe(board).verdict == "look")
        cells = [str(looks.pop(name, 0)) for name in ("separation", "robustness", "voters")]
        others = ", ".join(f"{name} {count}" for name, count in sorted(looks.items())) or "0"
        yield (
            f"| {size.bots} | {size.matches:,} | {size.judges} | {size.step:g} | "
            f"{' | '.join(cells)} | {others} |"
        )


def main() -> None:
    """Print both tables."""
    print("| probe | the number is | *look* in 100 boards |\n|---|---|---|")
    for row in by_strength():
        print(row, flush=True)
    print("\n| bots | matches | judges | step | separation | robustness | voters | others |")
    print("|---|---|---|---|---|---|---|---|")
    for row in without_defects():
        print(row, flush=True)


if __name__ == "__main__":
    main()
