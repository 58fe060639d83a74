"""Find whose score differs between two states of a board: the steps of everybody's history."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as arrow_json

from agon.entities.contests import HistoryStep
from agon.kernel.boards import Board

GONE = "no longer on the board"
"""The reason of a step by which somebody leaves a board altogether."""

_PLACES = pa.schema([("id", pa.string()), ("rank", pa.int64()), ("score", pa.float64())])


@dataclass(frozen=True)
class Places:
    """Hold a board without its own columns: who is where with which score, and who is nowhere.

    Attributes:
        table: ``id``, ``rank``, ``score``, best first.
        unscored: reasons by id.
    """

    table: pa.Table = field(default_factory=_PLACES.empty_table)
    unscored: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, board: Board) -> "Places":
        """Take the places of a board."""
        table = board.table.select(_PLACES.names).cast(_PLACES)
        return cls(table, {one.id: one.reason for one in board.unscored})

    @classmethod
    def read(cls, lines: Sequence[bytes], unscored: Iterable[bytes]) -> "Places":
        """Read the places of a published board from its JSON lines."""
        reasons = {one["id"]: one["reason"] for one in map(orjson.loads, unscored)}
        if not lines:
            return cls(unscored=reasons)
        text = pa.BufferReader(b"\n".join(lines))
        options = arrow_json.ParseOptions(
            explicit_schema=_PLACES, unexpected_field_behavior="ignore"
        )
        # A block holds whole lines, so no line may be longer than one.
        blocks = arrow_json.ReadOptions(block_size=max(1 << 20, *map(len, lines)) + 1)
        return cls(arrow_json.read_json(text, read_options=blocks, parse_options=options), reasons)


def steps(before: Places, after: Places, *, seq: int, at: datetime) -> Iterator[HistoryStep]:
    """Yield a step for everybody whose score, or reason for having none, is another than before.

    A changed rank alone is no step: others caused it.

    Args:
        before: the board as it was published last.
        after: the board now.
        seq: the position of the ledger that is now.
        at: the ledger's time there.
    """
    old, new = before.table, after.table
    places = pc.index_in(new["id"], value_set=old["id"])
    same = pc.equal(old["score"].take(places), new["score"])
    moved = new.filter(pc.invert(pc.fill_null(same, fill_value=False)))
    columns = (moved[name].to_pylist() for name in _PLACES.names)
    for name, rank, score in zip(*columns, strict=True):
        yield HistoryStep(id=name, seq=seq, at=at, rank=rank, score=score)
    for name, reason in after.unscored.items():
        if before.unscored.get(name) != reason:
            yield _unscored(name, reason, seq=seq, at=at)
    left = old["id"].filter(pc.invert(pc.is_in(old["id"], value_set=new["id"]))).to_pylist()
    for name in [*left, *_missing(before.unscored, new["id"])]:
        if name not in after.unscored:
            yield _unscored(name, GONE, seq=seq, at=at)


def _missing(names: Mapping[str, str], present: Any) -> list[str]:
    """Return those names that are not among the ids present."""
    asked = pa.array(names, pa.string())
    return list(asked.filter(pc.invert(pc.is_in(asked, value_set=present))).to_pylist())


def _unscored(name: str, reason: str, *, seq: int, at: datetime) -> HistoryStep:
    return HistoryStep(id=name, seq=seq, at=at, rank=None, score=None, reason=reason)
