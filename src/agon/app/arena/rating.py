"""Rate the bots of an arena by a named method, with confidence intervals on request."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack, get_args

import pyarrow as pa
import pyarrow.compute as pc

from agon.app.analysis.options import ReadingOptions, with_options
from agon.app.analysis.records import RecordsSource
from agon.app.analysis.score import Result, overrides_of, require_overrides, rules_of, score
from agon.app.arena.anchors import Anchors, HeldAnchors, anchors_of, caption_of, hold
from agon.app.arena.counted import counted_board
from agon.app.arena.elo_intervals import with_elo_intervals
from agon.app.arena.scored import arena_of
from agon.disciplines.arena.alike_names import alike_note
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import ScoredArena
from agon.editions.titles import rules_title
from agon.errors import Conflict, NotFound, NotScorable, did_you_mean
from agon.kernel.boards import Board
from agon.kernel.explanations import Explanation
from agon.records.names.mapping import source_mapping
from agon.records.sources.memory import arrow_table

if TYPE_CHECKING:  # ratings do not wait for the modules of their charts
    from agon.app.charts import Chart

RatingMethod = Literal["elo", "bradley-terry"]
"""The methods of :func:`rate`."""
METHODS: Final[tuple[RatingMethod, ...]] = get_args(RatingMethod)
_BOARDS: Final = {"elo": "bots", "bradley-terry": "bradley-terry"}
_TITLES: Final = {"elo": "Elo ratings", "bradley-terry": "Bradley–Terry ratings"}
_INTERVAL: Final = (
    "low", "high", "rank_low", "rank_high", "tier", "gap", "gap_low", "gap_high", "apart",
    "votes_needed",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class RatingTable:
    """Ratings of bots by one method; a data frame library reads it (``__arrow_c_stream__``).

    Attributes:
        method: ``elo`` or ``bradley-terry``.
        read: returns the scored records, which are read when they are asked for first.
        rules_title: the edition and the overrides in force.
        board: ``rank``, ``id``, ``score`` and, with intervals, ``low`` and ``high``.
        anchors: the ratings stated for bots, and the shift or the fit that gives them; None: there
            are none.
        parts: the board of each value of a column of the matches, side by side with the whole; for
            a value without a board, why.
    """

    method: RatingMethod
    read: Callable[[], Result]
    rules_title: str
    board: Board
    anchors: Anchors | HeldAnchors | None = None
    parts: Mapping[str, Board | str] = field(default_factory=dict)

    @cached_property
    def result(self) -> Result:
        """The scored records, for explanations, findings and other boards."""
        return self.read()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided when the records were imported, and what limits the ratings."""
        missing = (
            f"{value}: no board: {part}"
            for value, part in self.parts.items()
            if isinstance(part, str)
        )
        listed = [*self.board.table["id"].to_pylist(), *(each.id for each in self.board.unscored)]
        alike = alike_note(map(str, listed))
        named = () if alike is None else (alike,)
        return (*self.result.records.notes, *named, *self.board.notes, *missing)

    @property
    def has_intervals(self) -> bool:
        """Whether there are intervals."""
        return "low" in self.board.table.column_names

    def explain(self, name: str) -> Explanation:
        """Explain a bot's rating, every part with inputs, rules, points and records.

        Raises:
            NotFound: there is no such bot.
        """
        if isinstance(self.anchors, HeldAnchors):
            return self.anchors.explain(str(name))
        explanation = self.result.explain(name, board=self.board.name)
        if self.anchors is None or explanation.score is None:
            return explanation
        return self.anchors.extend_explanation(explanation, self.board.row(str(name)))

    def plot(self, kind: Literal["ratings", "wins"] = "ratings") -> "Chart":
        """Return a chart: the ratings with their intervals, or the win rates of every pair.

        Raises:
            NotFound: there is no chart of that kind.
        """
        from agon.app.charts import Chart, interval_chart, win_matrix
        from agon.app.charts.intervals import MAX_ROWS
        from agon.app.charts.matrix import MAX_NAMES

        if kind == "ratings":
            text = interval_chart(
                self.board.rows(top=MAX_ROWS),
                total=len(self.board),
                title=_TITLES[self.method],
                subtitle=self._subtitle(),
            )
        elif kind == "wins":
            names = [str(row["id"]) for row in self.board.rows(top=MAX_NAMES)]
            text = win_matrix(
                names, _pairs(self.result), title="Win rates",
                subtitle="row against column, percent; a tie is half a win",
            )  # fmt: skip
        else:
            raise NotFound(f"there is no chart {kind!r}: {did_you_mean(kind, ('ratings', 'wins'))}")
        return Chart(text)

    def rows(self, *, top: int | None = None) -> list[dict[str, Any]]:
        """Return the ratings as plain dicts, best first."""
        return self.board.rows(top=top)

    def to_arrow(self) -> pa.Table:
        """Return the ratings as a pyarrow Table."""
        return self.board.to_arrow()

    def to_polars(self) -> Any:
        """Return the ratings as a polars DataFrame."""
        return self.board.to_polars()

    def to_pandas(self) -> Any:
        """Return the ratings as a pandas DataFrame."""
        return self.board.to_pandas()

    def _subtitle(self) -> str:
        caption = f" · {self.board.caption}" if self.board.caption else ""
        return f"{self.rules_title}{caption}"

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.board.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.board)

    def __repr__(self) -> str:
        notes = "".join(f"\nnote: {note}" for note in self.notes)
        return f"{_TITLES[self.method]} · {self._subtitle()}\n{self.board.to_text()}{notes}"

    def _repr_html_(self) -> str:
        return self.board._repr_html_()


