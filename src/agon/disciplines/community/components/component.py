"""Define a component of the user score: its count, the counted records and its points.

The steps of a score, and the names that its values have on the way:

======  =================  ============================================================
step    name               what it is
======  =================  ============================================================
1       ``counts``         how many rows of the tables count (``Count``), per user
2       ``amounts``        a count after caps and curves: what is multiplied
3       ``points``         amount times coefficient: a part of an explanation
4       ``totals``         the sum of all points, published on the grid
======  =================  ============================================================

A component is one row: a name, a count with its functions, a curve, and the rules it follows. A
count is stated for arrays and for engines. A missing part that a board, an engine or an explanation
needs is a type error.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from agon.disciplines.community.evidence import Evidence
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.hardening_rules import HardeningRules
from agon.disciplines.community.relational_facts import RelationalFacts
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.texts import number, points_text
from agon.kernel.arrays import FloatArray, IntArray
from agon.kernel.explanations import NextStep
from agon.kernel.findings import RecordRefs

NumberArray = IntArray | FloatArray

MAX_NEAREST = 5
"""Maximum number of prompts named as nearest to the next step."""


class NeedsRows:
    """States that a count takes single rows, which an engine does not return."""


NEEDS_ROWS: Final = NeedsRows()

CountInEngine = Callable[[RelationalFacts], NumberArray]


@dataclass(frozen=True)
class Count:
    """The count of a component.

    Attributes:
        name: its name among the counts of the board.
        of: returns the count of every participant, in the order of ``facts.people``.
        in_engine: returns the same from what an engine counts, or :data:`NEEDS_ROWS`, with which
            engines reject the component by its name.
        records: yields the records that one participant's count includes.
        one_per_record: whether each of these records counts 1, so that they are as many as the
            count; verified by a test.
    """

    name: str
    of: Callable[[Facts], NumberArray]
    in_engine: CountInEngine | NeedsRows
    records: Callable[[Evidence], Iterable[RecordRefs]]
    one_per_record: bool

    def values(self, facts: Facts) -> NumberArray:
        """Return the count of every participant, in the order of ``facts.people``.

        Raises:
            Conflict: facts are counted in an engine, and the count needs rows.
        """
        if not isinstance(facts, RelationalFacts):
            return self.of(facts)
        if isinstance(self.in_engine, NeedsRows):
            raise facts.records.needs_rows(self.name)
        return self.in_engine(facts)

    def evidence(self, evidence: Evidence) -> tuple[RecordRefs, ...]:
        """Return the records a participant's count includes, without empty references."""
        return tuple(refs for refs in self.records(evidence) if refs.count)


@dataclass(frozen=True)
class PromptProgress:
    """The progress of a participant's prompts towards being counted.

    Attributes:
        prompts: codes of the prompts.
        have: one per prompt.
        needed: the number from which a prompt counts.
    """

    prompts: IntArray
    have: IntArray
    needed: int

    def nearest(self, facts: Facts) -> list[dict[str, Any]]:
        """Return the prompts closest to counting: id, what each has, what it needs."""
        short = np.flatnonzero(self.have < self.needed)
        short = short[np.lexsort((self.prompts[short], -self.have[short]))][:MAX_NEAREST]
        names = facts.prompts.text
        return [
            {
                "id": names[int(self.prompts[index])].as_py(),
                "have": int(self.have[index]),
                "needed": self.needed,
            }
            for index in short
        ]


@dataclass(frozen=True)
class Terms:
    """The values of a component's rules that its curve takes.

    Attributes:
        worth: points, or points per unit.
        least: the count or correlation from which points are earned.
    """

    worth: float
    least: float


def _always(rules: CommunityRules) -> str:  # noqa: ARG001 - the signature of a condition
    return ""


def _attainable(rules: CommunityRules) -> str | None:  # noqa: ARG001 - the signature of a reason
    return None


