"""Index ids of which most are stored: earlier ids by their place on disk, added ones after them.

The cost of a lookup follows the ids that are sought: consecutive integers are stored as a range,
other integers are sought in order, and text is compared with what is sought.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.community.id_index import HashPlaces, IdIndex, Places, RangePlaces, integers

IntArray = npt.NDArray[np.int64]
Arrays = Mapping[str, Any]


def id_arrays(name: str, index: IdIndex) -> Iterator[tuple[str, Any]]:
    """Yield the arrays from which :class:`GrownIds` continues.

    Example:
        >>> arrays = dict(id_arrays("users", IdIndex(pa.array([4, 5, 6]))))
        >>> arrays["users_range"].tolist()
        [4, 3]
        >>> GrownIds(arrays, "users", pa.array([9])).of(pa.array([9, 8, 5])).tolist()
        [3, -1, 1]
    """
    if index.first is not None:
        yield f"{name}_range", np.array([index.first, len(index)])
    elif pa.types.is_integer(index.ids.type):
        numbers = integers(index.ids, empty=0)
        yield name, numbers
        if not (numbers[1:] > numbers[:-1]).all():
            yield f"{name}_order", np.argsort(numbers)
    else:
        yield name, index.ids


class GrownIds(IdIndex):
    """The index of stored ids, and of added ones after them.

    Attributes:
        earlier: the number of stored ids.
    """

    def __init__(self, arrays: Arrays, name: str, added: Any) -> None:
        """Continue from stored ids.

        Args:
            arrays: what is stored.
            name: of the ids there.
            added: ids that are not stored.
        """
        self._stored, self._added = _StoredIds(arrays, name), IdIndex(added)
        self.earlier = len(self._stored)
        self._places = self._all_places()

    def __len__(self) -> int:
        return self.earlier + len(self._added)

    @cached_property
    def ids(self) -> Any:
        """Return the ids, in index order."""
        return pa.concat_arrays([self._stored.ids, self._added.ids.cast(self._type)])

    @property
    def added(self) -> IntArray:
        """Return the indices of the added ids."""
        return np.arange(self.earlier, len(self))

    @property
    def _type(self) -> Any:
        return self._stored.type

    def _all_places(self) -> Places:
        places, added, earlier = self._stored.places, self._added, self.earlier
        if not len(added):
            return places
        if isinstance(places, RangePlaces) and added.first == places.low + earlier:
            return RangePlaces(places.low, len(self))

        def place(ids: pa.Array) -> npt.NDArray[Any]:
            all_places = places(ids).astype(np.int64)
            unknown = np.flatnonzero(all_places < 0)
            late = added.of(ids.take(pa.array(unknown)))
            all_places[unknown[late >= 0]] = late[late >= 0] + earlier
            return all_places

        return place


class _StoredIds:
    """Ids on disk: their type, their number and their places."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        ids: Any = arrays.get(name)
        ends = arrays.get(f"{name}_range")
        self.type: Any = ids.type if isinstance(ids, pa.Array) else pa.int64()
        self._ids = ids
        self.places: Places
        if ends is not None:
            self.places = RangePlaces(*ends.tolist())
        elif isinstance(ids, pa.Array):
            self.places = HashPlaces(ids)
        else:
            self.places = _SearchPlaces(ids, arrays.get(f"{name}_order"))

    def __len__(self) -> int:
        return self.places.size if isinstance(self.places, RangePlaces) else len(self._ids)

    @property
    def ids(self) -> pa.Array:
        if isinstance(self.places, RangePlaces):
            return pa.array(np.arange(self.places.size) + np.int64(self.places.low))
        return self._ids if isinstance(self._ids, pa.Array) else pa.array(self._ids, pa.int64())


class _SearchPlaces:
    """The places of integers on disk, which are sought by halves.

    Attributes:
        ids: the integers.
        order: their places in ascending order; None: they ascend.
    """

    def __init__(self, ids: Any, order: Any) -> None:
        self._ids, self._order = ids, order

    def __call__(self, ids: pa.Array) -> IntArray:
        numbers = integers(ids, empty=0)
        places = np.full(len(numbers), -1, dtype=np.int64)
        if not len(self._ids):
            return places
        # In order, because neighbors are then read from the same pages.
        rows = np.argsort(numbers)
        ordered = numbers[rows]
        # In their type: a number that it does not have is at no place in any case.
        at = np.searchsorted(self._ids, ordered.astype(self._ids.dtype), sorter=self._order)
        at = np.minimum(at, len(self._ids) - 1)
        if self._order is not None:
            at = self._order[at].astype(np.int64)
        places[rows] = np.where(self._ids[at] == ordered, at, -1)
        if ids.null_count:
            places[ids.is_null().to_numpy(zero_copy_only=False)] = -1
        return places