@with_options
def rate(  # noqa: PLR0913 (each is a choice of the caller, by keyword)
    records: RecordsSource,
    *,
    method: RatingMethod = "elo",
    interval: bool = False,
    anchor: Mapping[str, float] | None = None,
    control: Iterable[str] = (),
    by: str | None = None,
    edition: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    as_of: datetime | str | None = None,
    **reading: Unpack[ReadingOptions],
) -> RatingTable:
    """Rate the bots of an arena by a method, with or without intervals.

    Bradley–Terry intervals are those of its board. Elo's are percentiles of the ratings of
    ``bootstrap_rounds`` arenas, each of as many matches drawn with replacement from the rated
    ones and played in the same order; the matches' order is taken as given, so the interval is
    about opponents and outcomes, at the level of the rule ``confidence``.

    Args:
        records: arena records, a folder, or a data frame or file of battles with ``model_a``,
            ``model_b`` and ``winner`` (or ``wins_a``, ``wins_b`` and ``ties``, or ``share_a`` and
            ``matches``); all that :func:`agon.read_records` reads.
        method: ``elo`` (in order of play) or ``bradley-terry`` (over all matches at once).
        interval: whether to compute intervals.
        anchor: ratings stated for bots, by id. One shifts all ratings; several are held by
            Bradley–Terry while the other bots are rated, and shift Elo by their mean distance.
        control: styles that Bradley–Terry ratings are controlled for (rule ``control``): columns
            ``NAME_a`` and ``NAME_b``, or ``NAME``, or length, headers, lists, bold and code of the
            responses.
        by: a column of the matches; there is a board for each value of it beside the whole.
        edition: the edition (None: the reference edition).
        overrides: values of rules that replace the edition's.
        as_of: leave out later records.
        columns, where, mapping, ignore, engine: how and where a source is read
            (:class:`agon.ReadingOptions`).

    Raises:
        NotFound: there is no such method, edition or source, or no rating of an anchor.
        Conflict: there are controls of another method than Bradley–Terry.
        InvalidRule, InvalidRecords, NotScorable, Unreadable: as ``score`` does.

    Example:
        >>> battles = [{"left": "ann", "right": "bob", "winner": "a"},
        ...            {"left": "bob", "right": "ann", "winner": "tie"}]
        >>> ratings = rate(battles, columns={"model_a": "left", "model_b": "right"})
        >>> [(row["id"], row["score"]) for row in ratings.rows()]
        [('ann', 1015.0), ('bob', 985.0)]
    """
    if method not in METHODS:
        raise NotFound(f"there is no method {method!r}: {did_you_mean(method, METHODS)}")
    require_overrides(overrides)
    rules = _Rules(edition, _with_controls(overrides, control, method=method), as_of)
    held = isinstance(anchor, Mapping) and len(anchor) > 1
    made = _rate(records, method, rules, by=by, by_rows=held, **reading)
    if by is not None:
        return _by_column(made, by, anchor, interval=interval)
    anchored = _with_held_anchors if held and method == "bradley-terry" else _with_anchor
    return anchored(made, anchor, interval=interval)


@dataclass(frozen=True)
class _Rules:
    """The rules of a rating, and the time by which records are seen."""

    edition: str | None
    overrides: Mapping[str, Any] | None
    as_of: datetime | str | None


def _rate(
    records: RecordsSource,
    method: RatingMethod,
    chosen: _Rules,
    *,
    by: str | None,
    by_rows: bool,
    **reading: Unpack[ReadingOptions],
) -> RatingTable:
    """Return ratings with intervals and without anchors.

    Bradley–Terry needs no more than the outcomes of every pair: those of battles are counted at
    once where nothing asks for single rows, and the records are read when they are asked for.
    """
    released, rules = rules_of("arena", chosen.edition, chosen.overrides)
    title = rules_title(released.full_name, overrides_of(released, rules))
    mapping = source_mapping(reading.get("mapping"))
    if by is not None:
        mapping = mapping.with_kept({f"matches.{by}": "text"})
    reading["mapping"] = mapping
    by_rows = by_rows or bool(by or chosen.as_of)
    by_rows = by_rows or any(map(reading.get, ("where", "engine", "ignore")))
    counts = method == "bradley-terry" and not by_rows
    if counts and hasattr(records, "__arrow_c_stream__"):
        records = arrow_table("arena-battles", records)
    read = partial(score, "arena", records, **vars(chosen), **reading)
    if counts and isinstance(records, pa.Table) and isinstance(rules, ArenaRules):
        board = counted_board(records, rules, mapping=mapping.with_columns(reading.get("columns")))
        if board is not None:
            return RatingTable(method, read, title, board)
    result = read()
    return RatingTable(method, lambda: result, title, result.board(_BOARDS[method]))


