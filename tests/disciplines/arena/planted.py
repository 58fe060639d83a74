"""Boards that are drawn with one defect each, as strong as is asked for, and one without any.

The default strength is the one that the probe of the defect finds in 95 of 100 boards.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

Row = dict[str, Any]
BOTS = [f"bot {letter}" for letter in "abcdefgh"]
ELO: Final = 400 / np.log(10)
"""Points of Elo for one of log-odds."""


def battle(number: int, a: str, b: str, winner: str, prompt: str, judge: str) -> Row:
    """Return a rated match."""
    return {
        "id": number, "played_at": None, "bot_a": a, "bot_b": b, "kind": "rated",
        "winner": winner, "prompt_id": prompt, "judge": judge,
    }  # fmt: skip


def clean(
    dice: np.random.Generator,
    *,
    matches: int = 4000,
    bots: int = len(BOTS),
    judges: int = 150,
    spread: float = 2.5,
    advantage: float = 0.0,
    tie_rate: Callable[[int, int], float] | None = None,
    chance: Callable[[int, int], float] | None = None,
) -> list[Row]:
    """Draw battles of bots of distinct strengths, sides and judges by lot."""
    strength = np.linspace(spread, -spread, bots)
    names = BOTS[:bots] if bots <= len(BOTS) else [f"bot {number}" for number in range(bots)]
    rows = []
    for number in range(matches):
        a = int(dice.integers(bots))
        b = int((a + dice.integers(1, bots)) % bots)
        wins = 1 / (1 + np.exp(strength[b] - strength[a] - advantage))
        if chance is not None:
            wins = chance(a, b)
        winner = "a" if dice.random() < wins else "b"
        if dice.random() < (0.15 if tie_rate is None else tie_rate(a, b)):
            winner = "tie"
        judge = f"j{dice.integers(judges)}"
        rows.append(battle(number, names[a], names[b], winner, f"p{number}", judge))
    return rows


def small_steps(dice: np.random.Generator, step: float = 1.0) -> list[Row]:
    """Neighbors differ by ``step`` points of Elo: more matches are needed to rank them."""
    return clean(dice, spread=step / ELO * (len(BOTS) - 1) / 2)


def level_leaders(dice: np.random.Generator, lead: float = 0.0) -> list[Row]:
    """The first bot is ``lead`` points of Elo above the second."""
    strength = [1.5 + lead / ELO, 1.5, 0.6, 0.3, 0.0, -0.4, -0.8, -1.2]
    return clean(dice, chance=lambda a, b: 1 / (1 + np.exp(strength[b] - strength[a])))


def advantage_of_a_side(dice: np.random.Generator, advantage: float = 0.5 * ELO) -> list[Row]:
    """The answer shown first wins as if it were ``advantage`` points of Elo better."""
    return clean(dice, advantage=advantage / ELO)


def ties_of_one_bot(dice: np.random.Generator, share: float = 0.8) -> list[Row]:
    """A share of one bot's matches are ties; it wins the others: ties decide its rank."""
    strength = np.linspace(2.5, -2.5, len(BOTS))

    def chance(a: int, b: int) -> float:
        if 4 in (a, b):
            return 0.95 if a == 4 else 0.05
        return float(1 / (1 + np.exp(strength[b] - strength[a])))

    return clean(dice, chance=chance, tie_rate=lambda a, b: share if 4 in (a, b) else 0.1)


def ties_of_a_weak_bot(dice: np.random.Generator) -> list[Row]:
    """A weak bot ties 85 of 100 matches, as arenakit's draw-prone model does.

    Half a win each puts it above the next better one; what it wins without ties says the reverse.
    """
    rate = {True: 0.85, False: 0.1}
    return clean(dice, matches=6000, bots=6, spread=1.2, tie_rate=lambda a, b: rate[4 in (a, b)])


def rock_paper_scissors(dice: np.random.Generator, wins: float = 0.9) -> list[Row]:
    """The last bot beats the first in a share of matches, whom those between them seldom beat."""
    strength = np.linspace(2.5, -2.5, len(BOTS))

    def chance(a: int, b: int) -> float:
        if {a, b} == {0, len(BOTS) - 1}:
            return 1 - wins if a == 0 else wins
        return float(1 / (1 + np.exp(strength[b] - strength[a])))

    return clean(dice, chance=chance)


