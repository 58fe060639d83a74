"""Cache what is computed per submission, so that one more of them does not need a full read.

A row never changes and is identified by its number: texts are numbered once, sources are hashed
once, and the next scoring reads only new rows.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.dojo.canonical import canonicalize, length, source_hash
from agon.disciplines.dojo.records import VERDICTS
from agon.kernel.boards import id_order
from agon.records import Records

Ints = npt.NDArray[np.int64]
_Result = TypeVar("_Result")
_Text = TypeVar("_Text", bound=str | None)

SOURCES_KEPT = 100_000
"""Maximum number of sources whose results are cached, for all records together."""

_MAX_PIECES = 64
_NUMBERS = (
    "row", "filed", "problem", "user", "tag", "created", "l_chars", "verdict", "matched", "source",
)  # fmt: skip
_TEXTS = ("id", "hash", "recorded", "notes")
_CODES = " ".join(f"WHEN '{verdict}' THEN {code}" for code, verdict in enumerate(VERDICTS))


class CachedTexts(Sequence[_Text], Generic[_Text]):
    """A view of some rows of a column of texts, in an order; each is converted on access.

    Example:
        >>> texts = CachedTexts(pa.chunked_array([["a", "b"]]), np.array([1, 0, 1]))
        >>> len(texts), texts[0], list(texts)
        (3, 'b', ['b', 'a', 'b'])
    """

    def __init__(self, column: pa.ChunkedArray, rows: Ints) -> None:
        self._column = column
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> _Text: ...
    @overload
    def __getitem__(self, at: slice) -> "CachedTexts[_Text]": ...
    def __getitem__(self, at: int | slice) -> "_Text | CachedTexts[_Text]":
        if isinstance(at, slice):
            return CachedTexts(self._column, self._rows[at])
        text: _Text = self._column[int(self._rows[at])].as_py()
        return text

    def __iter__(self) -> Iterator[_Text]:
        return iter(self.all().to_pylist())

    def all(self) -> pa.Array:
        """Return the texts as Arrow."""
        return self._take(self._rows)

    def take(self, places: Ints) -> pa.Array:
        """Return the texts at some indices as Arrow."""
        return self._take(self._rows[places])

    def _take(self, rows: Ints) -> pa.Array:
        taken = self._column.take(pa.array(rows))
        return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken


class CachedNames:
    """A map of texts to numbers in order of first appearance; an empty one is -1."""

    def __init__(self) -> None:
        self.texts = pa.array([], pa.string())
        self._places: Ints | None = None

    def numbers(self, column: pa.Array) -> Ints:
        """Return the numbers of texts, and assign numbers to new ones."""
        encoded = column.dictionary_encode()
        indices = pc.index_in(encoded.dictionary, value_set=self.texts)
        new = encoded.dictionary.filter(pc.is_null(indices))
        if len(new):
            self.texts = pa.concat_arrays([self.texts, new])
            self._places = None
            indices = pc.index_in(encoded.dictionary, value_set=self.texts)
        numbers = indices.to_numpy(zero_copy_only=False).astype(np.int64)
        places = pc.fill_null(encoded.indices, -1).to_numpy()
        return np.append(numbers, -1)[places]

    @property
    def places(self) -> Ints:
        """Return each text's position in id order."""
        if self._places is None:
            self._places = id_order(self.texts)
        return self._places


