"""The attack lab of the quiz: what repeating one question costs and gains."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from agon.attacks.lab import AttackStanding, Lab, play_days
from agon.attacks.prices import UnitPrice
from agon.attacks.results import Effort
from agon.attacks.strategy import Plan, Strategy
from agon.attacks.tables import append_rows, present_tables
from agon.disciplines import ScoredRecords
from agon.records import Records
from agon_quiz.rules import QuizRules
from agon_quiz.simulate import ATTACKS, simulate
from agon_quiz.tables import SCHEMA

DAYS = 3
_START = datetime(2027, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class World:
    """The quiz before the attack; its first player is the attacker."""

    tables: Mapping[str, pa.Table]

    @property
    def players(self) -> list[str]:
        """The ids of all players, as boards name them."""
        return [str(name) for name in self.tables["players"]["id"].to_pylist()]


def simulated_world(size: int, seed: int) -> World:
    """Return a simulated quiz of ``size`` answers."""
    return World(simulate(size=size, seed=seed, attacks=()).tables)


def observed_world(records: Records, _: int) -> World:
    """Return a real quiz."""
    return World(present_tables(records, SCHEMA))


class Season:
    """The days of the attack: what the attacker can do, and the records of it."""

    epochs = range(1, DAYS + 1)

    def __init__(self, world: World, rules: QuizRules) -> None:
        self.world, self.rules, self.day = world, rules, 1
        own, *others = world.players
        self.accounts, self.honest = (own,), tuple(others)
        self._days: list[int] = []

    def answer_first_question(self) -> None:
        """Answer the first question once more, right."""
        self._days.append(self.day)

    @property
    def effort(self) -> Effort:
        """What the attacker used."""
        return Effort(actions={"answer": len(self._days)}, days=len(set(self._days)))

    def actions_until(self, epoch: int) -> int:
        """Return the number of answers by the end of a day."""
        return sum(day <= epoch for day in self._days)

    def tables(self, epoch: int) -> Mapping[str, pa.Table]:
        """Return the records by the end of a day."""
        answers = self.world.tables["answers"]
        new = [
            {"id": f"attack-{number}", "player_id": self.accounts[0], "question": "q0",
             "correct": True, "answered_at": _START + timedelta(days=day)}
            for number, day in enumerate(self._days) if day <= epoch
        ]  # fmt: skip
        if new:
            answers = append_rows(answers, pa.Table.from_pylist(new))
        return {**self.world.tables, "answers": answers}

    def standing(self, scored: ScoredRecords) -> AttackStanding:
        """Return who stands where."""
        scores = {row["id"]: row["score"] for row in scored.board("players").rows()}
        own = scores.get(self.accounts[0], 0.0)
        ranks = {
            name: 1 + sum(score > scores[name] for score in scores.values())
            for name in self.honest
            if name in scores
        }
        rank = 1 + sum(scores[name] > own for name in ranks)
        return AttackStanding(rank, own, own / max(1.0, sum(scores.values())), ranks)


def act(season: Season, plan: Plan) -> None:
    """Answer the first question a number of times, on each day as often."""
    for number in range(int(plan["answers"])):
        if number % DAYS == season.day - 1:
            season.answer_first_question()


REPEATED_ANSWERS = Strategy(
    name="repeated-answers",
    description=f"A player {ATTACKS['repeated-answers']}.",
    source="rules of the quiz, 1: every right answer counts",
    controls="one account",
    knows="the answer to one question",
    goal="first",
    plans=tuple({"answers": answers} for answers in (3, 10, 30, 100)),
    act=act,
)

LAB = Lab(
    discipline="quiz",
    strategies=(REPEATED_ANSWERS,),
    simulated_world=simulated_world,
    observed_world=observed_world,
    play=play_days(Season, DAYS),
    actors={"players": "id"},
    undone_boards=("players",),
    further_prices={"answer": UnitPrice(0.0, "answer", "assumption: a known answer costs nothing")},
)