@dataclass(frozen=True)
class Component:
    """One component of the user score.

    Attributes:
        name: its name on the board.
        count: what it counts.
        curve: how the count becomes points.
        worth: the rule with the points.
        noun: what is counted, with rules in braces: ``prompts with at least {…} feedbacks``.
        unit: one counted thing, for "… more"; rules in braces.
        least: the rule with the number needed, or None.
        switch: the opt-in rule that turns it on, or None when it always counts.
        also: further rules that decide the count.
        aged: returns the count weighted by age under rule ``time_decay_half_life_days``; None
            when it never decays.
        progress: returns the progress of a participant's prompts, where prompts are counted.
        condition: returns what a further one must be under the rules, to follow the unit in
            "… more"; empty where every one counts.
        unattainable: returns why points cannot be earned under the rules, or None.

    Raises:
        ValueError: a name is not a rule.
    """

    name: str
    count: Count
    curve: "Curve"
    worth: str
    noun: str
    unit: str
    least: str | None = None
    switch: str | None = None
    also: tuple[str, ...] = ()
    aged: Callable[[Facts, float], FloatArray] | None = None
    progress: Callable[[Evidence], PromptProgress] | None = None
    condition: Callable[[CommunityRules], str] = _always
    unattainable: Callable[[CommunityRules], str | None] = _attainable

    def __post_init__(self) -> None:
        named = (self.worth, self.least, self.switch, *self.also)
        unknown = [name for name in named if name and name not in CommunityRules.model_fields]
        if unknown:
            raise ValueError(f"component {self.name} names unknown rules: {', '.join(unknown)}")

    def is_on(self, rules: CommunityRules) -> bool:
        """Return whether it counts under these rules."""
        return self.switch is None or bool(getattr(rules, self.switch))

    def threshold(self, rules: CommunityRules) -> float:
        """Return the count or correlation from which it earns points."""
        return 1 if self.least is None else float(getattr(rules, self.least))

    def amounts(self, facts: Facts, counts: NumberArray) -> NumberArray:
        """Return what the points are computed from: the counts, or the counts by age.

        Raises:
            Conflict: they decay by age, and facts are counted in an engine.
        """
        half_life = facts.rules.time_decay_half_life_days
        if self.aged is None or half_life is None:
            return counts
        if isinstance(facts, RelationalFacts):
            raise facts.records.needs_rows("time_decay_half_life_days")
        return self.aged(facts, half_life)

    def points(self, amounts: npt.ArrayLike, rules: CommunityRules) -> FloatArray:
        """Return the points of some amounts."""
        return self.curve.points(amounts, self.terms(rules))

    def terms(self, rules: CommunityRules) -> Terms:
        """Return the values of the rules its curve follows."""
        return Terms(worth=float(getattr(rules, self.worth)), least=self.threshold(rules))

    def rules_in_force(self, rules: CommunityRules) -> dict[str, Any]:
        """Return the rules that decide it, with their values; of hardening those that are on."""
        names = [self.worth, *([self.least] if self.least else []), *self.also]
        disabled = {
            name
            for name, field in HardeningRules.model_fields.items()
            if getattr(rules, name) == field.default
        }
        return {name: getattr(rules, name) for name in names if name not in disabled}

    def count_text(self, count: float, rules: CommunityRules) -> str:
        """Return what is counted, in the singular for a count of 1."""
        return (self.unit if count == 1 else self.noun).format(**rules.model_dump())

    def further(self, count: float, rules: CommunityRules) -> str:
        """Return what further ones of it are, with the condition under which they count."""
        return self.count_text(count, rules) + self.condition(rules)


@dataclass(frozen=True)
class Score:
    """One participant's count, amount (the count, or the count by age) and points."""

    count: float
    amount: float
    points: float


@dataclass(frozen=True)
class ExplanationLine:
    """The data of one line of an explanation."""

    component: Component
    score: Score
    evidence: Evidence

    @property
    def rules(self) -> CommunityRules:
        """Return the rules in force."""
        return self.evidence.facts.rules

    @property
    def threshold(self) -> float:
        """Return the count or correlation from which points are earned."""
        return self.component.threshold(self.rules)

    @property
    def worth(self) -> float:
        """Return the value of the rule with the points."""
        return self.component.terms(self.rules).worth

    @property
    def count_text(self) -> str:
        """Return the count with its noun."""
        return (
            f"{number(self.score.count)} {self.component.count_text(self.score.count, self.rules)}"
        )

    @property
    def earned(self) -> str:
        """Return the points as text."""
        return points_text(self.score.points)


class Curve(ABC):
    """The function from a count to points, with its texts."""

    has_threshold: ClassVar[bool] = False
    """Whether a minimum count applies even without a rule for it."""

    @abstractmethod
    def points(self, amounts: npt.ArrayLike, terms: Terms) -> FloatArray:
        """Return the points of some amounts."""

    @abstractmethod
    def text(self, line: ExplanationLine) -> str:
        """Return the sentence of an explanation."""

    @abstractmethod
    def step(self, line: ExplanationLine) -> NextStep | None:
        """Return the requirement of the next step, or None when there is none."""
