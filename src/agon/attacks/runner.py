"""Score a season with and without a strategy: cost, gain, detection, harm."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agon.attacks.goals import RANK_GOALS, Position, is_reached
from agon.attacks.lab import AttackStanding, Lab, Remaining, SeasonRecords
from agon.attacks.prices import Prices
from agon.attacks.results import AttackResult, Detection, Effort, Gain, Harm
from agon.attacks.strategy import Plan, Strategy
from agon.errors import NotFound, did_you_mean
from agon.kernel.findings import Finding, Severity
from agon.kernel.rounding import publish

_GRID = 12


@dataclass(frozen=True)
class _ScoredSeason:
    """A played season under the rules: who stands where, and what the checks find."""

    runner: "Runner"
    played: SeasonRecords
    standing: AttackStanding

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings in the end."""
        return self.runner.findings_at(self.played, self.played.epochs[-1])

    @cached_property
    def remaining(self) -> Mapping[str, Remaining]:
        """The honest participants on the boards of the lab without the attacker's records."""
        return self.runner.lab.remaining(self.played, self.runner.rules)

    def accusations(self, code: str | None = None) -> set[str]:
        """Return the honest participants that findings (of one code) name."""
        honest = set(self.played.honest)
        codes = [finding for finding in self.findings if code in {None, finding.code}]
        return {name for finding in codes for name in finding.subjects if name in honest}

    def naming_attacker(self) -> dict[str, set[str]]:
        """Return the attacker's accounts that findings name, by code."""
        return _naming(self.played.accounts, self.findings)

    def position(self, *, noticed: bool = False) -> Position:
        """Return the attacker's position."""
        standing = self.standing
        return Position(standing.rank, len(standing.ranks) + 1, standing.share, noticed)


@dataclass
class Runner:
    """Runs strategies in one world under one set of rules.

    Attributes:
        lab: the attack lab of the discipline.
        world: the honest participants.
        rules: the rules.
    """

    lab: Lab
    world: Any
    rules: Any
    _baselines: dict[int, _ScoredSeason] = field(default_factory=dict)
    _last: tuple[str, Plan, _ScoredSeason] | None = None

    def run(self, strategy: Strategy[Any], *, goal: str | None = None) -> AttackResult:
        """Return the result of the first plan that reaches the goal, else of the best one.

        Args:
            strategy: what the attacker does.
            goal: a rank to aim at; None, and for strategies that aim at no rank: the own goal.
        """
        chosen = goal if goal and strategy.goal in RANK_GOALS else strategy.goal
        plan, after, _ = self._first_or_best(strategy, chosen)
        self._last = strategy.name, plan, after
        return self._result(strategy, plan, chosen, self._baseline(strategy.wait), after)

    def effort(self, strategy: Strategy[Any]) -> Effort | None:
        """Return the effort of the first plan that reaches the own goal; None: no plan reaches it.

        It is that of :meth:`run`, without the time for when findings notice the attack.
        """
        _, after, reached = self._first_or_best(strategy, strategy.goal)
        return after.played.effort if reached else None

    def _first_or_best(
        self, strategy: Strategy[Any], goal: str
    ) -> tuple[Plan, _ScoredSeason, bool]:
        """Return the first plan that reaches the goal, else the best; and whether it is reached."""
        before = self._baseline(strategy.wait)
        best: tuple[Plan, _ScoredSeason] | None = None
        for plan in strategy.plans:
            after = self._score(self.play(strategy, plan))
            if self._reaches(goal, before, after):
                return plan, after, True
            if best is None or after.position().is_better_than(best[1].position()):
                best = plan, after
        if best is None:
            raise ValueError(f"{strategy.name} has no plans")
        return *best, False

    def run_plan(self, strategy: Strategy[Any], plan: Plan, *, goal: str) -> AttackResult:
        """Return the result of one plan, as a replay repeats it."""
        after = self._after(strategy, plan)
        return self._result(strategy, plan, goal, self._baseline(strategy.wait), after)

    def remaining(
        self, strategy: Strategy[Any] | None, plan: Plan, *, wait: int = 0
    ) -> Mapping[str, Remaining]:
        """Return the honest participants after a plan, on boards without the attacker's records."""
        after = self._baseline(wait) if strategy is None else self._after(strategy, plan)
        return after.remaining

    @property
    def honest_ranks(self) -> Mapping[str, int]:
        """The ranks of honest participants where there is no attack."""
        return self._baseline(0).standing.ranks

    def price(
        self, strategy: Strategy[Any], plan: Plan, *, goal: str, prices: Prices, below: float
    ) -> float | None:
        """Return the price of a plan that reaches the goal for less than a price, else None."""
        played = self.play(strategy, plan)
        money = played.effort.money(prices)
        if money >= below:
            return None
        before = self._baseline(strategy.wait)
        return money if self._reaches(goal, before, self._score(played)) else None

    def findings_at(self, played: SeasonRecords, epoch: int) -> tuple[Finding, ...]:
        """Return the warnings and errors by the end of an epoch."""
        findings = self.lab.findings(played, self.rules, epoch)
        return tuple(f for f in findings if f.severity is not Severity.INFO)

    def play(self, strategy: Strategy[Any] | None, plan: Plan, *, wait: int = 0) -> SeasonRecords:
        """Return the season of a plan; without a strategy, the attacker takes part honestly."""
        epochs = strategy.wait if strategy else wait
        return self.lab.play(self.world, self.rules, strategy, plan, epochs)

    def _baseline(self, wait: int) -> _ScoredSeason:
        if wait not in self._baselines:
            self._baselines[wait] = self._score(self.play(None, {}, wait=wait))
        return self._baselines[wait]

    def _after(self, strategy: Strategy[Any], plan: Plan) -> _ScoredSeason:
        """Return the scored season of a plan; the last one is kept."""
        if self._last is None or self._last[:2] != (strategy.name, plan):
            self._last = strategy.name, plan, self._score(self.play(strategy, plan))
        return self._last[2]

    def _score(self, played: SeasonRecords) -> _ScoredSeason:
        return _ScoredSeason(self, played, self.lab.standing(played, self.rules))

    def _reaches(self, goal: str, before: _ScoredSeason, after: _ScoredSeason) -> bool:
        noticed = goal == "unnoticed" and bool(_notices(before, after))
        return is_reached(goal, before=before.position(), after=after.position(noticed=noticed))

    def _result(
        self,
        strategy: Strategy[Any],
        plan: Plan,
        goal: str,
        before: _ScoredSeason,
        after: _ScoredSeason,
    ) -> AttackResult:
        first = _FirstEpochs(self, after.played)
        return AttackResult(
            strategy.name,
            goal,
            plan,
            self._reaches(goal, before, after),
            after.played.effort,
            Gain(
                before.standing.rank - after.standing.rank,
                publish(after.standing.points - before.standing.points, places=_GRID),
                publish(after.standing.share - before.standing.share, places=_GRID),
            ),
            tuple(
                _detection(code, accounts, before, after, first.of(code))
                for code, accounts in _notices(before, after).items()
            ),
            _harm(before, after),
        )


