"""Simulate a live arena in process: rounds paired, drawn and judged with the pure parts.

Bots have a true strength, judges an honesty. The records of the league are then scored as usual.

    python -m disciplines.arena.league    # from tests/; prints the figures of the full size
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rounds import draws
from agon.disciplines.arena.rounds.matchmaking import Entrant
from agon.disciplines.arena.rounds.pairing import pair_by_rules
from agon.disciplines.arena.rounds.spread import History, PastRound, histories_of
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import ScoredArena, score
from agon.disciplines.arena.simulation.population import (
    SPREAD,
    Character,
    characters_of,
    truth_probability,
)
from agon.kernel.ratings.elo import rating_change
from agon.kernel.statistics import spearman
from agon.records import read_rows
from disciplines.arena.arenas import Row, Tables

_START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class League:
    """A population and what it has played.

    Attributes:
        strengths: the true strength of each bot.
        characters: of each judge.
        rules: the arena's.
        seed: of everything.
    """

    strengths: Sequence[float]
    characters: Sequence[Character]
    rules: ArenaRules
    seed: str
    matches: list[Row] = field(default_factory=list)
    votes: list[Row] = field(default_factory=list)
    histories: dict[str, History] = field(default_factory=dict)
    at: datetime = _START

    def __post_init__(self) -> None:
        """Start all ratings and credibilities."""
        self.dice = random.Random(self.seed)
        self.ratings = [self.rules.elo_start] * len(self.strengths)
        self.games = [0] * len(self.strengths)
        self.credibility = [self.rules.credibility_start] * len(self.characters)
        self.inactive: set[int] = set()
        self.voted = [0] * len(self.characters)
        self.fallen_after: dict[int, int] = {}

    def play_rounds(self, matches: int) -> None:
        """Play rounds until there are so many matches."""
        number = 0
        while len(self.matches) < matches:
            number += 1
            self.at += timedelta(hours=2)
            entrants = [Entrant(f"b{n}", rating, f"o{n}") for n, rating in enumerate(self.ratings)]
            made = pair_by_rules(entrants, histories=self.histories, rules=self.rules)
            pairs = [(one.chooser, one.opponent) for one in made.pairings]
            self.histories = histories_of([PastRound(pairs, made.waiting)], since=self.histories)
            for place, (a, b) in enumerate(pairs, start=1):
                self._play(f"r{number}-{place}", int(a[1:]), int(b[1:]))

    def _play(self, match: str, a: int, b: int) -> None:
        rules = self.rules
        honeypot = draws.is_honeypot(self.seed, match, probability=rules.honeypot_probability)
        real = draws.honeypot_real(self.seed, match)
        gap = self.strengths[a] - self.strengths[b]
        truth = real if honeypot else ("a" if gap > 0 else "b")
        active = [f"j{n}" for n in range(len(self.characters)) if n not in self.inactive]
        panel = draws.sample(self.seed, match, active, size=rules.judges_per_match)
        sides = {}
        for name in panel:
            judge = int(name[1:])
            sides[judge] = self._side(judge, truth, gap, honeypot=honeypot)
            first = draws.shown_first(self.seed, match, [name])[name]
            label = "A" if sides[judge] == first else "B"
            self.votes.append({"match_id": match, "judge_id": name, "shown_first": first,
                               "vote": label, "voted_at": self.at})  # fmt: skip
        row: Row = {"id": match, "played_at": self.at, "kind": "honeypot" if honeypot else "rated",
                    "bot_a": f"b{a}", "bot_b": f"b{b}"}  # fmt: skip
        if honeypot:
            row |= {"honeypot_real": real, "bot_b" if real == "a" else "bot_a": None}
            changes = {j: 0 if side == real else -rules.credibility_honeypot
                       for j, side in sides.items()}  # fmt: skip
        else:
            consensus = max("ab", key=list(sides.values()).count)
            self._rate(a, b, consensus)
            changes = {j: rules.credibility_agree if side == consensus
                       else -rules.credibility_disagree for j, side in sides.items()}  # fmt: skip
            if draws.is_audited(self.seed, match, probability=rules.audit_probability):
                row["audit_verdict"] = truth
        self.matches.append(row)
        for judge, change in changes.items():
            self._credit(judge, change)
        if row.get("audit_verdict", consensus if not honeypot else None) != (
            None if honeypot else consensus
        ):
            for judge, side in sides.items():
                if side == consensus:
                    self._credit(judge, -rules.credibility_audit, counts=False)

    def _side(self, judge: int, truth: str, gap: float, *, honeypot: bool) -> str:
        """Return the side a judge votes for."""
        right = truth_probability(self.characters[judge], distance=gap, honeypot=honeypot)
        wrong = "b" if truth == "a" else "a"
        return truth if self.dice.random() < right else wrong

    def _rate(self, a: int, b: int, winner: str) -> None:
        changes = [
            rating_change(
                self.ratings[bot],
                self.ratings[other],
                float(side == winner),
                k=self.rules.k_new
                if self.games[bot] < self.rules.games_established
                else self.rules.k_established,
                scale=self.rules.elo_scale,
                round_changes=self.rules.round_changes,
            )
            for bot, other, side in ((a, b, "a"), (b, a, "b"))
        ]
        for bot, change in zip((a, b), changes, strict=True):
            self.ratings[bot] += change
            self.games[bot] += 1

    def _credit(self, judge: int, change: int, *, counts: bool = True) -> None:
        self.voted[judge] += counts
        after = max(self.rules.credibility_floor, self.credibility[judge] + change)
        self.credibility[judge] = after
        if after < self.rules.credibility_active and judge not in self.inactive:
            self.inactive.add(judge)
            self.fallen_after[judge] = self.voted[judge]

    def tables(self) -> Tables:
        """Return the records of the league."""
        bots = [{"id": f"b{n}", "name": f"bot {n}", "qualified_at": _START}
                for n in range(len(self.strengths))]  # fmt: skip
        return {"bots": bots, "matches": self.matches, "votes": self.votes}

    def scored(self) -> ScoredArena:
        """Score the records of the league."""
        return score(read_rows(SCHEMA, self.tables()), self.rules)

    def share_below(self, character: Character, *, votes: int) -> float:
        """Return the share of judges that fell below the threshold within some votes.

        Judges that are active and have fewer votes do not count.
        """
        judges = [
            judge
            for judge, each in enumerate(self.characters)
            if each == character and (judge in self.fallen_after or self.voted[judge] >= votes)
        ]
        fallen = [judge for judge in judges if self.fallen_after.get(judge, math.inf) <= votes]
        return len(fallen) / len(judges) if judges else math.nan


def spearmans(league: League) -> dict[str, float]:
    """Return the rank correlations of Elo and of Bradley–Terry with true strength."""
    scored = league.scored()
    correlations = {}
    for board in ("bots", "bradley-terry"):
        rows = scored.board(board).rows()
        true = [league.strengths[int(str(row["id"])[1:])] for row in rows]
        correlations[board] = spearman(true, [row["score"] for row in rows], confidence=0.95).value
    return correlations


def normal_league(
    bots: int, characters: Sequence[Character], *, seed: str, **rules: object
) -> League:
    """Return a league of bots with normally distributed strength that has not played."""
    dice = random.Random(f"{seed} strengths")
    strengths = [dice.gauss(1000, SPREAD) for _ in range(bots)]
    return League(
        strengths,
        characters,
        ArenaRules().override({"bradley_terry_regularisation": 0.1, **rules}),
        seed,
    )


def measure() -> Iterator[str]:
    """Yield the figures of the full size: 100 bots, 30 judges, 5,000 matches."""
    for pairing in ("nearest", "spread"):
        honest = normal_league(100, characters_of(honest=30), seed="1", pairing=pairing)
        honest.play_rounds(5_000)
        yield f"{pairing}: Spearman {spearmans(honest)}, {len(honest.inactive)} of 30 below 50"
    wrong, flips, fallen = [], [], 0
    for number in range(10):
        judges = characters_of(honest=24, wrong=3, coin_flips=3)
        league = normal_league(100, judges, seed=f"mixed {number}", pairing="spread")
        league.play_rounds(5_000)
        wrong.append(league.share_below("always wrong", votes=100))
        flips.append(league.share_below("coin flip", votes=200))
        fallen += sum(judges[judge] == "honest" for judge in league.inactive)
    yield f"always wrong below 50 after 100 votes: {sum(wrong) / 10:.2f}"
    yield f"coin flips after 200: {sum(flips) / 10:.2f}; honest: {fallen / 240:.3f}"


if __name__ == "__main__":
    print(*measure(), sep="\n")  # noqa: T201 (a report)
