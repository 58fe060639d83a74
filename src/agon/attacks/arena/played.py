"""The records of an arena after a season, and who stands where."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from agon.attacks.arena.season import Season
from agon.attacks.arena.world import World
from agon.attacks.lab import AttackStanding
from agon.attacks.results import Effort
from agon.disciplines.arena.facts import Facts
from agon.disciplines.arena.simulation.arrays import MatchArrays, named_facts, tables_of_arrays
from agon.disciplines.arena.simulation.population import SYLLABLES
from agon.kernel.rounding import publish

_BEGIN = np.datetime64("2025-06-01T00:00:00", "us")


@dataclass(frozen=True)
class PlayedSeason:
    """A season after its last day."""

    world: World
    season: Season

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The ids of all bots by number, honest ones first."""
        honest = len(self.world)
        attackers = range(len(self.season.accounts))
        return (*(f"b{n}" for n in range(honest)), *(f"attacker-{n}" for n in attackers))

    @property
    def accounts(self) -> tuple[str, ...]:
        """The attacker's bots, which are also its judges."""
        return self.names[len(self.world) :]

    @property
    def honest(self) -> tuple[str, ...]:
        """The honest bots, which are also judges."""
        return self.names[: len(self.world)]

    @property
    def epochs(self) -> range:
        """The days."""
        return range(len(self.season.ends))

    @property
    def effort(self) -> Effort:
        """What the attacker used."""
        accounts, actions, days = self.season.usage()
        return Effort(accounts, actions, 0.0, days)

    def actions_until(self, epoch: int) -> int:
        """Return the number of actions by the end of a day, accounts left out."""
        return sum(n for day, kind, n in self.season.actions if day <= epoch and kind != "account")

    def tables(self, epoch: int) -> Mapping[str, pa.Table]:
        """Return the records by the end of a day."""
        return {**self.registered, **tables_of_arrays(self._until(epoch), self.names)}

    @cached_property
    def registered(self) -> Mapping[str, pa.Table]:
        """The accounts, with random handles, and their bots."""
        letters, count = np.array(SYLLABLES), len(self.names)
        parts = np.random.default_rng([self.world.seed, 3]).integers(0, len(letters), (count, 6))
        handles = ["".join(word) for word in letters[parts]]
        ids = pa.array(self.names, pa.string())
        created = pa.array(np.full(count, _BEGIN))
        return {
            "owners": pa.table({"id": ids, "handle": handles, "account_created_at": created}),
            "bots": pa.table(
                {
                    "id": ids,
                    "owner_id": ids,
                    "name": ids,
                    "qualified_at": created,
                    "is_judge": pa.array(np.ones(count, dtype=bool)),
                }
            ),
        }

    def facts(self, epoch: int, *, undone: bool = False) -> Facts:
        """Return the facts of the records by the end of a day.

        Args:
            epoch: the day.
            undone: whether the bots of the attacker, their matches and votes are left out.
        """
        arrays, names = self._until(epoch), self.names
        if undone:
            arrays, names = arrays.of_first(len(self.honest)), self.honest
        return named_facts(arrays, names, created=_BEGIN)

    @property
    def standing(self) -> AttackStanding:
        """Who stands where: the attacker's best bot among the honest ones, by rating.

        The share is the part of all votes in rated matches and honeypots cast by its judges.
        """
        ratings, count = publish(self.season.ratings), len(self.honest)
        best = float(ratings[count:].max())
        honest = np.sort(ratings[:count])
        above = count - np.searchsorted(honest, ratings[:count], side="right")
        ranks = 1 + above + (best > ratings[:count])
        rank = 1 + count - int(np.searchsorted(honest, best, side="right"))
        judges = self.season.arrays.judge
        cast = int(np.count_nonzero(judges >= count))
        named = dict(zip(self.honest, ranks.tolist(), strict=True))
        return AttackStanding(rank, best, cast / max(1, len(judges)), named)

    def _until(self, epoch: int) -> MatchArrays:
        if epoch == self.epochs[-1]:
            return self.season.arrays
        return self.season.arrays.until(self.season.ends[epoch])
