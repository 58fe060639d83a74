"""State how often a check names an attacker, and how often an honest participant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agon.kernel.rounding import publish


@dataclass(frozen=True, kw_only=True)
class PowerTrial:
    """What one check named in one contest.

    Attributes:
        attackers: number of attackers that the check is about.
        named: how many of them it names.
        honest: number of honest participants.
        accused: how many of them findings name that name no attacker.
        actions: actions of an attacker, on average; None: it has none that can be counted.
        exposures: how many of those concern what the attacker wants to promote.
    """

    attackers: int
    named: int
    honest: int
    accused: int
    actions: float | None = None
    exposures: float | None = None


@dataclass(frozen=True, kw_only=True)
class PowerMeasurement:
    """A point of a check's curve: power and false alarms at a number of actions and a threshold.

    Attributes:
        finding: code of the check.
        attack: what the attackers do; ``none``: there are none.
        actions, exposures: of an attacker, on average; exposures concern what it promotes.
        threshold: share of honest participants that the check may name; None: the check's own
            threshold, which the rulebook states.
        power: share of attackers that the check names; None without attackers.
        false_alarms: share of honest participants named by a finding that names no attacker.
        literal_power: power of the rule of the literal edition; None: it has none.
        worlds: number of simulated contests.
    """

    finding: str
    attack: str
    actions: float | None
    exposures: float | None
    threshold: float | None
    power: float | None
    false_alarms: float
    literal_power: float | None
    worlds: int

    @classmethod
    def of(
        cls,
        trials: Sequence[PowerTrial],
        *,
        finding: str,
        attack: str,
        threshold: float | None = None,
        literal_power: float | None = None,
    ) -> "PowerMeasurement":
        """Return the measurement of some contests.

        Example:
            >>> trials = [
            ...     PowerTrial(attackers=1, named=named, honest=10, accused=1) for named in (0, 1)
            ... ]
            >>> point = PowerMeasurement.of(trials, finding="ring", attack="ring")
            >>> point.power, point.false_alarms
            (0.5, 0.1)
        """
        attackers = sum(trial.attackers for trial in trials)
        return cls(
            finding=finding,
            attack=attack,
            actions=_mean([trial.actions for trial in trials]),
            exposures=_mean([trial.exposures for trial in trials]),
            threshold=threshold,
            power=share(sum(trial.named for trial in trials), attackers) if attackers else None,
            false_alarms=share(
                sum(trial.accused for trial in trials), sum(trial.honest for trial in trials)
            ),
            literal_power=literal_power,
            worlds=len(trials),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return dict(vars(self))


def share(part: int, total: int) -> float:
    """Return a part of a total on the published grid; 0 of nothing.

    Example:
        >>> share(1, 4), share(0, 0)
        (0.25, 0.0)
    """
    return publish(part / max(total, 1))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return publish(sum(known) / len(known), places=1) if known else None
