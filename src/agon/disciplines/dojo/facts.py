"""Take from the tables what the dojo's formulas need: one row of arrays per submission."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.dojo.known import Known, Texts
from agon.disciplines.dojo.payload import Payload, measure
from agon.disciplines.dojo.program import Program, Violation, parse
from agon.disciplines.dojo.records import VERDICTS
from agon.kernel.boards import id_order
from agon.records import Records

Ints = npt.NDArray[np.int64]
Objects = npt.NDArray[np.object_]

NEVER = np.iinfo(np.int64).max
"""The freeze of a problem that does not freeze, in microseconds since 1970."""

OK = VERDICTS.index("ok")
"""The number of the verdict ``ok``."""

_NO_INTS: Ints = np.zeros(0, dtype=np.int64)
_NO_TEXTS = pa.chunked_array([[]], pa.string())


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
        verdict: as recorded, numbered as in ``VERDICTS``.
        matched: length of the equal prefix; all terms (a huge number) for ``ok``, -1 where none
            is recorded.
        tag: place of the declared tag in ``tag_names``, -1 where none is.
        notes: as declared, None where nothing is.
        source: number of the source in ``known``, -1 where none is given.
        recorded_hashes: source hashes as recorded, None where none is.
        known: what is remembered of single submissions.
    """

    ids: Texts[str]
    problem: Ints
    user: Ints
    users: list[str]
    created: Ints
    hashes: Texts[str]
    l_chars: Ints
    verdict: Ints
    matched: Ints
    tag: Ints
    tag_names: list[str]
    notes: Texts[str | None]
    source: Ints
    recorded_hashes: Texts[str | None]
    known: Known

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def sources(self) -> list[str]:
        """List the distinct sources, as given."""
        return [self.known.sources[number] for number in self._numbers]

    @cached_property
    def source_of(self) -> Ints:
        """Return the place of each submission's source in :attr:`sources`, -1 where none is."""
        places = np.searchsorted(self._numbers, self.source)
        return np.where(self.source < 0, -1, places)

    @cached_property
    def _numbers(self) -> Ints:
        return np.unique(self.source[self.source >= 0])


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
    known: Known = records.remembered.setdefault("dojo", Known())
    rows = known.places(records)
    numbered, ids = known.names["problem"].texts, pa.array(problems.ids, pa.string())
    places = pc.fill_null(pc.index_in(numbered, value_set=ids), -1).to_numpy()
    if (places < 0).any():
        rows = rows[places[known.numbers["problem"][rows]] >= 0]
    rows = rows[_arrival(known, rows)]
    numbers = {name: _taken(column, rows) for name, column in known.numbers.items()}
    users, user = _users(known, numbers["user"]) if len(rows) else ([], _NO_INTS)
    verdict, matched = numbers.get("verdict", _NO_INTS), numbers.get("matched", _NO_INTS)
    texts = {name: known.texts.get(name, _NO_TEXTS) for name in ("id", "hash", "notes", "recorded")}
    return Submissions(
        ids=Texts(texts["id"], rows),
        problem=places.astype(np.int64)[numbers["problem"]] if len(rows) else _NO_INTS,
        user=user,
        users=users,
        created=numbers.get("created", _NO_INTS),
        hashes=Texts(texts["hash"], rows),
        l_chars=numbers.get("l_chars", _NO_INTS),
        verdict=verdict,
        matched=np.where(verdict == OK, NEVER, matched),
        tag=numbers.get("tag", _NO_INTS),
        tag_names=known.names["tag"].texts.to_pylist(),
        notes=Texts(texts["notes"], rows),
        source=numbers.get("source", _NO_INTS),
        recorded_hashes=Texts(texts["recorded"], rows),
        known=known,
    )


def _taken(column: Any, rows: Ints) -> Any:
    """Take some rows of a column; without a copy where they are all of it, in its order."""
    whole = len(rows) == len(column) and (rows[1:] > rows[:-1]).all()
    return column if whole else column[rows]


def _users(known: Known, number: Ints) -> tuple[list[str], Ints]:
    """List the users among some numbers in id order, and give each number its place there."""
    names = known.names["user"]
    is_there = np.bincount(number, minlength=len(names.texts)) > 0
    in_order = np.argsort(names.places)
    there = in_order[is_there[in_order]]
    place = np.zeros(len(names.texts), dtype=np.int64)
    place[there] = np.arange(len(there))
    return names.texts.take(pa.array(there)).to_pylist(), place[number]


def _arrival(known: Known, rows: Ints) -> Ints:
    """Order submissions by created_at, source hash, id; few are created at the same moment."""
    created = _taken(known.numbers.get("created", _NO_INTS), rows)
    order: Ints = np.arange(len(rows))
    if (created[1:] < created[:-1]).any():
        order = np.argsort(created, kind="stable")
        created = created[order]
    equal = created[1:] == created[:-1]
    tied = np.flatnonzero(np.append(equal, False) | np.insert(equal, 0, False))
    if len(equal) and len(tied):
        among = rows[order[tied]]
        texts = Texts[str](known.texts["hash"], among).take(np.arange(len(among)))
        ids = Texts[str](known.texts["id"], among).take(np.arange(len(among)))
        places = pc.rank(texts, sort_keys="ascending", tiebreaker="dense").to_numpy()
        order[tied] = order[tied][np.lexsort([id_order(ids), places, created[tied]])]
    return order


def _texts(column: Any) -> list[Any]:
    return list(pc.cast(column, pa.string()).to_pylist())
