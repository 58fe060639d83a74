"""The honest community that an attacker acts in, simulated or read from real records."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agon.attacks.tables import present_tables, without_dictionaries
from agon.disciplines import discipline
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.simulate import simulate
from agon.errors import NotScorable
from agon.records import Records, read_rows

DAYS = 7
"""Days in which the attacker acts, after the last honest activity."""


@dataclass(frozen=True)
class World:
    """A community before the attack.

    Attributes:
        tables: its records.
        attacker_id: id of the attacker, as boards name it: the user with the median score under the
            reference rules.
        users: ids of all others, in the order of the board.
        end: time of the last activity.
    """

    tables: Mapping[str, pa.Table]
    attacker_id: str
    users: tuple[str, ...]
    end: datetime

    @cached_property
    def prompts(self) -> list[Any]:
        """The ids of prompts that others wrote, in the order of the records."""
        table = self.tables.get("prompts", pa.table({"id": []}))
        if "uploader_id" in table.column_names:
            uploaders = pc.fill_null(table["uploader_id"].cast(pa.string()), "")
            table = table.filter(pc.not_equal(uploaders, self.attacker_id))
        ids: list[Any] = table["id"].to_pylist()
        return ids

    def id_in(self, table: str, number: int) -> Any:
        """Return an id that the records do not use: of the same type, by its number from 0."""
        if table in self.tables and pa.types.is_integer(self.tables[table]["id"].type):
            return self._last_ids[table] + 1 + number
        return f"attack-{table}-{number}"

    def attacker_in(self, table: str) -> Any:
        """Return the attacker's id as the records write it."""
        is_number = pa.types.is_integer(self.tables[table]["id"].type)
        return int(self.attacker_id) if is_number else self.attacker_id

    @cached_property
    def _last_ids(self) -> Mapping[str, int]:
        return {
            name: pc.max(table["id"]).as_py() or 0
            for name, table in self.tables.items()
            if "id" in table.column_names and pa.types.is_integer(table["id"].type)
        }


def simulated_world(size: int, seed: int) -> World:
    """Return a simulated community without attackers."""
    return _world(simulate(size=size, seed=seed).tables)


def observed_world(records: Records, _: int) -> World:
    """Return a real community, whose honest users do nothing new during the attack."""
    return _world(present_tables(records, SCHEMA))


def _world(tables: Mapping[str, pa.Table]) -> World:
    plain = without_dictionaries(tables)
    with read_rows(SCHEMA, plain) as records:
        rows = discipline("community").score(records, CommunityRules()).board("user-score").rows()
    ids = [str(row["id"]) for row in rows]
    if not ids:
        raise NotScorable("there is no user to attack as; give records with users")
    attacker_id = ids.pop(len(ids) // 2)
    return World(plain, attacker_id, tuple(ids), _last_time(plain))


def _last_time(tables: Mapping[str, pa.Table]) -> datetime:
    times = [
        pc.max(table["created_at"]).cast(pa.timestamp("us")).as_py()
        for table in tables.values()
        if "created_at" in table.column_names and pa.types.is_timestamp(table["created_at"].type)
    ]
    known = [time.replace(tzinfo=None) for time in times if time is not None]
    return max(known, default=datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None))
