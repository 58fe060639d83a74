"""The season of an arena as an attacker sees it: what is public, and what one can do."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from agon.attacks.arena.world import DAYS, World
from agon.disciplines.arena.facts import HONEYPOT, RATED, Bools
from agon.disciplines.arena.formulas import NONE, Codes, Ints, Vector, score_of
from agon.disciplines.arena.history import credibilities_of, elo_fold, results_of
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.simulate import draw_panels
from agon.disciplines.arena.simulation.arrays import MatchArrays, facts_of_arrays
from agon.kernel.compiling import COMPILED_FROM
from agon.kernel.ratings.elo import EloState

_NOISE = 80  # of the ratings by which bots are paired, as in the simulation of records
_HONEYPOT = 0.98  # how often an honest judge passes one
_AUDIT = 0.95  # how often an audit sees the better answer
_ACCURACY = 0.8  # of the attacker's judges where they are honest
_SEATS = 3


@dataclass(frozen=True, kw_only=True)
class Conduct:
    """How one of the attacker's judges votes.

    Attributes:
        favored: bots whose answers it votes for where it recognizes them.
        opposed: bots whose answers it votes against where it recognizes them.
        recognized: probability to recognize an answer of these bots.
        otherwise: how it votes in other matches; ``first`` is for the answer shown as A.
        share: part of the other matches in which it does; honest in the rest.
        passes: probability to recognize a honeypot; it votes on the others as on any match.
    """

    favored: tuple[int, ...] = ()
    opposed: tuple[int, ...] = ()
    recognized: float = 1.0
    otherwise: Literal["honest", "coin", "wrong", "first"] = "honest"
    share: float = 1.0
    passes: float = 1.0


HONEST = Conduct(passes=0.0)
"""How a judge votes that attacks nothing."""


class Season:
    """An arena from the first day to the last; bots, and the judges they are, go by number.

    The attacker begins as an honest owner does, with one bot of middle strength
    (``attacker_bot``) that also judges. Further accounts have a bot of the same strength; each of
    them is as old as a judge must be, and judges from the day after it joined.

    Attributes:
        rules: the published rules.
        day: the day, from 0 on.
        attacker_bot: the attacker's first bot.
        accounts: numbers of all its bots.
        ratings: published ratings of all bots, by the end of the day before.
        conduct: how each of its judges votes; honest where none is set.
        forfeits: of each of its bots, the share of matches it would lose that it does not answer.
        offsets: by how much each of its bots plays above (below: negative) its strength.
        ends: number of matches by the end of each day.
        dice: random draws of the attacker.
    """

    def __init__(self, world: World, rules: ArenaRules) -> None:
        self.rules, self.day = rules, 0
        self.attacker_bot = len(world)
        self.accounts = [self.attacker_bot]
        self.conduct: dict[int, Conduct] = {}
        self.forfeits: dict[int, float] = {}
        self.offsets: dict[int, float] = {}
        self.actions: list[tuple[int, str, int]] = []
        self.ends: list[int] = []
        self.dice = np.random.default_rng([world.seed, 1])
        self._world = world
        middle = float(np.median(world.strength))
        self._strength = np.append(world.strength, middle)
        self._accuracy = np.append(world.accuracy, _ACCURACY)
        self._playing = np.ones(len(world) + 1, dtype=bool)
        self._judging = np.ones(len(world) + 1, dtype=bool)
        self._fallen: set[int] = set()
        self._days: list[MatchArrays] = []
        self._elo = EloState.fresh(len(world) + 1, start=rules.elo_start)
        self._credibility = np.full(len(world) + 1, rules.credibility_start, dtype=np.int64)
        self.ratings: Vector = self._elo.ratings
        self._is_long = len(world) * DAYS * world.rounds // 2 >= COMPILED_FROM  # in matches

    @property
    def is_first(self) -> bool:
        """Whether this is the first day."""
        return self.day == 0

    @property
    def is_last(self) -> bool:
        """Whether no day follows."""
        return self.day == DAYS - 1

    def join(self) -> int:
        """Open another account with a bot of the same strength; return its number."""
        number = len(self._strength)
        self._strength = np.append(self._strength, self._strength[self.attacker_bot])
        self._accuracy = np.append(self._accuracy, _ACCURACY)
        self._playing = np.append(self._playing, True)
        self._judging = np.append(self._judging, False)
        self.ratings = np.append(self.ratings, float(self.rules.elo_start))
        self.accounts.append(number)
        self.actions.append((self.day, "account", 1))
        return number

    def withdraw(self, bot: int) -> None:
        """Take a bot out of play; its rating stays."""
        if self._playing[bot]:
            self._playing[bot] = False
            self.actions.append((self.day, "withdrawal", 1))

    def rivals(self, count: int) -> tuple[int, ...]:
        """Return the honest bots with the next higher published ratings."""
        honest = self.ratings[: self.attacker_bot]
        above = np.flatnonzero(honest >= self.ratings[self.attacker_bot])
        return tuple(above[np.argsort(honest[above], kind="stable")][:count].tolist())

    def best(self) -> int:
        """Return the attacker's bot with the highest published rating."""
        return max(self.accounts, key=lambda bot: float(self.ratings[bot]))

    @cached_property
    def arrays(self) -> MatchArrays:
        """All matches, after the last day."""
        return MatchArrays.join(self._days)

    def advance(self) -> None:
        """Play the day's rounds, publish the ratings, and go on to the next day."""
        played = self._matches(np.random.default_rng([self._world.seed, 2, self.day]))
        self._days.append(played)
        self.ends.append(len(played) + (self.ends[-1] if self.ends else 0))
        self._rate(played)
        self.day += 1

    def _rate(self, played: MatchArrays) -> None:
        """Continue ratings and credibility with the day's matches.

        A judge whose credibility once fell below what is needed is not asked again.
        """
        bots, rules = len(self._strength), self.rules
        facts = facts_of_arrays(played, bots=bots, judges=bots)
        results = results_of(facts, rules)
        rated = np.flatnonzero(results.final != NONE)
        pairs = facts.matches.bot_a[rated], facts.matches.bot_b[rated]
        state = self._elo.with_players(bots, start=rules.elo_start)
        self._elo = elo_fold(
            state, *pairs, score_of(results.final[rated]), rules, compiled=self._is_long
        ).state
        self.ratings = self._elo.ratings
        before = np.full(bots, rules.credibility_start, dtype=np.int64)
        before[: len(self._credibility)] = self._credibility
        credibilities = credibilities_of(
            facts, results, rules, before=before, compiled=self._is_long
        )
        self._credibility = credibilities.credibility
        fell = np.unique(credibilities.judge[credibilities.after < rules.credibility_active])
        self._fallen.update(fell.tolist())
        self._judging = np.ones(bots, dtype=bool)
        self._judging[list(self._fallen)] = False

    def _matches(self, rng: np.random.Generator) -> MatchArrays:
        bot_a, bot_b = self._pairs(rng)
        count = len(bot_a)
        offsets = np.zeros(len(self._strength))
        for bot, offset in self.offsets.items():
            offsets[bot] = offset
        strength = self._strength + offsets
        gap = strength[bot_b] - strength[bot_a]
        better = (rng.random(count) > 1 / (1 + 10 ** (gap / 400))).astype(np.int8)
        kind = np.where(rng.random(count) < self.rules.honeypot_probability, HONEYPOT, RATED)
        audited = (rng.random(count) < self.rules.audit_probability) & (kind == RATED)
        verdict = better ^ (rng.random(count) >= _AUDIT)
        pool = np.flatnonzero(self._judging & self._playing)
        if len(pool) < 2 + _SEATS:  # two may play; then every judge is asked
            pool = np.arange(len(self._strength))
        panel = draw_panels(pool, np.arange(len(self._strength)), bot_a, bot_b, rng)
        side, first = self._votes(panel, better, kind, bot_a, bot_b, rng)
        missing = self._missing(bot_a, bot_b, better, kind)
        void = missing if self.rules.forfeit == "void" else np.zeros(count, dtype=bool)
        voted = np.repeat(~missing, _SEATS)
        matches = MatchArrays(
            bot_a,
            bot_b,
            kind.astype(np.int8),
            np.where(kind == HONEYPOT, better, NONE).astype(np.int8),
            np.where(audited & ~missing, verdict, NONE).astype(np.int8),
            np.where(missing, better, NONE).astype(np.int8),
            np.repeat(np.arange(count), _SEATS)[voted],
            panel.ravel()[voted],
            side.ravel()[voted],
            first.ravel()[voted],
        )
        return matches.without(void)

    def _pairs(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Pair neighbors in rating plus noise, round after round."""
        bots = np.flatnonzero(self._playing)
        noisy = self.ratings[bots] + rng.normal(0, _NOISE, (self._world.rounds, len(bots)))
        order = bots[np.argsort(noisy, axis=1)[:, : len(bots) // 2 * 2]].reshape(-1, 2)
        order = np.where(rng.random(len(order))[:, None] < 0.5, order, order[:, ::-1])  # noqa: PLR2004 - even odds
        own = np.isin(order, self.accounts).all(axis=1)  # of one person: seldom, not played
        return order[~own, 0], order[~own, 1]

    def _votes(
        self, panel: Ints, better: Codes, kind: Ints, bot_a: Ints, bot_b: Ints,
        rng: np.random.Generator,
    ) -> tuple[Codes, Codes]:  # fmt: skip
        """Return the side of each vote, and the side shown first."""
        first = rng.integers(0, 2, panel.shape, dtype=np.int8)
        accuracy = np.where((kind == HONEYPOT)[:, None], _HONEYPOT, self._accuracy[panel])
        side = (better[:, None] ^ (rng.random(panel.shape) >= accuracy)).astype(np.int8)
        for judge, conduct in self.conduct.items():
            rows, seats = np.nonzero(panel == judge)
            pot = kind[rows] == HONEYPOT
            if conduct.passes < 1:
                pot &= self.dice.random(len(rows)) < conduct.passes if conduct.passes else False
            votes = side[rows, seats]
            changes = ~pot & (self.dice.random(len(rows)) < conduct.share)
            instead = {
                "honest": votes,
                "coin": self.dice.integers(0, 2, len(rows), dtype=np.int8),
                "wrong": 1 - better[rows],
                "first": first[rows, seats],
            }[conduct.otherwise]
            votes = np.where(changes, instead, votes)
            known = ~pot & (self.dice.random(len(rows)) < conduct.recognized)
            for bots, sides in ((conduct.opposed, (1, 0)), (conduct.favored, (0, 1))):
                for bot, vote in zip((bot_a, bot_b), sides, strict=True):
                    votes = np.where(known & np.isin(bot[rows], bots), vote, votes)
            side[rows, seats] = np.where(pot, better[rows], votes)
            if conduct != HONEST:
                self.actions.append((self.day, "vote", len(rows)))
        return side, first

    def _missing(self, bot_a: Ints, bot_b: Ints, better: Codes, kind: Ints) -> Bools:
        """Return the matches in which an attacker's bot does not answer what it would lose."""
        missing = np.zeros(len(better), dtype=bool)
        for bot, share in self.forfeits.items():
            loses = ((bot_a == bot) & (better == 1)) | ((bot_b == bot) & (better == 0))
            chosen = loses & (kind == RATED) & (self.dice.random(len(better)) < share)
            missing |= chosen
            self.actions.append((self.day, "forfeit", int(chosen.sum())))
        return missing

    def usage(self) -> tuple[Counter[str], Counter[str], int]:
        """Return the number of accounts and of actions by kind, and of days from the first one."""
        accounts: Counter[str] = Counter()
        actions: Counter[str] = Counter()
        for _, kind, number in self.actions:
            (accounts if kind == "account" else actions)[kind] += number
        first = min((day for day, *_ in self.actions), default=DAYS)
        return accounts, actions, DAYS - first
