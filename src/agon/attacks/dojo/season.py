"""The days of an attack: what the attacker can do, and the records of it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from agon.attacks.dojo.world import DAYS, AttackProgram, World
from agon.attacks.lab import AttackStanding
from agon.attacks.results import Effort
from agon.attacks.tables import append_rows
from agon.disciplines import ScoredRecords
from agon.disciplines.dojo.rules import DojoRules

_PAUSE = timedelta(seconds=30)


class Season:
    """The attacker's last days of a season.

    The attacker sees the published rules and problems, its own programs and verdicts, and the
    programs that other solvers give it: not the hidden terms, and no findings.

    Attributes:
        rules: the published rules.
        attacker_id: the attacker's user.
        day: the current day, from 1.
    """

    epochs = range(1, DAYS + 1)

    def __init__(self, world: World, rules: DojoRules) -> None:
        self.world = world
        self.rules = rules
        self.attacker_id = world.attacker_id
        self.day = 1
        self._rows: list[tuple[int, dict[str, Any]]] = []
        self._actions: list[tuple[int, str]] = []

    def own_programs(self) -> Iterator[tuple[str, AttackProgram]]:
        """Yield the problems that the attacker solved, each with its program."""
        programs = self.world.solved.get(self.attacker_id, {})
        return (
            (problem, programs[problem])
            for problem in self._taking_submissions()
            if problem in programs
        )

    def open_problems(self) -> Iterator[str]:
        """Yield the problems that the attacker did not solve before."""
        programs = self.world.solved.get(self.attacker_id, {})
        return (problem for problem in self._taking_submissions() if problem not in programs)

    def solvers(self, count: int) -> Sequence[str]:
        """Return other users with solved problems, at most ``count``, spread over the board."""
        users = [user for user in self.world.users if user in self.world.solved]
        return users[:: max(1, len(users) // max(count, 1))][:count]

    def program_of(self, user: str, problem: str) -> AttackProgram | None:
        """Return the program that a solver gives to the attacker, None if it has none."""
        program = self.world.solved[user].get(problem)
        if program is not None:
            self._actions.append((self.day, "program"))
        return program

    def computed_problems(self) -> Iterator[str]:
        """Yield the unsolved problems whose terms can be computed, outside of the limits of time.

        Where another user has solved a problem, so can a program that runs for days.
        """
        solved = {problem for programs in self.world.solved.values() for problem in programs}
        return (problem for problem in self.open_problems() if problem in solved)

    def compute_terms(self) -> None:
        """Pay for a computation of the terms of one problem."""
        self._actions.append((self.day, "computation"))

    def terms_of(self, problem: str) -> int:
        """Return the number of terms that a program has to give."""
        return self.world.terms_of(problem)

    def submit(
        self,
        problem: str,
        source: str,
        *,
        tag: str | None = None,
        matched: int | None = None,
        kind: str = "submission",
    ) -> bool:
        """Submit a program; return whether it was accepted for judging.

        Args:
            problem: one of the open problems.
            source: the program.
            tag: the declared method tag.
            matched: number of first terms that are right; None: all.
            kind: name of the price.
        """
        most = self.rules.max_submissions
        if most is not None and self._count(problem) >= most:
            return False
        terms = self.terms_of(problem)
        is_right = matched is None or matched >= terms
        self._rows.append((self.day, {
            "id": f"attack-{len(self._rows)}",
            "problem_id": problem,
            "user_id": self.attacker_id,
            "created_at": self._time(),
            "source": source,
            "method_tag": tag,
            "verdict": "ok" if is_right else "wrong_answer",
            "terms_matched": terms if is_right else matched,
        }))  # fmt: skip
        self._actions.append((self.day, kind))
        return True

    @property
    def accounts(self) -> tuple[str, ...]:
        """The attacker's only account."""
        return (self.attacker_id,)

    @property
    def honest(self) -> tuple[str, ...]:
        """All other users with a score."""
        return self.world.users

    @property
    def effort(self) -> Effort:
        """What the attacker used."""
        return Effort.of(self._actions, accounts={})

    def actions_until(self, epoch: int) -> int:
        """Return the number of actions by the end of a day."""
        return sum(day <= epoch for day, _ in self._actions)

    def tables(self, epoch: int) -> Mapping[str, pa.Table]:
        """Return the records by the end of a day."""
        until = self.world.begin + timedelta(days=epoch)
        tables = {**self.world.tables, "submissions": self.world.honest_submissions(until)}
        rows = [row for day, row in self._rows if day <= epoch]
        if rows:
            added = pa.Table.from_pylist(rows)
            tables["submissions"] = append_rows(tables["submissions"], added)
        return tables

    def standing(self, scored: ScoredRecords) -> AttackStanding:
        """Return who stands where on the season's board."""
        rows = {str(row["id"]): row for row in scored.board("season").rows()}
        total = sum(row["score"] for row in rows.values())
        ranks = {name: rows[name]["rank"] for name in self.honest if name in rows}
        if self.attacker_id not in rows:
            return AttackStanding(len(ranks) + 1, 0.0, 0.0, ranks)
        mine = rows[self.attacker_id]
        rank = 1 + sum(of_other < mine["rank"] for of_other in ranks.values())
        return AttackStanding(rank, mine["score"], mine["score"] / total if total else 0.0, ranks)

    def _taking_submissions(self) -> tuple[str, ...]:
        return self.world.problems

    def _count(self, problem: str) -> int:
        """Return how many submissions to a problem the attacker made during the attack."""
        return sum(row["problem_id"] == problem for _, row in self._rows)

    def _time(self) -> datetime:
        """Return a time on this day, half a minute after the submission before."""
        today = sum(day == self.day for day, _ in self._rows)
        begin = self.world.begin + timedelta(days=self.day - 1)
        return begin + min((today + 1) * _PAUSE, timedelta(hours=20))
