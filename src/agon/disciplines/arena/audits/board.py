"""What probes examine: the rated matches of a board, its fit, and the names."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.arena.facts import Facts
from agon.disciplines.arena.ratings.clusters import Verdicts, verdicts_of
from agon.disciplines.arena.ratings.strengths import Strengths
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import ScoredArena
from agon.errors import NotScorable
from agon.kernel.figures import Probe
from agon.kernel.ratings.likelihood import logistic
from agon.kernel.statistics import two_sided_quantile

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

FINE: Final = "fine"
LOOK: Final = "look"
CANNOT_TELL: Final = "cannot tell"

SURPRISE: Final = 0.002
"""Probability by chance below which a probe says *look*: of a dozen probes, one in forty boards."""

SURPRISING_Z: Final = two_sided_quantile(1 - SURPRISE)
"""The standard score that is exceeded, up or down, with that probability: 3.09, where one test
alone would have 1.96."""


@dataclass(frozen=True, eq=False)
class AuditedBoard:
    """A board under examination; matches are those among rated bots.

    Attributes:
        facts: the records.
        rules: the rules that the ratings follow from.
        strengths: the Bradley–Terry strengths.
        a, b: rows of both sides of each match.
        score: 1 when a won, 0.5 on a tie, 0 when b won.
        match: the number of each match.
        weight: of each match; None: all are 1.
        verdicts: the rated matches of all bots.
        arena: the scored records.
    """

    facts: Facts
    rules: ArenaRules
    strengths: Strengths
    a: Numbers
    b: Numbers
    score: Vector
    match: Numbers
    weight: Vector | None
    verdicts: Verdicts
    arena: ScoredArena

    @cached_property
    def names(self) -> list[str]:
        """The ids of the rated bots, by row."""
        ids = self.facts.bots.ids.take(pa.array(self.strengths.bots))
        return [str(name) for name in ids.to_pylist()]

    @cached_property
    def theta(self) -> Vector:
        """The log-strengths, by row."""
        return self.strengths.intervals.strength

    @cached_property
    def chance(self) -> Vector:
        """The probability that side a wins, of each match."""
        return logistic(self.theta[self.a] - self.theta[self.b])

    def column(self, name: str) -> pa.Array | None:
        """Return the prompts or judges of the matches; None: no match has any."""
        column = self.facts.matches.prompt if name == "prompt" else self.facts.matches.judge
        if column is None:
            return None
        values = column.take(pa.array(self.match))
        return None if values.null_count == len(values) else values


def audited_board(arena: ScoredArena) -> AuditedBoard:
    """Return a board for examination.

    Raises:
        NotScorable: no bot has a rating, or Bradley–Terry strengths do not exist.
    """
    strengths = arena.strengths
    row = np.full(len(arena.bots), -1)
    row[strengths.bots] = np.arange(len(strengths.bots))
    verdicts = verdicts_of(arena.facts.matches, arena.ratings)
    a, b = row[verdicts.a], row[verdicts.b]
    inner = (a >= 0) & (b >= 0)
    if not inner.any():
        raise NotScorable(
            "no bot has a Bradley–Terry rating to examine: the records have no rated match between "
            "two bots that are on the board; add rated matches"
        )
    return AuditedBoard(
        arena.facts,
        arena.strength_rules,
        strengths,
        a[inner],
        b[inner],
        verdicts.score[inner],
        arena.ratings.match[inner],
        None if verdicts.weight is None else verdicts.weight[inner],
        verdicts,
        arena,
    )


def unknown(name: str, sentence: str) -> Probe:
    """Return the answer of a probe that lacks what it needs."""
    return Probe(name=name, figure=None, expected=None, verdict=CANNOT_TELL, sentence=sentence)


def answer(
    name: str,
    *,
    figure: float,
    expected: float | None,
    is_fine: bool,
    sentence: str,
    records: tuple[str, ...] = (),
) -> Probe:
    """Return the answer of a probe."""
    return Probe(
        name=name,
        figure=round(float(figure), 6),
        expected=None if expected is None else round(float(expected), 6),
        verdict=FINE if is_fine else LOOK,
        sentence=sentence,
        records=records,
    )


def number_of(number: int, noun: str) -> str:
    """Return a number with its noun.

    Example:
        >>> number_of(1, "judge"), number_of(2000, "judge")
        ('1 judge', '2,000 judges')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
