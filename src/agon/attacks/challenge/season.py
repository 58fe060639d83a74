"""The season of a network as an attacker sees it: what is public, and what one can do."""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from agon.attacks.challenge.world import World
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.simulate import LIFE, TASKS
from agon.errors import NotScorable
from agon.kernel.arrays import FloatArray, IntArray

_NAME = re.compile(r"\b[^\W\d]+\d+\b")

DELAY = 1
"""Epochs after which a report is public."""


class Season:
    """A network from an attacker's first epoch to its end; submissions are known by number.

    The attacker begins as an honest miner does, with one account and one agent of middling skill
    (``attacker_agent``). What else the attacker does is recorded with its epoch.

    Attributes:
        rules: the published rules.
        now: the epoch.
        end: the last epoch.
        attacker_agent: the submission of the attacker's honest agent.
        stakes: the published stake of each honest validator.
        dice: random draws of the attacker.
        is_last: whether no epoch follows in which the attacker acts.
    """

    def __init__(self, world: World, rules: ChallengeRules, *, wait: int = 0) -> None:
        self.rules = rules
        self.now, self.end = world.begin, world.end + wait
        self.stakes = world.stakes
        self.dice = np.random.default_rng([world.seed, 1])
        self.submissions: list[dict[str, Any]] = []
        self.validators: list[dict[str, Any]] = []
        self._numbers: dict[str, int] = {}
        self.evaluations: list[tuple[int, IntArray, int, FloatArray]] = []
        self.actions: list[tuple[int, str, int]] = []
        self._world = world
        self._first = len(world.facts.submissions)
        self._measured: list[tuple[int, int, FloatArray]] = []
        self._next = 1 + max(
            [int(world.facts.submissions.miners.max(initial=0))]
            + [int(name) for name in world.facts.validators if name.isdecimal()]
        )
        self._reports = np.full((len(world.facts.validators), self._first), np.nan)
        self._read(-(2**62))
        self.miners = [self._new_uid()]
        self.attacker_agent = self._enter(like=self._middling())

    @property
    def is_last(self) -> bool:
        """Whether this is the last epoch."""
        return self.now == self.end

    @property
    def is_first(self) -> bool:
        """Whether this is the attacker's first epoch."""
        return self.now == self._world.begin

    @property
    def reports(self) -> FloatArray:
        """What each honest validator last reported of each submission; NaN: nothing yet."""
        return self._reports

    @property
    def estimates(self) -> FloatArray:
        """The median report on each submission; NaN: none yet."""
        medians = np.full(self._reports.shape[1], np.nan)
        known = ~np.isnan(self._reports).all(axis=0)
        medians[known] = np.nanmedian(self._reports[:, known], axis=0)
        return medians

    @property
    def rivals(self) -> IntArray:
        """The public submissions of others in the attacker's competition, the best first."""
        facts = self._world.facts.submissions
        estimates = self.estimates[: self._first]
        public = np.flatnonzero(
            ~np.isnan(estimates) & (facts.competitions == self._world.competition)
        )
        return public[np.argsort(-estimates[public], kind="stable")]

    @property
    def disclosed(self) -> IntArray:
        """The public submissions of others whose source is public, too, the best first."""
        rivals = self.rivals
        return rivals[self._world.disclosed[rivals]]

    def miner_of(self, submission: int) -> int:
        """Return the uid of a rival's miner."""
        return int(self._world.facts.submissions.miners[submission])

    def join_as_miner(self) -> int:
        """Register another miner; return its uid."""
        self.miners.append(self._new_uid())
        self._count("miner", 1)
        return self.miners[-1]

    def submit(self, uid: int, *, like: int, change: str, copy: bool = False) -> int:
        """Submit an agent as good as a public one (or one's own); return its number.

        Args:
            uid: the miner.
            like: the submission whose skill it has.
            change: makes its content different from that of every other change.
            copy: whether its content is that of ``like``, byte for byte.
        """
        self._count("submission", 1)
        source, digest = self._content(like, None if copy else change)
        return self._add(uid, source, digest, self._skill(like))

    def join_as_validator(self, stake: float) -> str:
        """Register a validator with a stake; return its name."""
        name = f"attacker-{len(self.validators) + 1}"
        self._numbers[name] = len(self.validators)
        self.validators.append({"id": name, "stake": stake, "epoch": self.now})
        self._count("validator", 1)
        return name

    def report(self, validator: str, submissions: Sequence[int] | IntArray, scores: Any) -> None:
        """Let a validator evaluate submissions now, with a score each, or the same for all."""
        values = np.broadcast_to(np.asarray(scores, dtype=np.float64), (len(submissions),))
        numbers = np.asarray(submissions, dtype=np.int64)
        self.evaluations.append((self.now, numbers, self._numbers[validator], values))
        self._count("evaluation", len(submissions))

    def advance(self) -> None:
        """Go on to the next epoch, in which the reports of this one are public."""
        self.now += 1
        self._read(self.now - 1 - DELAY)

    def measurements(self) -> list[tuple[int, int, FloatArray]]:
        """Return honest validators' scores of the attacker's agents: submission, epoch, scores."""
        return [row for row in self._measured if row[1] <= self.end]

    def _read(self, after: int) -> None:
        """Read the reports of the epochs after one, as far as they are public."""
        facts, until = self._world.facts.evaluations, self.now - DELAY
        new = slice(*np.searchsorted(facts.epochs, [after + 1, until + 1]))
        self._reports[facts.validators[new], facts.submissions[new]] = facts.scores[new]
        for submission, epoch, scores in self._measured:
            if after < epoch <= until:
                self._reports[:, submission] = scores

    def _middling(self) -> int:
        """Return the best submission of the miner in the middle of the competition."""
        miners = self._world.facts.submissions.miners[self.rivals]
        bests = self.rivals[np.sort(np.unique(miners, return_index=True)[1])]
        if not len(bests):
            raise NotScorable(
                f"no submission is evaluated before epoch {self.now}; give a longer season"
            )
        return int(bests[len(bests) // 2])

    def _new_uid(self) -> int:
        self._next += 1
        return self._next - 1

    def _count(self, kind: str, number: int) -> None:
        self.actions.append((self.now, kind, number))

    def _enter(self, *, like: int) -> int:
        """Submit an agent of one's own, another program of the same skill; return its number."""
        source = self._world.source_of(like)
        if source is not None:
            words = np.random.default_rng([self._world.seed, 3]).permutation(source.split())
            source = " ".join(words.tolist())
        return self._add(self.miners[0], source, self._hash("own", source), self._skill(like))

    def _add(self, uid: int, source: str | None, digest: str | None, skill: float) -> int:
        number = self._first + len(self.submissions)
        row = {"id": f"attacker-s{number}", "miner_uid": uid, "source": source}
        self.submissions.append({**row, "content_hash": digest, "epoch": self.now, "skill": skill})
        self._reports = np.column_stack([self._reports, np.full(len(self._reports), np.nan)])
        dice = np.random.default_rng([self._world.seed, 2, number])
        passed = dice.binomial(TASKS, skill, (LIFE, len(self._reports))) / TASKS
        self._measured += [(number, self.now + age, passed[age]) for age in range(LIFE)]
        return number

    def _skill(self, like: int) -> float:
        if like >= self._first:
            return float(self.submissions[like - self._first]["skill"])
        return float(np.nanmedian(self._reports[:, like]))

    def _content(self, like: int, change: str | None) -> tuple[str | None, str | None]:
        """Return source and hash of a copy, or of a version with other names."""
        if like >= self._first:
            source = self.submissions[like - self._first]["source"]
        else:
            source = self._world.source_of(like)
        if change is None:
            return source, self._world.hash_of(like)
        if source is not None:
            source = _NAME.sub(lambda name: f"{name[0]}_{change}", source)
        return source, self._hash(change, source)

    def _hash(self, change: str, source: str | None) -> str:
        return sha256(f"{change} {source}".encode()).hexdigest()

    def totals(self) -> tuple[Counter[str], Counter[str], int]:
        """Return the number of accounts and of actions by kind, and of days from the first one."""
        accounts: Counter[str] = Counter()
        actions: Counter[str] = Counter()
        for _, kind, number in self.actions:
            (accounts if kind in {"miner", "validator"} else actions)[kind] += number
        first = min((epoch for epoch, *_ in self.actions), default=self.end + 1)
        return accounts, actions, self.end - first + 1
