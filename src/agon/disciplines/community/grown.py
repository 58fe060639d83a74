"""A community that grew: what is stored of its earlier rows, and the added rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from agon.disciplines.community.facts import Facts, read_creators
from agon.disciplines.community.id_index import IdIndex
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.stored_ids import GrownIds, id_arrays
from agon.records import Records

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]
Arrays = Mapping[str, Any]
Number = TypeVar("Number", np.int32, np.int64)


def community_arrays(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of :class:`Grown`."""
    yield from id_arrays("users", facts.people)
    yield from id_arrays("prompts", facts.prompts)
    yield "creator", facts.creator


@dataclass(frozen=True)
class Grown:
    """What is stored of a community, and its added rows.

    Attributes:
        stored: arrays of what was counted, by name.
        rows: the added rows; of tables that they are joined with, all rows.
        rules: the rules of the stored counts.
    """

    stored: Arrays
    rows: Records
    rules: CommunityRules

    @cached_property
    def people(self) -> GrownIds:
        """Return the indices of the users."""
        return GrownIds(self.stored, "users", self.rows.sql("SELECT id FROM users")["id"])

    @cached_property
    def prompts(self) -> GrownIds:
        """Return the codes of the prompts."""
        return GrownIds(self.stored, "prompts", self._creators["id"])

    @cached_property
    def creator(self) -> ShortArray:
        """Return the index of each prompt's creator, −1 where unknown."""
        stored, added = self.stored["creator"], self.people.short_of(self._creators["creator"])
        return np.concatenate([stored, added], dtype=np.int32, casting="same_kind")

    @cached_property
    def _creators(self) -> Any:
        return read_creators(self.rows)

    def by_user(self, name: str) -> IntArray:
        """Return a stored count of each user, 0 of added ones."""
        return with_zeros(self.stored[name], len(self.people), np.int64)


def with_zeros(stored: Any, size: int, kind: type[Number]) -> npt.NDArray[Number]:
    """Return stored counts, as numbers of a kind, with zeros for what was added.

    Example:
        >>> with_zeros(np.array([3], dtype=np.int8), 2, np.int64).tolist()
        [3, 0]
    """
    counts = np.zeros(size, dtype=kind)
    counts[: len(stored)] = stored
    return counts


def grown_ids(stored: Arrays, name: str, ids: Any) -> IdIndex:
    """Return the codes of stored ids, and of those among some ids that are not stored."""
    sought = ids.unique().drop_null()
    new = GrownIds(stored, name, sought.slice(0, 0)).of(sought) < 0
    return GrownIds(stored, name, sought.filter(new))
