"""Compute the steps of histories: whose score differs between two states of a board."""

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
"""The reason of a step by which a participant leaves a board."""

_SCHEMA = pa.schema([("id", pa.string()), ("rank", pa.int64()), ("score", pa.float64())])


@dataclass(frozen=True)
class Ranking:
    """Ranks and scores of a board, without its other columns.

    Attributes:
        table: ``id``, ``rank``, ``score``, best first.
        unscored: reasons by id.
    """

    table: pa.Table = field(default_factory=_SCHEMA.empty_table)
    unscored: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, board: Board) -> "Ranking":
        """Keep the columns of a board that decide ranks, in types that published lines have too."""
        table = board.table.select(_SCHEMA.names).cast(_SCHEMA)
        return cls(table, {row.id: row.reason for row in board.unscored})

    @classmethod
    def from_lines(cls, lines: Sequence[bytes], unscored: Iterable[bytes]) -> "Ranking":
        """Return the ranking of a published board, read from its JSON lines."""
        reasons = {row["id"]: row["reason"] for row in map(orjson.loads, unscored)}
        if not lines:
            return cls(unscored=reasons)
        text = pa.BufferReader(b"\n".join(lines))
        options = arrow_json.ParseOptions(
            explicit_schema=_SCHEMA, unexpected_field_behavior="ignore"
        )
        # A line must fit in a block.
        blocks = arrow_json.ReadOptions(block_size=max(1 << 20, *map(len, lines)) + 1)
        return cls(arrow_json.read_json(text, read_options=blocks, parse_options=options), reasons)


def steps(before: Ranking, after: Ranking, *, seq: int, at: datetime) -> Iterator[HistoryStep]:
    """Yield a step for each participant whose score, or reason for having none, has changed.

    A changed rank alone is not a step: others caused it.

    Args:
        before: the board as it was published last.
        after: the board now.
        seq: the present position of the ledger.
        at: the ledger's time there.
    """
    old, new = before.table, after.table
    indexes = pc.index_in(new["id"], value_set=old["id"])
    same = pc.equal(old["score"].take(indexes), new["score"])
    moved = new.filter(pc.invert(pc.fill_null(same, fill_value=False)))
    columns = (moved[name].to_pylist() for name in _SCHEMA.names)
    for name, rank, score in zip(*columns, strict=True):
        yield HistoryStep(id=name, seq=seq, at=at, rank=rank, score=score)
    for name, reason in after.unscored.items():
        if before.unscored.get(name) != reason:
            yield _unscored_step(name, reason, seq=seq, at=at)
    dropped = old["id"].filter(pc.invert(pc.is_in(old["id"], value_set=new["id"]))).to_pylist()
    for name in [*dropped, *_missing(before.unscored, new["id"])]:
        if name not in after.unscored:
            yield _unscored_step(name, GONE, seq=seq, at=at)


def _missing(names: Mapping[str, str], present: Any) -> list[str]:
    """Return the names that are not among the ids present."""
    ids = pa.array(names, pa.string())
    return list(ids.filter(pc.invert(pc.is_in(ids, value_set=present))).to_pylist())


def _unscored_step(name: str, reason: str, *, seq: int, at: datetime) -> HistoryStep:
    return HistoryStep(id=name, seq=seq, at=at, rank=None, score=None, reason=reason)
