"""The honest season that an attacker acts in, simulated or read from real records."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agon.attacks.tables import present_tables, without_dictionaries
from agon.disciplines import discipline
from agon.disciplines.dojo.records import SCHEMA
from agon.disciplines.dojo.rules import DojoRules
from agon.disciplines.dojo.simulate import simulate
from agon.errors import NotScorable, Unreadable
from agon.records import Records, read_rows

DAYS = 7
"""Days in which the attacker acts: the last ones of the honest submissions."""

_SMALLEST = 10
_SUBMISSIONS = 20


@dataclass(frozen=True)
class AttackProgram:
    """A reward-correct program.

    Attributes:
        source: its text.
        tag: the method tag that its author declared, None without one.
    """

    source: str
    tag: str | None


@dataclass(frozen=True)
class World:
    """A season before the attack, with the honest submissions of its last days.

    Attributes:
        tables: its records.
        attacker_id: the user who attacks: the one in the middle of the season's board under the
            reference rules.
        users: all others with a score, in the order of the board.
        end: time of the last honest submission.
    """

    tables: Mapping[str, pa.Table]
    attacker_id: str
    users: tuple[str, ...]
    end: datetime

    @property
    def begin(self) -> datetime:
        """The time from which the attacker acts."""
        return self.end - timedelta(days=DAYS)

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """The problems that take submissions until the end."""
        table = self.tables["problems"]
        rows = zip(
            table["id"].cast(pa.string()).to_pylist(), self._times("freeze_started_at"), strict=True
        )
        return tuple(name for name, freeze in rows if freeze is None or freeze > self.end)

    @cached_property
    def solved(self) -> Mapping[str, Mapping[str, AttackProgram]]:
        """The first reward-correct program of each user on each problem before the attack."""
        begin = pa.scalar(self.begin, pa.timestamp("us"))
        table = self.tables["submissions"]
        early = table.filter(pc.less(_plain_times(table["created_at"]), begin))
        right = early.filter(pc.equal(early["verdict"].cast(pa.string()), "ok"))
        solved: dict[str, dict[str, AttackProgram]] = {}
        for row in right.sort_by("created_at").to_pylist():
            if source := row.get("source"):
                programs = solved.setdefault(str(row["user_id"]), {})
                program = AttackProgram(source, row.get("method_tag"))
                programs.setdefault(str(row["problem_id"]), program)
        return solved

    def terms_of(self, problem: str) -> int:
        """Return the number of terms that a program has to give, as published."""
        table = self.tables["problems"]
        if "n_check" not in table.column_names:
            return DojoRules().n_check
        ids = table["id"].cast(pa.string()).to_pylist()
        return table["n_check"].to_pylist()[ids.index(problem)] or DojoRules().n_check

    def honest_submissions(self, until: datetime) -> pa.Table:
        """Return the submissions of all others by a time, and the attacker's before the attack."""
        table = self.tables["submissions"]
        times = _plain_times(table["created_at"])
        is_early = pc.less_equal(times, pa.scalar(until, pa.timestamp("us")))
        return table.filter(is_early)

    def _times(self, column: str) -> list[datetime | None]:
        table = self.tables["problems"]
        if column not in table.column_names:
            return [None] * table.num_rows
        times: list[datetime | None] = _plain_times(table[column]).to_pylist()
        return times


def simulated_world(size: int, seed: int) -> World:
    """Return a simulated season of ``size`` honest users, with 20 submissions each on average.

    Raises:
        ValueError: the size is below 10, too small for a season.
    """
    if size < _SMALLEST:
        raise ValueError(f"expected at least {_SMALLEST} users, got {size}")
    return _world(simulate(size=_SUBMISSIONS * size, seed=seed).tables)


def observed_world(records: Records, _: int) -> World:
    """Return a real season."""
    return _world(present_tables(records, SCHEMA))


def _world(tables: Mapping[str, Any]) -> World:
    plain = without_dictionaries(tables)
    with read_rows(SCHEMA, plain) as records:
        rows = discipline("dojo").score(records, DojoRules()).board("season").rows()
    ids = [str(row["id"]) for row in rows]
    if not ids:
        raise NotScorable("there is no user to attack as; give records with submissions")
    attacker_id = ids.pop(len(ids) // 2)
    end = pc.max(_plain_times(plain["submissions"]["created_at"])).as_py()
    world = World(plain, attacker_id, tuple(ids), end)
    if not any(world.solved.values()):
        raise Unreadable(
            "the records have no source of a reward-correct program, which attackers copy and "
            "change; give the column source of submissions"
        )
    return world


def _plain_times(column: Any) -> Any:
    """Return times in UTC without a zone."""
    if pa.types.is_timestamp(column.type) and column.type.tz:
        return column.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))
    return column.cast(pa.timestamp("us"))
