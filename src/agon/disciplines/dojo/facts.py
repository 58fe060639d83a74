"""Take from the tables what the dojo's formulas need: one row of arrays per submission."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.dojo.canonical import canonicalize, length, source_hash
from agon.disciplines.dojo.payload import Payload, measure
from agon.disciplines.dojo.program import Program, Violation, parse
from agon.kernel.boards import id_order
from agon.records import Records

Ints = npt.NDArray[np.int64]
Objects = npt.NDArray[np.object_]

SOURCES_KEPT = 100_000
"""So many sources are remembered with what was read from them, for the next scoring."""

NEVER = np.iinfo(np.int64).max
"""The freeze of a problem that does not freeze, in microseconds since 1970."""


@dataclass(frozen=True)
class Problems:
    """Hold the problems in id order.

    Attributes:
        ids: ids as text.
        titles: titles, empty where none is given.
        setters: the setter's id as text, or None.
        n_check: terms to give; -1 where the problem does not say.
        freeze: microseconds since 1970, :data:`NEVER` where it does not freeze.
    """

    ids: list[str]
    titles: list[str]
    setters: list[str | None]
    n_check: Ints
    freeze: Ints


@dataclass(frozen=True)
class Submissions:
    """Hold the submissions in the order of arrival: created_at, source hash, id.

    Every array has one element per submission, in that order.

    Attributes:
        ids: ids as text.
        problem: place of the problem in :class:`Problems`.
        user: place of the user in ``users``.
        users: user ids as text, in id order.
        created: microseconds since 1970.
        hashes: source hashes, computed from the source where it is given.
        l_chars: bytes of canonical source.
        verdicts: as recorded.
        matched: length of the equal prefix; all terms (a huge number) for ``ok``, -1 where none
            is recorded.
        tags, notes: as declared, None where nothing is.
        source_of: place of the source in ``sources``, -1 where none is given.
        sources: the distinct sources, as given.
        recorded_hashes: source hashes as recorded, None where none is.
    """

    ids: list[str]
    problem: Ints
    user: Ints
    users: list[str]
    created: Ints
    hashes: list[str]
    l_chars: Ints
    verdicts: Objects
    matched: Ints
    tags: list[str | None]
    notes: list[str | None]
    source_of: Ints
    sources: list[str]
    recorded_hashes: list[str | None]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Facts:
    """Hold what scoring needs to know of problems and submissions."""

    problems: Problems
    submissions: Submissions


def collect(records: Records) -> Facts:
    """Collect the facts of a season; submissions to problems that are not there are left out."""
    problems = _problems(records)
    return Facts(problems, _submissions(records, problems))


def read_source(text: str, *, max_bytes: int, max_depth: int) -> Program | Violation:
    """Read a source as recorded; see :func:`agon.disciplines.dojo.program.parse`."""
    return parse(text.encode(), max_bytes=max_bytes, max_depth=max_depth)


def payload_of(text: str, *, max_bytes: int, max_depth: int) -> Payload | Violation:
    """Measure the literals of a source as recorded, or say why it cannot be read."""
    program = read_source(text, max_bytes=max_bytes, max_depth=max_depth)
    return program if isinstance(program, Violation) else measure(program)


def _problems(records: Records) -> Problems:
    table = records.arrow("problems")
    ids = pc.cast(table["id"], pa.string())
    table = table.take(np.argsort(id_order(ids)))
    freeze = pc.fill_null(pc.cast(table["freeze_started_at"], pa.int64()), NEVER)
    return Problems(
        ids=_texts(table["id"]),
        titles=[title or "" for title in table["title"].to_pylist()],
        setters=_texts(table["setter_user_id"]),
        n_check=pc.fill_null(table["n_check"], -1).to_numpy(),
        freeze=freeze.to_numpy(),
    )


def _submissions(records: Records, problems: Problems) -> Submissions:
    table = records.arrow("submissions")
    problem = pc.index_in(pc.cast(table["problem_id"], pa.string()),
                          value_set=pa.array(problems.ids, pa.string()))  # fmt: skip
    table = table.append_column("problem", problem).filter(pc.is_valid(problem))
    sources, source_of, hashes, lengths = _sources(table)
    created = pc.cast(table["created_at"], pa.int64()).to_numpy()
    order = _arrival(created, hashes, pc.cast(table["id"], pa.string()))
    table = table.take(order)
    user_ids = pc.cast(table["user_id"], pa.string())
    users = pc.unique(user_ids)
    users = users.take(np.argsort(id_order(users)))
    verdicts = np.array(table["verdict"].to_pylist(), dtype=object)
    matched = pc.fill_null(table["terms_matched"], -1).to_numpy()
    return Submissions(
        ids=_texts(table["id"]),
        problem=table["problem"].to_numpy().astype(np.int64),
        user=pc.index_in(user_ids, value_set=users).to_numpy().astype(np.int64),
        users=users.to_pylist(),
        created=created[order],
        hashes=hashes.take(pa.array(order)).to_pylist(),
        l_chars=lengths[order],
        verdicts=verdicts,
        matched=np.where(verdicts == "ok", NEVER, matched).astype(np.int64),
        tags=table["method_tag"].to_pylist(),
        notes=table["notes"].to_pylist(),
        source_of=source_of[order],
        sources=sources,
        recorded_hashes=table["source_hash"].to_pylist(),
    )


def _sources(table: Any) -> tuple[list[str], Ints, pa.Array, Ints]:
    """Give the distinct sources and, per submission, its source's place, hash and length."""
    encoded = pc.dictionary_encode(table["source"].combine_chunks())
    sources = encoded.dictionary.to_pylist()
    source_of = pc.fill_null(encoded.indices, -1).to_numpy().astype(np.int64)
    own = [_canonical(source) for source in sources]
    own_hashes = [of_source for of_source, _ in own]
    own_lengths = np.array([size for _, size in own], dtype=np.int64)
    place = pa.array(source_of, mask=source_of < 0)
    hashes = pc.coalesce(
        pa.array(own_hashes, pa.string()).take(place), _whole(table["source_hash"])
    )
    lengths = pc.fill_null(table["l_chars"], 0).to_numpy().copy()
    known = source_of >= 0
    if known.any():
        lengths[known] = own_lengths[source_of[known]]
    return sources, source_of, hashes, lengths


@lru_cache(maxsize=SOURCES_KEPT)
def _canonical(source: str) -> tuple[str, int]:
    """Give a source's hash and length in canonical form, once for all rescorings."""
    canonical = canonicalize(source.encode())
    return source_hash(canonical), length(canonical)


def _arrival(created: Ints, hashes: pa.Array, ids: Any) -> Ints:
    """Order submissions by created_at, source hash, id; few are created at the same moment."""
    order: Ints = np.argsort(created, kind="stable")
    equal = created[order][1:] == created[order][:-1]
    tied = np.flatnonzero(np.append(equal, False) | np.insert(equal, 0, False))
    if len(tied):
        rows = order[tied]
        texts = hashes.take(pa.array(rows))
        places = pc.rank(texts, sort_keys="ascending", tiebreaker="dense").to_numpy()
        id_places = id_order(_whole(ids).take(pa.array(rows)))
        order[tied] = rows[np.lexsort([id_places, places, created[rows]])]
    return order


def _whole(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _texts(column: Any) -> list[Any]:
    return list(pc.cast(column, pa.string()).to_pylist())
