"""Compute all users' counts, amounts, points and totals (``components.component``), each once."""

from functools import cached_property

import numpy as np

from agon.disciplines.community.components import Component, Count, Score, components
from agon.disciplines.community.components.component import NumberArray
from agon.disciplines.community.facts import Facts
from agon.kernel.arrays import FloatArray, IntArray

_PART = 1 << 16
"""Number of users whose points are summed at a time; those fit into the processor's cache."""


class Tally:
    """The counts and points of all users, in the order of ``facts.people``."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.components = components(facts.rules)

    @cached_property
    def counts(self) -> dict[Count, NumberArray]:
        """The number of rows that count, by count; two components may share one."""
        distinct = dict.fromkeys(component.count for component in self.components)
        return {count: count.values(self.facts) for count in distinct}

    @cached_property
    def amounts(self) -> dict[Component, NumberArray]:
        """Each component's count after its caps and its curve."""
        return {
            component: component.amounts(self.facts, self.counts[component.count])
            for component in self.components
        }

    def points(self, people: IntArray | slice) -> dict[Component, FloatArray]:
        """Return each component's points of some users."""
        rules = self.facts.rules
        return {
            component: component.points(amounts[people], rules)
            for component, amounts in self.amounts.items()
        }

    @property
    def totals(self) -> FloatArray:
        """The sum of each user's points over all components."""
        totals = np.zeros(len(self.facts.people))
        for index in range(0, len(totals), _PART):
            part = slice(index, index + _PART)
            totals[part] = sum(self.points(part).values(), totals[part])
        return totals

    def score(self, component: Component, person: int) -> Score:
        """Return one participant's count, amount and points of a component."""
        count = self.counts[component.count][person].item()
        amount = float(self.amounts[component][person])
        points = float(component.points([amount], self.facts.rules)[0])
        return Score(count, amount, points)