def one_circle(dice: np.random.Generator) -> list[Row]:
    """The first three of six beat each other in a circle, as arenakit's board with a cycle has it.

    That is one cyclic triad of twenty, which is no surprising number of them.
    """
    strength = np.linspace(1.2, -1.2, 6)

    def chance(a: int, b: int) -> float:
        if max(a, b) < 3:
            return 0.69 if (b - a) % 3 == 1 else 0.31
        return float(1 / (1 + np.exp(strength[b] - strength[a])))

    return clean(dice, matches=6000, bots=6, chance=chance)


def two_pools(dice: np.random.Generator, between: int = 4) -> list[Row]:
    """Four bots each, and a number of matches between the pools."""
    rows = [
        row
        for row in clean(dice, matches=6000)
        if (row["bot_a"] in BOTS[:4]) == (row["bot_b"] in BOTS[:4])
    ]
    bridges = [
        battle(10_000 + n, BOTS[n % 4], BOTS[4 + n % 4], "ab"[n % 2], f"x{n}", f"j{n}")
        for n in range(between)
    ]
    return rows + bridges


def few_pairs(dice: np.random.Generator, hubs: int = 1) -> list[Row]:
    """Everybody plays the first bots only."""
    rows = clean(dice, matches=9000)
    return [row for row in rows if {row["bot_a"], row["bot_b"]} & {*BOTS[:hubs]}]


def a_busy_judge(dice: np.random.Generator, share: float = 0.25) -> list[Row]:
    """One of 150 judges casts a share of the votes beside its own."""
    return [{**row, "judge": "j0"} if dice.random() < share else row for row in clean(dice)]


def a_judge_with_a_favorite(dice: np.random.Generator, share: float = 0.4) -> list[Row]:
    """A share of the last bot's matches are one judge's, who always votes for it."""
    rows = clean(dice)
    favorite = BOTS[-1]
    for row in rows:
        if favorite in (row["bot_a"], row["bot_b"]) and dice.random() < share:
            row |= {"judge": "fan", "winner": "a" if row["bot_a"] == favorite else "b"}
    return rows


def repeated_rows(dice: np.random.Generator, copies: int = 5) -> list[Row]:
    """Some rows are there twice."""
    rows = clean(dice)
    return rows + [{**row, "id": 100_000 + row["id"]} for row in rows[:copies]]


def names_alike(dice: np.random.Generator, share: float = 0.3) -> list[Row]:
    """One bot has two names that look the same; the second in a share of its matches."""
    return [
        {**row, "bot_a": "Bot\u2011a"} if row["bot_a"] == "bot a" and dice.random() < share else row
        for row in clean(dice)
    ]


@dataclass(frozen=True)
class Defect:
    """A defect that is planted into drawn boards.

    Attributes:
        draw: draws a board with it, as strong as a number says.
        says: what the number is.
        strengths: numbers from the weakest to the strongest defect, for :mod:`benchmarks`.
    """

    draw: Callable[..., list[Row]]
    says: str
    strengths: Sequence[float]


DEFECTS: Final[dict[str, Defect]] = {
    "separation": Defect(small_steps, "Elo from neighbor to neighbor", (120, 80, 60, 40, 1)),
    "robustness": Defect(level_leaders, "Elo from the first to the second", (80, 60, 40, 20, 0)),
    "position": Defect(
        advantage_of_a_side, "Elo for the side shown first", (10, 20, 30, 40, 50, 60)
    ),
    "ties": Defect(ties_of_one_bot, "ties of one bot's matches", (0.2, 0.4, 0.5, 0.6, 0.8)),
    "cycles": Defect(
        rock_paper_scissors,
        "matches that the last bot wins against the first",
        (0.2, 0.4, 0.5, 0.6, 0.9),
    ),
    "connectivity": Defect(two_pools, "matches between two pools", (40, 30, 25, 20, 4)),
    "coverage": Defect(few_pairs, "bots of eight whom the others play", (4, 3, 2, 1)),
    "voters": Defect(
        a_busy_judge, "votes that one of 150 judges casts", (0.03, 0.05, 0.06, 0.08, 0.25)
    ),
    "influence": Defect(
        a_judge_with_a_favorite,
        "matches of a bot whose judge favors it",
        (0.05, 0.1, 0.15, 0.2, 0.4),
    ),
    "duplicates": Defect(repeated_rows, "copies in 4,000 matches", (1, 2, 3, 5)),
    "names": Defect(names_alike, "a bot's matches under its second name", (0.001, 0.01, 0.1, 0.3)),
}
"""The defects, by the probe that looks for them."""