@dataclass
class _FirstEpochs:
    """Finds by bisection when findings name an attacker first; each epoch is checked once."""

    runner: Runner
    played: SeasonRecords
    _named: dict[int, Mapping[str, set[str]]] = field(default_factory=dict)

    def of(self, code: str) -> int:
        """Return the first epoch; a finding that once names the attacker is taken to go on."""
        low, high = self.played.epochs[0], self.played.epochs[-1]
        while low < high:
            middle = (low + high) // 2
            if code in self._at(middle):
                high = middle
            else:
                low = middle + 1
        return low

    def _at(self, epoch: int) -> Mapping[str, set[str]]:
        if epoch not in self._named:
            findings = self.runner.findings_at(self.played, epoch)
            self._named[epoch] = _naming(self.played.accounts, findings)
        return self._named[epoch]


def select(lab: Lab, names: Sequence[str]) -> tuple[Strategy[Any], ...]:
    """Return the strategies of some names; all of the catalog for none.

    Raises:
        NotFound: there is no such strategy; the message suggests one.
    """
    known = {strategy.name: strategy for strategy in lab.strategies}
    for name in names:
        if name not in known:
            raise NotFound(f"there is no attack {name!r}: {did_you_mean(name, known)}")
    return tuple(known[name] for name in dict.fromkeys(names)) or lab.strategies


def _naming(accounts: Iterable[str], findings: Iterable[Finding]) -> dict[str, set[str]]:
    """Return the accounts that findings name, by code."""
    named: dict[str, set[str]] = {}
    for finding in findings:
        if subjects := set(accounts) & set(finding.subjects):
            named.setdefault(finding.code, set()).update(subjects)
    return named


def _notices(before: _ScoredSeason, after: _ScoredSeason) -> dict[str, set[str]]:
    """Return the attacker's accounts that findings name because of the attack, by code."""
    known = before.naming_attacker()
    return {code: named for code, named in after.naming_attacker().items() if code not in known}


def _detection(
    code: str, accounts: set[str], before: _ScoredSeason, after: _ScoredSeason, epoch: int
) -> Detection:
    acting = after.played.accounts[1:] or after.played.accounts
    accused = after.accusations(code) - before.accusations(code)
    return Detection(
        code,
        after.played.actions_until(epoch),
        publish(min(1.0, len(accounts) / len(acting))),
        publish(len(accused) / max(1, len(after.played.honest))),
    )


def _harm(before: _ScoredSeason, after: _ScoredSeason) -> Harm:
    falls = [
        after.standing.ranks[name] - rank
        for name, rank in before.standing.ranks.items()
        if name in after.standing.ranks
    ]
    return Harm(
        sum(fall != 0 for fall in falls),
        max([0, *falls]),
        len(after.accusations() - before.accusations()),
    )
