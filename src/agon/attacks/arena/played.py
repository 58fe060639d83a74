"""The records of an arena after a season, and who stands where."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from agon.attacks.arena.season import Season
from agon.attacks.arena.world import World
from agon.attacks.lab import Standing
from agon.attacks.results import Effort
from agon.disciplines import ScoredRecords
from agon.disciplines.arena.arrays import tables_of_arrays
from agon.disciplines.arena.population import SYLLABLES

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
        arrays = self.season.arrays.until(self.season.ends[epoch])
        ids = pa.array(self.names, pa.string())
        created = pa.array(np.full(len(ids), _BEGIN))
        letters = np.array(SYLLABLES)
        parts = np.random.default_rng([self.world.seed, 3]).integers(0, len(letters), (len(ids), 6))
        handles = ["".join(word) for word in letters[parts]]
        return {
            "owners": pa.table({"id": ids, "handle": handles, "account_created_at": created}),
            "bots": pa.table(
                {
                    "id": ids,
                    "owner_id": ids,
                    "name": ids,
                    "qualified_at": created,
                    "is_judge": pa.array(np.ones(len(ids), dtype=bool)),
                }
            ),
            **tables_of_arrays(arrays, self.names),
        }

    def standing(self, scored: ScoredRecords) -> Standing:
        """Return who stands where: the attacker's best bot among the honest ones, by rating.

        The share is the part of all votes in rated matches and honeypots cast by its judges.
        """
        own = set(self.accounts)
        ratings = {row["id"]: row["score"] for row in scored.board("bots").rows()}
        best = max(score for name, score in ratings.items() if name in own)
        honest = np.sort([score for name, score in ratings.items() if name not in own])
        ranks = {
            name: 1
            + len(honest)
            - int(np.searchsorted(honest, score, side="right"))
            + (best > score)
            for name, score in ratings.items()
            if name not in own
        }
        rank = 1 + len(honest) - int(np.searchsorted(honest, best, side="right"))
        votes = {row["id"]: row["votes"] for row in scored.board("judges").rows()}
        cast = sum(count for name, count in votes.items() if name in own)
        return Standing(rank, best, cast / max(1, sum(votes.values())), ranks)
