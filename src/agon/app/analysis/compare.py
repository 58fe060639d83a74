"""Compare the boards of two sets of rules on the same records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.app.analysis.options import ReadingOptions, with_options
from agon.app.analysis.records import RecordsSource, read_records
from agon.app.analysis.score import Result, require_overrides, rules_of, score
from agon.entities.boards import Move
from agon.kernel.boards import Board, id_order
from agon.kernel.data_frames import pandas_frame, polars_frame
from agon.kernel.progress import count_steps
from agon.kernel.rounding import publish
from agon.kernel.statistics import kendall, spearman
from agon.kernel.text.text_tables import html_table, text_table

_SHOWN = 10
_MOVE_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("rank_before", pa.int64()),
        ("rank_after", pa.int64()),
        ("score_before", pa.float64()),
        ("score_after", pa.float64()),
        ("score_change", pa.float64()),
        ("rank_change", pa.int64()),
    ]
)


@dataclass(frozen=True)
class RuleSet:
    """The rules of one side: an edition (None: the default one) with overrides."""

    edition: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class UnmatchedParticipant:
    """An id that is on only one of the two boards.

    Attributes:
        rank, score: its rank and score there.
        reason: why it is unscored on the other board; None when its records do not have the id.
    """

    id: str
    rank: int
    score: float
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class Summary:
    """A comparison in a few numbers.

    Attributes:
        compared: ids on both boards.
        moved: those whose rank or score differs; ``share_moved`` their share of the compared.
        entered, dropped: ids on the right board only, on the left only.
        max_rank_change, max_score_change: the largest changes, without their sign.
        spearman, kendall: correlation (ρ, τ-b) of the two boards' ranks; None when it is not
            defined, with fewer than two ids or when one board gives all the same rank.
    """

    compared: int
    moved: int
    share_moved: float
    entered: int
    dropped: int
    max_rank_change: int
    max_score_change: float
    spearman: float | None
    kendall: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return dict(self.__dict__)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The differences between two states of one board.

    Attributes:
        board: the name of the board.
        moves: ids on both with another rank or score; the largest change of rank first, then
            of score, then by id.
        entered, dropped: ids on the new board only, on the old board only; best first.
        summary: the same in a few numbers.
    """

    board: str
    moves: tuple[Move, ...]
    entered: tuple[UnmatchedParticipant, ...]
    dropped: tuple[UnmatchedParticipant, ...]
    summary: Summary


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Difference):
    """The changes of one board when the left rules are replaced by the right ones.

    Attributes:
        left, right: the two results; ``old`` and ``new`` of a difference are their boards.
    """

    left: Result
    right: Result

    def _heading(self) -> str:
        summary = self.summary
        return (
            f"{self.board} · {self.left.rules_title} → {self.right.rules_title} · "
            f"{summary.moved:,} of {summary.compared:,} move, {summary.entered:,} enter, "
            f"{summary.dropped:,} drop off"
        )

    def _columns(self) -> list[tuple[str, list[str]]]:
        moves = self.moves[:_SHOWN]
        return [
            ("id", [str(move.id) for move in moves]),
            ("rank before", [str(move.rank_before) for move in moves]),
            ("rank after", [str(move.rank_after) for move in moves]),
            ("score before", [f"{move.score_before:.10g}" for move in moves]),
            ("score after", [f"{move.score_after:.10g}" for move in moves]),
        ]

    def __repr__(self) -> str:
        more = len(self.moves) - _SHOWN
        lines = [self._heading(), *([text_table(self._columns())] if self.moves else [])]
        return "\n".join([*lines, *([f"… {more:,} more"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        return html_table(self._columns(), self._heading())

    def to_arrow(self) -> pa.Table:
        """Return the moves as a pyarrow Table, a row for each id whose rank or score changed."""
        names = _MOVE_SCHEMA.names
        columns = {name: [getattr(move, name) for move in self.moves] for name in names}
        return pa.table(columns, _MOVE_SCHEMA)

    def to_polars(self) -> Any:
        """Return the moves as a polars DataFrame.

        Raises:
            Unavailable: polars is not installed (``pip install 'agon-engine[polars]'``).
        """
        return polars_frame(self.to_arrow())

    def to_pandas(self) -> Any:
        """Return the moves as a pandas DataFrame.

        Raises:
            Unavailable: pandas is not installed (``pip install 'agon-engine[pandas]'``).
        """
        return pandas_frame(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_dict(self, *, top: int | None = None) -> dict[str, Any]:
        """Return a plain value for JSON, with at most ``top`` moves."""
        common = self.left.provenance()
        return {
            "discipline": common["discipline"],
            "board": self.board,
            "as_of": common["as_of"],
            "records_sha256": common["records_sha256"],
            "left": _side(self.left, self.board),
            "right": _side(self.right, self.board),
            "rules": dict(changed_rules(self.left, self.right)),
            "notes": list(self.left.notes),
            "summary": self.summary.to_dict(),
            "moves": [move.to_dict() for move in self.moves[:top]],
            "entered": [participant.to_dict() for participant in self.entered],
            "dropped": [participant.to_dict() for participant in self.dropped],
        }


@with_options
def compare(
    discipline_name: str,
    records: RecordsSource,
    left: RuleSet | str | Mapping[str, Any] | None = None,
    right: RuleSet | str | Mapping[str, Any] | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    board: str | None = None,
    as_of: datetime | str | None = None,
    as_of_right: datetime | str | None = None,
    **reading: Unpack[ReadingOptions],
) -> Comparison:
    """Score the same records under two sets of rules, or at two times, and return what differs.

    Args:
        discipline_name: the name of the discipline.
        records: a source that :func:`agon.read_records` reads, such as a folder or a data frame.
        left: an edition's name, overrides of the reference edition, or a :class:`RuleSet` with
            both; None: the reference edition.
        right: the same for the other side; None: with ``overrides`` the rules of the left side.
        overrides: values of rules that replace those of the right side.
        board: which board (None: the discipline's default).
        as_of: leave out later records, on both sides.
        as_of_right: leave out later records than this on the right side; None: as on the left.
        columns, where, mapping, ignore, engine: how and where the source is read
            (:class:`agon.ReadingOptions`).

    Raises:
        NotFound, InvalidRule, InvalidRecords, Conflict, NotScorable: as ``score`` does.
        TypeError: a side is of another type.

    Example:
        >>> ignoring = {"self_feedback": "ignore"}
        >>> comparison = compare("community", "examples/tutorial", overrides=ignoring)
        >>> [(move.id, move.rank_change, move.score_change) for move in comparison.moves]
        [('ada', 0, -40.5)]
    """
    require_overrides(overrides)
    before_rules = _rule_set(left)
    after_rules = before_rules if right is None and overrides is not None else _rule_set(right)
    if overrides is not None:
        after_rules = RuleSet(after_rules.edition, {**after_rules.overrides, **overrides})
    sides = (before_rules, after_rules)
    for side in sides:  # a misspelled rule is an error before records are read
        rules_of(discipline_name, side.edition, side.overrides)
    read = read_records(discipline_name, records, **reading)
    results = []
    times = iter((as_of, as_of if as_of_right is None else as_of_right))
    for side in count_steps(sides, label="rules", total=len(sides)):
        result = score(
            discipline_name, read, edition=side.edition, overrides=side.overrides, as_of=next(times)
        )
        result.board(board)  # computed here, where it counts as part of the step
        results.append(result)
    before, after = results
    changes = difference(before.board(board), after.board(board))
    return Comparison(left=before, right=after, **changes.__dict__)


def _rule_set(side: RuleSet | str | Mapping[str, Any] | None) -> RuleSet:
    """Return the rules that a side of a comparison states.

    Raises:
        TypeError: it is none of the three.
    """
    if isinstance(side, RuleSet):
        return side
    if isinstance(side, Mapping):
        return RuleSet(overrides=side)
    if side is None or isinstance(side, str):
        return RuleSet(side)
    raise TypeError(f"a side is an edition's name, overrides as a dict, or a RuleSet; got {side!r}")


def difference(old: Board, new: Board) -> Difference:
    """Compare two states of one board: moves, ids that entered or dropped off, and a summary."""
    both_old, both_new, gone, come = _match_rows(old, new)
    return Difference(
        board=old.name,
        moves=tuple(_moves(old, both_old, both_new)),
        entered=tuple(_unmatched_rows(come, old)),
        dropped=tuple(_unmatched_rows(gone, new)),
        summary=_summary(old, both_old, both_new, entered=len(come), dropped=len(gone)),
    )


def changed_rules(left: Result, right: Result) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rules that differ between two results: name, ``{"left": …, "right": …}``."""
    old, new = (result.rules.model_dump(mode="json") for result in (left, right))
    for name, value in old.items():
        if value != new[name]:
            yield name, {"left": value, "right": new[name]}


def _side(result: Result, board: str) -> dict[str, Any]:
    return {
        "edition": result.edition.name,
        "as_of": result.provenance()["as_of"],
        "rules_sha256": result.rules_sha256,
        "board_sha256": result.board(board).sha256,
    }


_COLUMNS = ["id", "rank", "score"]


def _match_rows(old: Board, new: Board) -> tuple[pa.Table, pa.Table, pa.Table, pa.Table]:
    """Return the rows on both boards (old values, new values), on the old only, on the new only."""
    before, after = old.table.select(_COLUMNS), new.table.select(_COLUMNS)
    places = pc.index_in(before["id"], value_set=after["id"])
    both = pc.is_valid(places)
    come = after.filter(pc.invert(pc.is_in(after["id"], value_set=before["id"])))
    return (
        before.filter(both),
        after.take(pc.drop_null(places)),
        before.filter(pc.invert(both)),
        come,
    )


def _changes(places: int, old: pa.Table, new: pa.Table) -> tuple[Any, Any]:
    """Return the changes of rank and, on the published grid, of score."""
    ranks = old["rank"].to_numpy() - new["rank"].to_numpy()
    return ranks, np.round(new["score"].to_numpy() - old["score"].to_numpy(), places)


def _moves(board: Board, old: pa.Table, new: pa.Table) -> Iterator[Move]:
    ranks, scores = _changes(board.places, old, new)
    order = np.lexsort([id_order(old["id"]), -np.abs(scores), -np.abs(ranks)])
    order = order[(ranks[order] != 0) | (scores[order] != 0)]
    rows = zip(
        old["id"].take(pa.array(order)).to_pylist(),
        *(table[name].to_numpy()[order].tolist() for name in ("rank", "score")
          for table in (old, new)),
        scores[order].tolist(),
        strict=True,
    )  # fmt: skip
    for row in rows:
        yield Move(*row)


def _unmatched_rows(table: pa.Table, other: Board) -> Iterator[UnmatchedParticipant]:
    reasons = {item.id: item.reason for item in other.unscored}
    for row in table.to_pylist():
        yield UnmatchedParticipant(row["id"], row["rank"], row["score"], reasons.get(row["id"]))


def _summary(board: Board, old: pa.Table, new: pa.Table, *, entered: int, dropped: int) -> Summary:
    ranks, scores = _changes(board.places, old, new)
    compared = int(old.num_rows)
    moved = int(np.count_nonzero((ranks != 0) | (scores != 0)))
    before, after = (table["rank"].to_numpy().astype(float) for table in (old, new))
    defined = compared > 1 and bool(np.ptp(before) and np.ptp(after))
    return Summary(
        compared=compared,
        moved=moved,
        share_moved=moved / compared if compared else 0.0,
        entered=entered,
        dropped=dropped,
        max_rank_change=int(np.abs(ranks).max(initial=0)),
        max_score_change=float(np.abs(scores).max(initial=0.0)),
        spearman=publish(spearman(before, after, confidence=0.95).value) if defined else None,
        kendall=publish(kendall(before, after)) if defined else None,
    )