def _with_held_anchors(
    made: RatingTable, anchor: Mapping[str, float] | None, *, interval: bool
) -> RatingTable:
    """Return ratings that are fitted while those of several bots are held."""
    scored = arena_of(made.result.scored)
    held = hold(
        made.board,
        anchor,
        bots=scored.bots,
        standings=scored.standings,
        strengths=scored.strengths,
        rules=scored.rules,
    )
    shown = held.board if interval else _without_intervals(held.board)
    return replace(made, board=shown, anchors=held)


def _with_anchor(
    made: RatingTable, anchor: Mapping[str, float] | None, *, interval: bool
) -> RatingTable:
    """Return ratings with or without intervals, shifted to an anchor where there is one."""
    board = made.board
    if interval and made.method == "elo":
        board = with_elo_intervals(board, arena_of(made.result.scored))
    elif not interval:
        board = _without_intervals(board)
    if anchor is None:
        return replace(made, board=board)
    anchors = anchors_of(board, anchor)
    return replace(made, board=anchors.shift_board(board), anchors=anchors)


def _with_controls(
    overrides: Mapping[str, Any] | None, control: Iterable[str], *, method: str
) -> Mapping[str, Any] | None:
    """Return values of rules with the stated controls."""
    names = [control] if isinstance(control, str) else [str(name) for name in control]
    if names and method != "bradley-terry":
        raise Conflict(f"{method} has no controls; rate by method bradley-terry")
    return {**(overrides or {}), "control": ",".join(names)} if names else overrides


def _by_column(
    made: RatingTable, by: str, anchor: Mapping[str, float] | None, *, interval: bool
) -> RatingTable:
    """Return the ratings of all matches with a board for each value of a column.

    Raises:
        Conflict: there are anchors, or intervals of Elo.
    """
    if anchor is not None or (interval and made.method == "elo"):
        raise Conflict(
            "boards of a column have no anchors, and by Elo no intervals; rate each part with "
            "where="
        )
    parts = {
        value: _part(arena, made.board.name, interval=interval)
        for value, arena in arena_of(made.result.scored).within(by).items()
    }
    whole = made.board if interval else _without_intervals(made.board)
    return replace(made, board=_side_by_side(whole, by, parts), parts=parts)


def _part(arena: ScoredArena, board: str, *, interval: bool) -> Board | str:
    """Return the board of a part of the matches, or why there is none."""
    try:
        made = arena.board(board)
    except NotScorable as error:
        return str(error)
    return made if interval else _without_intervals(made)


def _side_by_side(board: Board, by: str, parts: Mapping[str, Board | str]) -> Board:
    """Return the whole board with the rank in each part as a column; the context has all parts."""
    table = board.table
    index = table.column_names.index("score") + 1
    shown = {value: part for value, part in parts.items() if isinstance(part, Board)}
    for value, part in shown.items():
        place = pc.index_in(table["id"], value_set=part.table["id"].combine_chunks())
        table = table.add_column(index, f"rank of {value}", part.table["rank"].take(place))
        index += 1
    boards = {value: part.rows() for value, part in shown.items()}
    return replace(board, table=table, context={**board.context, "by": by, "boards": boards})


def _without_intervals(board: Board) -> Board:
    names = [name for name in board.table.column_names if name not in _INTERVAL]
    context = {
        name: value
        for name, value in board.context.items()
        if name not in ("intervals", "comparison")
    }
    caption = board.context.get("anchors") and caption_of(board.context["anchors"]["values"])
    return replace(board, table=board.table.select(names), context=context, caption=caption or "")


def _pairs(result: Result) -> dict[tuple[str, str], tuple[float, int]]:
    """Return the points taken and the number of matches of every ordered pair that played."""
    counts = result.scored.pairs  # type: ignore[attr-defined]  # the Scored of the arena
    bots = result.scored.bots  # type: ignore[attr-defined]  # the same
    names = [str(name) for name in bots.ids.to_pylist()]
    pairs: dict[tuple[str, str], tuple[float, int]] = {}
    for i, j, wins_i, wins_j, matches in zip(
        counts.i, counts.j, counts.wins_i, counts.wins_j, counts.matches, strict=True
    ):
        share = float(wins_i / (wins_i + wins_j)) * int(matches)
        pairs[names[i], names[j]] = (share, int(matches))
        pairs[names[j], names[i]] = (int(matches) - share, int(matches))
    return pairs
