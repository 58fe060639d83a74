"""The days of an attack: what the attacker can do, and the records of it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import pyarrow as pa

from agon.attacks.community.world import DAYS, World
from agon.attacks.lab import AttackStanding
from agon.attacks.results import Effort
from agon.attacks.tables import append_rows
from agon.disciplines import ScoredRecords
from agon.disciplines.community.rules import CommunityRules

Item = TypeVar("Item")

_MICROSECONDS = timedelta(microseconds=1)
_PAUSE = timedelta(seconds=30)


class Season:
    """The attacker's days in a community.

    The attacker sees the published rules, the ids of prompts, and what it did itself: not who is
    honest, and no findings.

    Attributes:
        rules: the published rules.
        attacker_id: the attacker's user, as the records write its id.
        day: the current day, from 1.
    """

    epochs = range(1, DAYS + 1)

    def __init__(self, world: World, rules: CommunityRules) -> None:
        self.world = world
        self.rules = rules
        self.attacker_id = world.attacker_in("users")
        self.day = 1
        self._further: list[str] = []
        self._rows: list[tuple[int, str, dict[str, Any]]] = []
        self._actions: list[tuple[int, str]] = []

    def today(self, items: Sequence[Item]) -> Sequence[Item]:
        """Return the part of some work that falls on this day, so that there is no burst."""
        return items[self.day - 1 :: DAYS]

    def prompt(self, number: int) -> Any:
        """Return the id of the attacker's prompt with a number from 0."""
        return self.world.id_in("prompts", number)

    def account(self, number: int) -> Any:
        """Return the id of the attacker's further account with a number from 0."""
        return self.world.id_in("users", number)

    def likes(self, prompts: int, each: int, *, opinion: int = 0) -> list[tuple[Any, Any]]:
        """Return who likes which prompt, so that each has so many likes that count.

        Under a limit of feedback for each creator, further accounts share the work.

        Args:
            prompts: number of prompts, from number 0 on, all of one creator.
            each: likes that each prompt gets.
            opinion: number of the first further account that likes.
        """
        return [
            (self.account(opinion + slot % self.likers(prompts, each)), self.prompt(slot // each))
            for slot in range(prompts * each)
        ]

    def likers(self, prompts: int, each: int) -> int:
        """Return the number of accounts that so many likes on one creator's prompts need."""
        most = self.rules.likes_per_creator or prompts
        return max(each, -(-prompts * each // most))

    def write_liked(self, prompts: int, *, likes: int) -> None:
        """Write prompts on the first day; accounts give each so many likes within the week."""
        self.join(self.likers(prompts, likes))
        if self.day == 1:
            for number in range(prompts):
                self.write(self.attacker_id, number)
        for account, prompt in self.today(self.likes(prompts, likes)):
            self.rate(account, [prompt])

    def others_prompts(self, count: int) -> list[Any]:
        """Return prompts of other users, at most ``count``, spread over all of the records."""
        prompts = self.world.prompts
        return prompts[:: max(1, len(prompts) // max(count, 1))][:count]

    def join(self, accounts: int) -> None:
        """Register further accounts on the first day."""
        if self.day == 1:
            for number in range(accounts):
                user = self.account(number)
                self._further.append(str(user))
                self._add("users", id=user, created_at=self._time())

    def write(self, user: Any, number: int) -> None:
        """Write the prompt with a number."""
        self._add("prompts", id=self.prompt(number), uploader_id=user, created_at=self._time())
        self._actions.append((self.day, "prompt"))

    def others_responses(self, count: int) -> list[Any]:
        """Return responses of models, at most ``count``, spread over all of the records."""
        table = self.world.tables.get("responses")
        responses: list[Any] = [] if table is None else table["id"].to_pylist()
        return responses[:: max(1, len(responses) // max(count, 1))][:count]

    def rate(
        self, user: Any, targets: Iterable[Any], *, opinion: str = "positive", table: str = "prompt"
    ) -> None:
        """Give feedback on prompts, or on responses (``of``)."""
        for target in targets:
            row = {"user_id": user, f"{table}_id": target, "opinion": opinion}
            number = self.world.id_in("quick_feedbacks", len(self._rows))
            self._add("quick_feedbacks", id=number, created_at=self._time(), **row)
            self._actions.append((self.day, "feedback"))

    def affiliate(self, user: Any) -> None:
        """Give a user an organization of the attacker."""
        self._add("org_to_people", user_id=user, org_id=self._organization)
        self._actions.append((self.day, "affiliation"))

    def collect(self, user: Any, prompts: Iterable[Any]) -> None:
        """Put prompts in a new benchmark of the user, the only one of the attacker."""
        name = self.world.id_in("prompt_sets", 0)
        self._add("prompt_sets", id=name, owner_id=user, created_at=self._time())
        for prompt in prompts:
            row = {"prompt_set_id": name, "prompt_id": prompt, "status": "included"}
            self._add("prompt_set_prompts", **row)
        self._actions.append((self.day, "prompt"))

    @property
    def accounts(self) -> tuple[str, ...]:
        """The attacker's accounts, its own user first."""
        return (self.world.attacker_id, *self._further)

    @property
    def honest(self) -> tuple[str, ...]:
        """All other users."""
        return self.world.users

    @property
    def effort(self) -> Effort:
        """What the attacker used."""
        return Effort.of(self._actions, accounts={"user": len(self._further)})

    def actions_until(self, epoch: int) -> int:
        """Return the number of actions by the end of a day."""
        return sum(day <= epoch for day, _ in self._actions)

    def tables(self, epoch: int) -> Mapping[str, pa.Table]:
        """Return the records by the end of a day."""
        tables = dict(self.world.tables)
        rows: dict[str, list[dict[str, Any]]] = {}
        for day, table, row in self._rows:
            if day <= epoch:
                rows.setdefault(table, []).append(row)
        for name, added in rows.items():
            columns = dict.fromkeys(key for row in added for key in row)
            complete = [columns | row for row in added]
            tables[name] = append_rows(tables.get(name), pa.Table.from_pylist(complete))
        return tables

    def standing(self, scored: ScoredRecords) -> AttackStanding:
        """Return who stands where by user score; the attacker with the best of its accounts."""
        own, honest = set(self.accounts), set(self.honest)
        rows = scored.board("user-score").rows()
        mine = max(row["score"] for row in rows if str(row["id"]) in own)
        total = sum(row["score"] for row in rows)
        rank = 1 + sum(row["score"] > mine for row in rows if str(row["id"]) in honest)
        ranks = {str(row["id"]): row["rank"] for row in rows if str(row["id"]) in honest}
        return AttackStanding(rank, mine, mine / total if total else 0.0, ranks)

    @cached_property
    def _organization(self) -> Any:
        table = self.world.tables.get("org_to_people")
        is_number = table is not None and pa.types.is_integer(table["org_id"].type)
        return 1_000_000_007 if is_number else "attack-organization"

    def _time(self) -> datetime:
        """Return a time on this day, half a minute after the action before."""
        today = sum(day == self.day for day, *_ in self._rows)
        begin = self.world.end + timedelta(days=self.day)
        return begin + min(today * _PAUSE, timedelta(hours=20)) + today * _MICROSECONDS

    def _add(self, table: str, **row: Any) -> None:
        self._rows.append((self.day, table, row))


def product(users: Iterable[Item], prompts: Sequence[Any]) -> list[tuple[Item, Any]]:
    """Return each user with each prompt.

    Example:
        >>> product(["a", "b"], [1, 2])
        [('a', 1), ('a', 2), ('b', 1), ('b', 2)]
    """
    return list(chain.from_iterable(((user, prompt) for prompt in prompts) for user in users))
