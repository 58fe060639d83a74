"""Read the formulas' inputs from the tables: arrays with one row per submission."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.dojo.payload import ProgramPayload, measure
from agon.disciplines.dojo.program import ParsedProgram, Violation, parse
from agon.disciplines.dojo.records import VERDICTS
from agon.disciplines.dojo.submission_cache import CachedTexts, SubmissionCache
from agon.kernel.boards import id_order
from agon.records import Records

Ints = npt.NDArray[np.int64]
Objects = npt.NDArray[np.object_]

NEVER = np.iinfo(np.int64).max
"""The freeze of a problem that does not freeze, in microseconds since 1970."""

OK = VERDICTS.index("ok")


PROGRAMS_KEPT = 20_000
"""Maximum number of sources of which one fact is cached, for all records together."""


@dataclass(frozen=True)
class Problems:
    """The problems in id order.

    Attributes:
        ids: ids as text.
        titles: titles, empty where missing.
        setters: the setter's id as text, or None.
        n_check: number of terms; -1 where the problem has none.
        freeze: microseconds since 1970, :data:`NEVER` where it does not freeze.
    """

    ids: list[str]
    titles: list[str]
    setters: list[str | None]
    n_check: Ints
    freeze: Ints


@dataclass(frozen=True)
class Submissions:
    """The submissions in the order of arrival: created_at, source hash, id.

    Every array has one element per submission, in that order.

    Attributes:
        ids: ids as text.
        problem: index of the problem in :class:`Problems`.
        user: index of the user in ``users``.
        users: user ids as text, in id order.
        created: microseconds since 1970.
        freeze: when submissions of its user to its problem are late: the problem's freeze, or the
            end of the user's extra time where that is later.
        hashes: source hashes, computed from the source where it is recorded.
        l_chars: bytes of canonical source.
        verdict: as recorded, numbered as in ``VERDICTS``.
        matched: length of the equal prefix; all terms (a huge number) for ``ok``, -1 where none
            is recorded.
        tag: index of the declared tag in ``tag_names``, -1 where none is.
        notes: as declared, None where missing.
        source: number of the source in ``cache``, -1 where missing.
        recorded_hashes: source hashes as recorded, None where none is.
        cache: the columns and results cached per submission.
    """

    ids: CachedTexts[str]
    problem: Ints
    user: Ints
    users: list[str]
    created: Ints
    freeze: Ints
    hashes: CachedTexts[str]
    l_chars: Ints
    verdict: Ints
    matched: Ints
    tag: Ints
    tag_names: list[str]
    notes: CachedTexts[str | None]
    source: Ints
    recorded_hashes: CachedTexts[str | None]
    cache: SubmissionCache

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def sources(self) -> list[str]:
        """Return the distinct sources, as recorded."""
        return [self.cache.sources[number] for number in self._numbers]

    @cached_property
    def source_of(self) -> Ints:
        """Return the index of each submission's source in :attr:`sources`, -1 where missing."""
        places = np.searchsorted(self._numbers, self.source)
        return np.where(self.source < 0, -1, places)

    @cached_property
    def _numbers(self) -> Ints:
        return np.unique(self.source[self.source >= 0])


@dataclass(frozen=True)
class Facts:
    """The problems and submissions to score."""

    problems: Problems
    submissions: Submissions


def collect(records: Records) -> Facts:
    """Collect the facts of a season; submissions to problems that are not there are left out."""
    problems = _problems(records)
    return Facts(problems, _submissions(records, problems))


def read_source(text: str, *, max_bytes: int, max_depth: int) -> ParsedProgram | Violation:
    """Read a source as recorded; see :func:`agon.disciplines.dojo.program.parse`."""
    return parse(text.encode(), max_bytes=max_bytes, max_depth=max_depth)


@lru_cache(maxsize=PROGRAMS_KEPT)
def payload_of(text: str, *, max_bytes: int, max_depth: int) -> ProgramPayload | Violation:
    """Return the literals of a recorded source, or the reason why it cannot be parsed."""
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
    cache: SubmissionCache = records.caches.setdefault("dojo", SubmissionCache())
    rows = cache.places(records)
    numbered, ids = cache.names["problem"].texts, pa.array(problems.ids, pa.string())
    places = pc.fill_null(pc.index_in(numbered, value_set=ids), -1).to_numpy().astype(np.int64)
    # The cache may have read problems that these records do not show: frozen or later ones.
    if (places < 0).any():
        rows = rows[places[cache.numbers["problem"][rows]] >= 0]
    numbers = cache.numbers
    if len(rows) < len(numbers["row"]):
        numbers = {name: column[rows] for name, column in numbers.items()}
    texts: dict[str, Any] = {
        name: CachedTexts(column, numbers["filed"]) for name, column in cache.texts.items()
    }
    users, user = _users(cache, numbers["user"])
    return Submissions(
        ids=texts["id"],
        problem=places[numbers["problem"]],
        user=user,
        users=users,
        created=numbers["created"],
        freeze=np.maximum(problems.freeze[places[numbers["problem"]]], numbers["extended"]),
        hashes=texts["hash"],
        l_chars=numbers["l_chars"],
        verdict=numbers["verdict"],
        # A program that is right matches all terms, however many its problem has.
        matched=np.where(numbers["verdict"] == OK, NEVER, numbers["matched"]),
        tag=numbers["tag"],
        tag_names=cache.names["tag"].texts.to_pylist(),
        notes=texts["notes"],
        source=numbers["source"],
        recorded_hashes=texts["recorded"],
        cache=cache,
    )


def _users(cache: SubmissionCache, number: Ints) -> tuple[list[str], Ints]:
    """Return the users with some numbers in id order, and each number's index in it."""
    names = cache.names["user"]
    is_there = np.bincount(number, minlength=len(names.texts)) > 0
    in_order = np.argsort(names.places)
    there = in_order[is_there[in_order]]
    place = np.zeros(len(names.texts), dtype=np.int64)
    place[there] = np.arange(len(there))
    return names.texts.take(pa.array(there)).to_pylist(), place[number]


def _texts(column: Any) -> list[Any]:
    return list(pc.cast(column, pa.string()).to_pylist())
