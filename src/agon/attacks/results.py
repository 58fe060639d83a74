"""What a strategy costs, gains and risks under one edition, as values."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agon.attacks.prices import Prices
from agon.attacks.strategy import Plan
from agon.kernel.rounding import publish


@dataclass(frozen=True)
class Effort:
    """What the attacker used, beyond taking part honestly with one account.

    Attributes:
        accounts: number of further accounts by kind, which is the name of a price.
        actions: number of actions by kind, which is the name of a price.
        stake: stake held, in the unit of the records.
        days: epochs that the attacker has to attend to, each taken as a day.
    """

    accounts: Mapping[str, int] = field(default_factory=dict)
    actions: Mapping[str, int] = field(default_factory=dict)
    stake: float = 0.0
    days: int = 0

    @classmethod
    def of(cls, actions: Sequence[tuple[int, str]], *, accounts: Mapping[str, int]) -> "Effort":
        """Return the effort of actions, each a day and a kind.

        Days are those from the first action to the last.

        Example:
            >>> Effort.of([(2, "prompt"), (5, "prompt")], accounts={"user": 1})
            Effort(accounts={'user': 1}, actions={'prompt': 2}, stake=0.0, days=4)
        """
        days = [day for day, _ in actions]
        kinds = Counter(kind for _, kind in actions)
        return cls(
            accounts, dict(sorted(kinds.items())), days=max(days) - min(days) + 1 if days else 0
        )

    def money(self, prices: Prices) -> float:
        """Return its price: Σ count × price, and for stake stake × days × price.

        Example:
            >>> from agon.attacks.prices import default_prices
            >>> effort = Effort({"miner": 2}, {"submission": 3}, stake=1000, days=2)
            >>> effort.money(default_prices())  # 2 × .26 + 3 × .02 + 2 × 2 + 1000 × 2 × .0005
            5.58
        """
        counted = [
            count * prices[kind].amount
            for counts in (self.accounts, self.actions)
            for kind, count in counts.items()
        ]
        held = self.stake * self.days * prices["stake"].amount
        return publish(sum(sorted(counted)) + held + self.days * prices["day"].amount, places=2)

    def to_dict(self, prices: Prices) -> dict[str, Any]:
        """Return a plain value for JSON, with the price."""
        return {
            "actions": sum(self.actions.values()),
            "accounts": sum(self.accounts.values()),
            "stake": publish(self.stake, places=2),
            "days": self.days,
            "money": self.money(prices),
        }


@dataclass(frozen=True)
class Gain:
    """What changes for the attacker against taking part honestly.

    Attributes:
        ranks: ranks won.
        points: change of the best score of the attacker.
        share: change of the attacker's part of all that is paid.
    """

    ranks: int
    points: float
    share: float

    @property
    def percent(self) -> str:
        """The share won in percent.

        Example:
            >>> Gain(1, 0.0, 0.0213).percent, Gain(0, 0.0, -0.00002).percent
            ('+2.13%', '+0.00%')
        """
        return f"{round(self.share, 4) + 0.0:+.2%}"  # adding 0 removes the sign of -0


@dataclass(frozen=True)
class Detection:
    """A finding that names accounts of the attacker.

    Attributes:
        finding: its code.
        after_actions: number of actions by the end of the first epoch in which it names one.
        power: the part of the attacker's accounts that it names in the end.
        false_alarms: the part of the honest participants that it names because of the attack.
    """

    finding: str
    after_actions: int
    power: float
    false_alarms: float


@dataclass(frozen=True)
class Harm:
    """What changes for honest participants.

    Attributes:
        honest_moved: number whose rank differs from that without the attack.
        worst_fall: most ranks that one of them loses.
        honest_accused: number that a finding names because of the attack.
    """

    honest_moved: int
    worst_fall: int
    honest_accused: int


@dataclass(frozen=True)
class AttackResult:
    """A strategy's cheapest plan that reaches the goal, or its best one where none does."""

    name: str
    goal: str
    plan: Plan
    reached: bool
    effort: Effort
    gain: Gain
    detected: tuple[Detection, ...]
    harm: Harm

    def to_dict(self, prices: Prices) -> dict[str, Any]:
        """Return a plain value for JSON; the caller adds ``replay``."""
        return {
            "name": self.name,
            "goal": self.goal,
            "plan": dict(self.plan),
            "reached": self.reached,
            "cost": self.effort.to_dict(prices),
            "gain": vars(self.gain),
            "detected": [vars(detection) for detection in self.detected],
            "harm": vars(self.harm),
        }
