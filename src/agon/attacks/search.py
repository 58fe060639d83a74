"""Search the parameters of strategies for a plan that reaches its goal at a lower price."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agon.attacks.prices import Prices
from agon.attacks.results import AttackResult
from agon.attacks.runner import Runner
from agon.attacks.strategy import Plan, Strategy

TRIALS = 12
"""Plans that are tried for each strategy where no number is chosen."""

_STEP = 0.3
"""Standard deviation of a step away from the cheapest plan, in logarithms."""


@dataclass(frozen=True)
class Bound:
    """The values of a parameter that are tried.

    Attributes:
        low: half of the smallest value of the catalog.
        high: its largest value; twice the value where it has one only.
        is_integer: whether it is an integer, such as a number of accounts.
    """

    low: float
    high: float
    is_integer: bool

    def draw(self, dice: np.random.Generator, near: float | None) -> float:
        """Return a value: near another one, or anywhere, evenly in its logarithm."""
        logarithm = (
            dice.uniform(math.log(self.low), math.log(self.high))
            if near is None
            else math.log(near) + dice.normal(0.0, _STEP)
        )
        value = min(max(math.exp(logarithm), self.low), self.high)
        return max(1, round(value)) if self.is_integer else round(value, 3)


@dataclass(frozen=True)
class Search:
    """What the search found for one strategy.

    Attributes:
        catalog: the result of the catalog's plans.
        cheapest: the result of the cheapest plan: that of the catalog where none is cheaper.
        trials: number of plans that were tried next to it.
    """

    catalog: AttackResult
    cheapest: AttackResult
    trials: int


def bounds(strategy: Strategy[Any]) -> Mapping[str, Bound]:
    """Return which values of a strategy's parameters are tried; parameters that may be 0 stay.

    Example:
        >>> from agon.attacks.catalog import lab_of
        >>> bounds(lab_of("challenge").strategies[0])
        {'share': Bound(low=0.025, high=0.66, is_integer=False)}
    """
    values = {name: [plan[name] for plan in strategy.plans] for name in strategy.plans[0]}
    return {
        name: Bound(
            min(tried) / 2,
            max(tried) if len(set(tried)) > 1 else 2 * tried[0],
            all(isinstance(value, int) for value in tried),
        )
        for name, tried in values.items()
        if min(tried) > 0
    }


def search(
    runner: Runner,
    strategy: Strategy[Any],
    catalog: AttackResult,
    *,
    prices: Prices,
    seed: int,
    trials: int = TRIALS,
) -> Search:
    """Return the cheapest plan of a strategy that reaches the goal of the catalog's result.

    Half of the plans are drawn evenly, the others near the cheapest one so far. A plan that is
    not cheaper is not scored.

    Args:
        runner: runs strategies.
        strategy: whose parameters are drawn.
        catalog: the result of its own plans.
        prices: what the attacker pays.
        seed: seed of the draws.
        trials: number of plans to try.
    """
    dice = np.random.default_rng([seed, *strategy.name.encode()])
    limits = bounds(strategy)
    best: Plan = catalog.plan
    lowest = catalog.effort.money(prices) if catalog.reached else math.inf
    tried = {tuple(best.values())}
    for trial in range(trials if limits else 0):
        near = best if trial >= trials / 2 and lowest < math.inf else None
        drawn = {
            name: bound.draw(dice, near[name] if near else None) for name, bound in limits.items()
        }
        plan = {**best, **drawn}
        if tuple(plan.values()) in tried:
            continue
        tried.add(tuple(plan.values()))
        money = runner.price(strategy, plan, goal=catalog.goal, prices=prices, below=lowest)
        if money is not None:
            best, lowest = plan, money
    cheapest = catalog
    if best is not catalog.plan:
        cheapest = runner.run_plan(strategy, best, goal=catalog.goal)
    return Search(catalog, cheapest, len(tried) - 1)
