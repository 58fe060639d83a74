"""Report how a live arena was played: waits, rematches, sides, faults and forfeits of each bot.

The input is what the ledger holds of settled rounds. How unlikely a bot's latest forfeits are is
computed under its own record before them, so that a bot that always fails is not surprising, and
one that suddenly does is.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agon.disciplines.arena.rounds.faults import FaultOwner
from agon.disciplines.arena.rounds.spread import MEMORY
from agon.kernel.findings import Finding, Severity
from agon.kernel.rounding import publish
from agon.kernel.tails import binomial_tail

LATEST: Final = 20
"""Number of a bot's latest matches whose forfeits are compared with those before."""


@dataclass(frozen=True)
class RoundRecord:
    """A settled round.

    Attributes:
        name: its name.
        matches: the drawn matches, with ``match``, ``bot_a`` and ``bot_b``.
        outcomes: of each match, with ``match``, ``outcome`` and ``faults``.
        waiting: the bots without an opponent.
        is_degraded: whether no bot could be reached.
    """

    name: str
    matches: Iterable[Mapping[str, Any]]
    outcomes: Iterable[Mapping[str, Any]]
    waiting: Iterable[str]
    is_degraded: bool = False

    @classmethod
    def of(cls, made: Mapping[str, Any], settled: Mapping[str, Any]) -> "RoundRecord":
        """Return a round from the bodies of its entries ``draw-made`` and ``round-settled``."""
        result, outcome = made["result"], settled["outcome"]
        return cls(
            settled["round"],
            result["matches"],
            outcome["matches"],
            outcome["waiting"],
            outcome.get("degraded", False),
        )


@dataclass
class BotReliability:
    """What the rounds show of one bot.

    Attributes:
        bot: its id.
        games: matches in which it was paired, those that play again later not counted.
        waited: rounds in which it waited.
        longest_wait: most rounds in a row in which it waited.
        rematches: matches against an opponent of its latest five rounds.
        longest_streak: most matches in a row on one side.
        faults: number of faults on its side by owner.
        codes: number of faults by code.
        forfeits: matches that its faults, or its network's, ended.
    """

    bot: str
    games: int = 0
    waited: int = 0
    longest_wait: int = 0
    rematches: int = 0
    longest_streak: int = 0
    faults: Counter[FaultOwner] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    forfeits: int = 0
    _history: list[bool] = field(default_factory=list)
    _opponents: list[str | None] = field(default_factory=list)
    _wait: int = 0
    _side: str = ""
    _streak: int = 0

    @property
    def latest_forfeits(self) -> int:
        """Number of forfeits in the latest matches."""
        return sum(self._history[-LATEST:])

    @property
    def chance(self) -> float:
        """Return the chance of a forfeit by the record before the latest matches.

        It is (f + 1) / (n + 2) after f forfeits in n matches (the rule of succession), so that a
        new bot has one half and is never surprising at once.
        """
        before = self._history[:-LATEST]
        return (sum(before) + 1) / (len(before) + 2)

    @property
    def expected(self) -> float:
        """Return the number of forfeits that the record before gives for the latest matches."""
        return self.chance * len(self._history[-LATEST:])

    @property
    def probability(self) -> float:
        """Return the probability of that many forfeits under the record before."""
        trials = len(self._history[-LATEST:])
        return binomial_tail(self.latest_forfeits, trials=trials, chance=self.chance)

    def wait(self) -> None:
        """Count a round without an opponent."""
        self.waited += 1
        self._wait += 1
        self.longest_wait = max(self.longest_wait, self._wait)
        self._opponents.append(None)

    def meet(self, opponent: str, side: str) -> None:
        """Count a match."""
        self.games += 1
        self._wait = 0
        self.rematches += opponent in self._opponents[-MEMORY:]
        self._opponents.append(opponent)
        self._streak = self._streak + 1 if side == self._side else 1
        self._side = side
        self.longest_streak = max(self.longest_streak, self._streak)

    def end(self, *, forfeit: bool) -> None:
        """Count how a match ended."""
        self.forfeits += forfeit
        self._history.append(forfeit)


def reliability_of(rounds: Iterable[RoundRecord]) -> list[BotReliability]:
    """Return each bot's replies and faults in settled rounds, in id order.

    Args:
        rounds: oldest first; qualifications are left out.

    Example:
        >>> fault = {"side": "b", "bot": "y", "owner": "bot", "code": "late"}
        >>> played = RoundRecord(
        ...     "r1",
        ...     [{"match": "r1-1", "bot_a": "x", "bot_b": "y"}],
        ...     [{"match": "r1-1", "outcome": "void", "faults": [fault]}],
        ...     ["z"],
        ... )
        >>> [(each.bot, each.games, each.forfeits) for each in reliability_of([played])]
        [('x', 1, 0), ('y', 1, 1), ('z', 0, 0)]
    """
    bots: dict[str, BotReliability] = {}

    def of(bot: str) -> BotReliability:
        return bots.setdefault(bot, BotReliability(bot))

    for played in rounds:
        outcomes = {outcome["match"]: outcome for outcome in played.outcomes}
        for bot in played.waiting:
            of(bot).wait()
        for match in played.matches:
            # A match without an outcome was interrupted with its round, and is played again.
            outcome = outcomes.get(match["match"], {"outcome": "again", "faults": []})
            for fault in outcome["faults"]:
                of(fault["bot"]).faults[fault["owner"]] += 1
                of(fault["bot"]).codes[fault["code"]] += 1
            if outcome["outcome"] == "again":
                continue
            # A fault of ours is no bot's forfeit: the match counts as played without a result.
            failed = {fault["bot"] for fault in outcome["faults"] if fault["owner"] != "ours"}
            ended = outcome["outcome"] in {"void", "loss"}
            sides = (("a", "bot_a", "bot_b"), ("b", "bot_b", "bot_a"))
            for side, mine, other in sides:
                of(match[mine]).meet(match[other], side)
                of(match[mine]).end(forfeit=ended and match[mine] in failed)
    return [bots[bot] for bot in sorted(bots)]


def forfeit_findings(bots: Sequence[BotReliability], *, surprise: float) -> Iterator[Finding]:
    """Report the bots with forfeits in their latest matches, under their own records.

    It is a warning where the probability, times the number of bots, is below ``surprise``.

    Args:
        bots: what settled rounds show of every bot.
        surprise: the rule of this name.
    """
    for bot in bots:
        if not bot.latest_forfeits:
            continue
        codes = ", ".join(f"{code} {count}" for code, count in sorted(bot.codes.items()))
        surprising = bot.probability * len(bots) < surprise
        yield Finding(
            "forfeits",
            Severity.WARNING if surprising else Severity.INFO,
            (bot.bot,),
            f"forfeits in its latest {LATEST} matches",
            bot.latest_forfeits,
            publish(bot.expected),
            publish(bot.probability),
            f"bot {bot.bot} did not answer in {bot.latest_forfeits} of its latest matches, and in "
            f"{bot.forfeits} of {bot.games} in all; its faults by code: {codes}",
        )
