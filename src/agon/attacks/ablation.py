"""Switch every guard of a hardened edition off alone: what does each attack cost then?"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agon.attacks.lab import Lab
from agon.attacks.prices import Prices
from agon.attacks.results import AttackResult
from agon.attacks.runner import Runner
from agon.attacks.strategy import Strategy
from agon.editions import Edition
from agon.editions import edition as released_edition
from agon.kernel.statistics import spearman

Kind = Literal["possible", "cheaper", "not found", "wins more ranks"]
"""What changes for an attacker when a guard is off."""


@dataclass(frozen=True)
class Effect:
    """An attack with a guard and without it."""

    on: AttackResult
    off: AttackResult

    def kind(self, prices: Prices) -> Kind | None:
        """Return what the guard spoils for the attacker; None: nothing."""
        if self.off.reached and not self.on.reached:
            return "possible"
        money = [result.effort.money(prices) for result in (self.on, self.off)]
        if self.on.reached and self.off.reached and money[1] < money[0]:
            return "cheaper"
        codes = [{each.finding for each in result.detected} for result in (self.on, self.off)]
        if codes[0] > codes[1]:
            return "not found"
        if self.off.reached == self.on.reached and self.off.gain.ranks > self.on.gain.ranks:
            return "wins more ranks"
        return None


@dataclass(frozen=True)
class Guard:
    """A change of a hardened edition, switched off alone.

    Attributes:
        rules: its rules, each with the value of the base and that of the edition.
        effects: the attacks with the guard and without it.
        correlation: Spearman's, of honest participants' ranks with and without it, where there
            is no attack.
    """

    rules: Mapping[str, tuple[Any, Any]]
    effects: tuple[Effect, ...]
    correlation: float

    def is_idle(self, prices: Prices) -> bool:
        """Return whether the guard spoils no attack."""
        return not self.effect_texts(prices)

    def effect_texts(self, prices: Prices) -> list[str]:
        """Return the attacks that it spoils, with what changes for the attacker without it."""
        kinds = [(effect.on.name, effect.kind(prices)) for effect in self.effects]
        return [f"{name} ({kind})" for name, kind in kinds if kind is not None]

    def to_dict(self, prices: Prices) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {
            "guard": {
                name: {"off": disabled, "on": enabled}
                for name, (disabled, enabled) in self.rules.items()
            },
            "idle": self.is_idle(prices),
            "honest_correlation": self.correlation,
            "attacks": [
                {
                    "name": effect.on.name,
                    "effect": effect.kind(prices),
                    "on": _outcome(effect.on, prices),
                    "off": _outcome(effect.off, prices),
                }
                for effect in self.effects
            ],
        }


def guards_of(lab: Lab, edition: Edition) -> Iterator[Mapping[str, tuple[Any, Any]]]:
    """Yield the rules that differ from the edition's base: those of one guard together.

    Example:
        >>> from agon.attacks.catalog import lab_of
        >>> [guard, *_] = guards_of(lab_of("dojo"), released_edition("dojo/hardened-1"))
        >>> guard
        {'max_string_literal_chars': (2000, 200), 'max_string_bytes': (2000, 200)}
    """
    if edition.base is None:
        return
    before, now = released_edition(edition.base).rules.model_dump(), edition.rules.model_dump()
    differing = [name for name, value in now.items() if before[name] != value]
    while differing:
        joint = next((names for names in lab.joint_rules if differing[0] in names), differing[:1])
        names = [name for name in differing if name in joint]
        differing = [name for name in differing if name not in joint]
        yield {name: (before[name], now[name]) for name in names}


def ablate(
    runner: Runner,
    rules: Mapping[str, tuple[Any, Any]],
    attacks: Sequence[tuple[Strategy[Any], AttackResult]],
    *,
    advance: Callable[[], None] = lambda: None,
) -> Guard:
    """Measure a guard of an edition: each attack with the guard and without it.

    Args:
        runner: runs strategies under the edition.
        rules: of the guard, each with the value of the base and that of the edition.
        attacks: the strategies with their results under the edition, whose goals stay.
        advance: called after each attack.
    """
    values = {name: disabled for name, (disabled, _) in rules.items()}
    ablated = Runner(runner.lab, runner.world, runner.rules.override(values))
    effects = []
    for strategy, enabled in attacks:
        effects.append(Effect(enabled, ablated.run(strategy, goal=enabled.goal)))
        advance()
    ranks, others = runner.honest_ranks, ablated.honest_ranks
    both = sorted(ranks.keys() & others.keys())
    if len(both) > 1 and ranks != others:
        first, second = ([measured[name] for name in both] for measured in (ranks, others))
        correlation = spearman(first, second, confidence=0.95).value
    else:
        correlation = 1.0
    return Guard(rules, tuple(effects), correlation)


def _outcome(result: AttackResult, prices: Prices) -> dict[str, Any]:
    return {
        "reached": result.reached,
        "money": result.effort.money(prices),
        "ranks": result.gain.ranks,
        "detected": [detection.finding for detection in result.detected],
    }
