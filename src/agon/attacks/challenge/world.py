"""The honest network that an attacker enters, simulated or read from real records."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.attacks.tables import present_tables
from agon.disciplines.challenge.facts import Facts, read_facts
from agon.disciplines.challenge.records import SCHEMA
from agon.disciplines.challenge.simulate import MAX_MINERS, SimulatedNetwork, simulate_network
from agon.kernel.arrays import IntArray
from agon.records import Kind, Records, read_rows

DAYS = 14
"""Epochs in which the attacker can act; each is taken as a day."""

_FEWEST = 12
_LARGE = 1_000
_MAX_SUBMISSIONS = 4_000  # unless there are more miners


@dataclass(frozen=True)
class World:
    """A network before an attacker enters.

    Attributes:
        tables: its records; ids are text.
        facts: the same records as arrays.
        begin: the first epoch in which the attacker can act.
        end: the last one with honest activity, or with which a real network is followed.
        seed: seed of what honest validators measure of the attacker's agents.
    """

    tables: Mapping[str, pa.Table]
    facts: Facts
    begin: int
    end: int
    seed: int

    @cached_property
    def first_epochs(self) -> IntArray:
        """The epoch in which each submission was first evaluated; that of the end if never."""
        evaluations = self.facts.evaluations
        first = np.full(len(self.facts.submissions), self.end)
        np.minimum.at(first, evaluations.submissions, evaluations.epochs)
        return first

    @cached_property
    def competition(self) -> int:
        """The number of the competition with the most submissions: the attacker's."""
        return int(np.bincount(self.facts.submissions.competitions).argmax())

    @cached_property
    def stakes(self) -> npt.NDArray[np.float64]:
        """The stake of each validator in the end."""
        stakes = np.zeros(len(self.facts.validators))
        stakes[self.facts.stakes.validators] = self.facts.stakes.stakes
        return stakes

    @cached_property
    def disclosed(self) -> npt.NDArray[np.bool_]:
        """Whether the source of each submission is public; in records without any, all are."""
        table = self.tables["submissions"]
        known: set[str] = set()
        if "source" in table.column_names:
            known = set(table.filter(pc.is_valid(table["source"]))["id"].to_pylist())
        return np.array([not known or name in known for name in self.facts.submissions.ids])

    def source_of(self, submission: int) -> str | None:
        """Return the source that a submission discloses."""
        return self._text_of("source", submission)

    def hash_of(self, submission: int) -> str | None:
        """Return the hash of a submission's content; None: it is not in the records."""
        return self._text_of("content_hash", submission)

    def _text_of(self, column: str, submission: int) -> str | None:
        table = self.tables["submissions"]
        if column not in table.column_names:
            return None
        index = pc.index(table["id"], pa.scalar(self.facts.submissions.ids[submission]))
        text: str | None = table[column][index.as_py()].as_py()
        return text


def simulated_world(size: int, seed: int) -> World:
    """Return a network of ``size`` people; the attacker takes part in the last :data:`DAYS` epochs.

    √size of them, 6 to 16, are validators, and miners submit four agents each, with public
    sources. In a network of more than 1,000 people 8 are validators, and miners submit fewer and
    shorter agents, so that a lab takes minutes. A network has no more miners than seats.

    Raises:
        ValueError: there are fewer than twelve people.
    """
    if size < _FEWEST:
        raise ValueError(f"expected at least {_FEWEST} miners and validators, got {size}")
    validators = 8 if size > _LARGE else int(np.clip(round(size**0.5), 6, 16))
    miners = min(size - validators, MAX_MINERS)
    submissions = min(4 * miners, max(miners, _MAX_SUBMISSIONS))
    network = SimulatedNetwork(
        miners=miners,
        validators=validators,
        submissions=submissions,
        sources=submissions,
        lines=6 if size > _LARGE else 30,
    )
    world = _world(simulate_network(network, seed=seed).tables, seed)
    end = world.facts.last_epoch
    begin = max(int(world.facts.epochs[0]) + 1, end - DAYS + 1)
    return World(world.tables, world.facts, begin, end, seed)


def observed_world(records: Records, seed: int) -> World:
    """Return a real network that the attacker enters after its last epoch.

    Its validators report nothing new but what they measure of the attacker's agents.
    """
    world = _world(present_tables(records, SCHEMA), seed)
    last = world.facts.last_epoch
    return World(world.tables, world.facts, last + 1, last + DAYS, seed)


def _world(tables: Mapping[str, pa.Table], seed: int) -> World:
    as_text = {name: _with_text_ids(name, table) for name, table in tables.items()}
    with read_rows(SCHEMA, as_text) as records:
        return World(as_text, read_facts(records), 0, 0, seed)


def _with_text_ids(name: str, table: pa.Table) -> pa.Table:
    """Return a table whose ids are text, as those of the attacker are."""
    ids = {c.name for t in SCHEMA if t.name == name for c in t.columns if c.kind == Kind.ID}
    for column in ids & set(table.column_names):
        index = table.column_names.index(column)
        table = table.set_column(index, column, table[column].cast(pa.string()))
    return table