class SubmissionCache:
    """The columns of the submissions read so far, in order of arrival: created_at, hash, id.

    Attributes:
        numbers: columns by name: ``row`` (the number of the row), ``filed`` (the index in each of
            ``texts``), ``problem``, ``user`` and ``tag`` (in ``names``), ``created``, ``l_chars``,
            ``verdict`` (in ``VERDICTS``), ``matched`` (-1: not recorded), ``source`` (in
            ``sources``; -1: none).
        texts: ``id``, ``hash`` (the source's own where it is recorded), ``recorded``, ``notes``, in
            the order in which they were read.
        sources: the distinct sources.
    """

    def __init__(self) -> None:
        none: Ints = np.zeros(0, dtype=np.int64)
        self.numbers: dict[str, npt.NDArray[Any]] = dict.fromkeys(_NUMBERS, none)
        self.texts = dict.fromkeys(_TEXTS, pa.chunked_array([[]], pa.string()))
        self.names = {name: CachedNames() for name in ("problem", "user", "tag")}
        self.sources: list[str] = []
        self._source: dict[bytes, int] = {}
        self._hashes: list[str] = []
        self._lengths: list[int] = []
        self._results: dict[Any, tuple[int, dict[int, Any]]] = {}

    def places(self, records: Records) -> Ints:
        """Return the ascending indices of the submissions in records; add new ones."""
        shown = records.sql("SELECT _row FROM submissions")["_row"].to_numpy()
        size = 1 + max(shown.max(initial=-1), self.numbers["row"].max(initial=-1))
        is_known = _marks(self.numbers["row"], size)
        new = shown[~is_known[shown]]
        if len(new):
            self._learn(records, np.sort(new))
        rows = self.numbers["row"]
        if len(shown) == len(rows):
            return np.arange(len(rows))
        return np.flatnonzero(_marks(shown, size)[rows])

    def check_sources(self, key: Any, look: Callable[[str], _Result | None]) -> dict[int, _Result]:
        """Return the result of a check of each source by its number; each is checked once.

        Args:
            key: the key of the check, with all it depends on except the source.
            look: checks a source; its result is cached.
        """
        done, results = self._results.get(key, (0, {}))
        for number in range(done, len(self.sources)):
            result = look(self.sources[number])
            if result:
                results[number] = result
        self._results[key] = len(self.sources), results
        return results

    def _learn(self, records: Records, rows: Ints) -> None:
        """Read the submissions of some rows, rising."""
        table = records.sql(f"""
            SELECT _row, id::VARCHAR AS id, problem_id::VARCHAR AS problem,
                user_id::VARCHAR AS user, epoch_us(created_at) AS created,
                CASE WHEN source <> chr(10) OR source_hash IS NULL OR l_chars IS NULL
                    THEN source END AS source, source_hash,
                coalesce(l_chars, 0) AS l_chars, method_tag AS tag, notes,
                coalesce(terms_matched, -1) AS matched,
                (CASE verdict {_CODES} END)::TINYINT AS verdict
            FROM submissions WHERE _row BETWEEN {rows[0]} AND {rows[-1]} ORDER BY _row
        """).combine_chunks()
        if table.num_rows > len(rows):
            table = table.filter(pa.array(np.isin(table["_row"].to_numpy(), rows)))
        source, hashes, lengths = self._read(_combine_chunks(table["source"]))
        named = {
            name: ids.numbers(_combine_chunks(table[name])) for name, ids in self.names.items()
        }
        filed = len(self.texts["id"]) + np.arange(len(rows))
        taken = ("created", "l_chars", "matched", "verdict")
        numbers = {name: table[name].to_numpy() for name in taken} | named
        numbers |= {"source": source, "row": rows, "filed": filed}
        numbers["l_chars"] = np.where(source >= 0, lengths, numbers["l_chars"])
        recorded = _combine_chunks(table["source_hash"])
        texts = {
            "id": _combine_chunks(table["id"]),
            "hash": pc.coalesce(hashes, recorded),
            "recorded": recorded,
            "notes": _combine_chunks(table["notes"]),
        }
        self._add(numbers, texts)

    def _read(self, column: pa.Array) -> tuple[Ints, pa.Array, Ints]:
        """Number sources; the other values are their hashes and lengths in canonical form."""
        encoded = column.dictionary_encode()
        numbers = np.array(
            [self._number(text) for text in encoded.dictionary.to_pylist()], np.int64
        )
        places = pc.fill_null(encoded.indices, -1).to_numpy()
        source = np.append(numbers, -1)[places]
        own = pa.array([self._hashes[number] for number in numbers], pa.string())
        lengths = np.array([self._lengths[number] for number in numbers] + [0], dtype=np.int64)
        return source, own.take(encoded.indices), lengths[places]

    def _number(self, source: str) -> int:
        key = blake2b(source.encode(errors="surrogatepass"), digest_size=16).digest()
        number = self._source.setdefault(key, len(self.sources))
        if number == len(self.sources):
            of_source, size = _canonical(source)
            self.sources.append(source)
            self._hashes.append(of_source)
            self._lengths.append(size)
        return number

    def _add(self, numbers: dict[str, npt.NDArray[Any]], texts: dict[str, pa.Array]) -> None:
        for name, text in texts.items():
            joined = pa.chunked_array([*self.texts[name].chunks, text])
            if joined.num_chunks > _MAX_PIECES:
                joined = pa.chunked_array([joined.combine_chunks()])
            self.texts[name] = joined
        known = len(self.numbers["row"])
        for name, added in numbers.items():
            self.numbers[name] = np.concatenate([self.numbers[name], added]) if known else added
        order = self._arrival(known)
        if (order[1:] < order[:-1]).any():
            self.numbers = {name: column[order] for name, column in self.numbers.items()}

    def _arrival(self, known: int) -> Ints:
        """Order submissions by created_at, source hash, id; the first ``known`` already are."""
        created, filed = self.numbers["created"], self.numbers["filed"]
        order: Ints = np.argsort(created, kind="stable")
        created, new = created[order], np.unique(created[known:])
        equal = created[1:] == created[:-1]
        tied = np.flatnonzero(np.append(equal, False) | np.insert(equal, 0, False))
        # Those known are in order among themselves: only new ones have ties to break.
        tied = tied[np.isin(created[tied], new)] if known else tied
        if len(tied):
            among = filed[order[tied]]
            hashes, ids = (
                CachedTexts[str](self.texts[name], among).all() for name in ("hash", "id")
            )
            places = pc.rank(hashes, sort_keys="ascending", tiebreaker="dense").to_numpy()
            order[tied] = order[tied][np.lexsort([id_order(ids), places, created[tied]])]
        return order


@lru_cache(maxsize=SOURCES_KEPT)
def _canonical(source: str) -> tuple[str, int]:
    """Return a source's hash and length in canonical form."""
    canonical = canonicalize(source.encode())
    return source_hash(canonical), length(canonical)


def _marks(numbers: Ints, size: int) -> npt.NDArray[np.bool_]:
    """Mark some of the numbers below a size."""
    marks = np.zeros(size, dtype=bool)
    marks[numbers] = True
    return marks


def _combine_chunks(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
