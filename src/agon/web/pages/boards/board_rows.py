"""The rows of a board's page: bars, intervals and movement, and their HTML.

The HTML of rows is made here and not in the template: it is most of the page, and a template takes
several times as long for it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import groupby
from math import ceil, floor
from typing import Any, Final

from markupsafe import Markup

from agon.api.models.analysis import BoardColumn, Movement
from agon.api.models.boards import BoardPage
from agon.api.models.rounds import DecidedRank
from agon.app.charts.markup import LIGHT
from agon.disciplines.capabilities import ColumnMeaning
from agon.web import addresses
from agon.web.names import participant
from agon.web.page import Visit
from agon.web.pages.boards.board_choice import Choice, value_of
from agon.web.pages.boards.bot_columns import meaning_of
from agon.web.pages.boards.robustness import Robust
from agon.web.rendering import aligned_texts, number_text, scores_html, share_texts, words

_HUES: Final = len(LIGHT)
_PLACES: Final = 4
_PLAIN: Final = frozenset({int, float, bool, type(None)})
_SVG: Final = '<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none"'


@dataclass(frozen=True)
class Bar:
    """A part of a score in a stacked bar, in percent of the widest bar of the page.

    ``hue`` is the color's name in the style sheet: a number, or ``-others``.
    """

    name: str
    points: float
    start: float
    width: float
    hue: str


@dataclass(frozen=True)
class RowSpan:
    """An interval: its ends, and its place in percent of the range of all intervals of the page.

    The text of an open end is empty.
    """

    low: str
    high: str
    start: float
    width: float
    middle: float


@dataclass(frozen=True)
class Line:
    """A row of a board as it is shown.

    Attributes:
        row: as it is stored.
        participant: whose row it is, as HTML.
        address: of the page of its participant.
        run: the address of the run that it is the result of; empty: none that is to be seen.
        score: its score.
        texts: the values of the other columns, as HTML.
        bars: the parts of its score; None: the page has no such column.
        span: its interval, or the band of noise of its rating.
        robustness: how few matches would change its rank, as a cell of HTML; empty: the page has
            no such column.
        moved: how many ranks it rose or fell; None: there is no board before.
        is_own: whether it is the visitor's, or the one that was looked for.
    """

    row: dict[str, Any]
    participant: Markup
    address: str
    run: str
    score: str
    texts: Sequence[str]
    bars: Sequence[Bar] | None
    span: RowSpan | None
    robustness: str
    moved: str | None
    is_own: bool


@dataclass(frozen=True)
class PartRange:
    """A part of scores, for the legend: the largest of the board, and whose it is."""

    name: str
    hue: str
    points: float
    id: str


def lines(
    visit: Visit,
    page: BoardPage,
    columns: Sequence[str],
    movement: Movement | None,
    robust: Robust | None,
    choice: Choice,
    label: Callable[[str], str],
    runs: Mapping[str, str],
) -> list[Line]:
    """Return the rows as they are shown, with bars and intervals on one scale each.

    ``runs`` are the addresses of the runs behind the rows, by id.
    """
    address = addresses.rows(
        page.contest, board=page.board, discipline_name=page.discipline, as_of=visit.as_of
    )
    own = {visit.query.get("around"), visit.caller.user} - {None, ""}
    hues = part_hues(page.rows) if choice.shows("parts") else {}
    widest = max((_positive_sum(row) for row in page.rows), default=0.0) if hues else 0.0
    ends = interval_ends(page.rows, robust)
    spans = _spans(page.rows, ends) if choice.shows("interval") else {}
    robustness = _robustness_cells(visit, page, robust if choice.shows("robustness") else None)
    meaning = partial(meaning_of, page)
    scores = scores_html(page.discipline, page.board, [row["score"] for row in page.rows])
    texts = [
        cell_texts([value_of(row, name) for row in page.rows], meaning(name)) for name in columns
    ]
    names = page.names or {}
    return [
        Line(
            row,
            participant(names.get(row["id"]), row["id"], label),
            address(row["id"]),
            runs.get(row["id"], ""),
            score,
            cells,
            _bars(row, widest, hues) if choice.shows("parts") and "components" in row else None,
            spans.get(row["id"]),
            decided,
            _movement_text(row, movement),
            row["id"] in own,
        )
        for row, decided, score, *cells in zip(page.rows, robustness, scores, *texts, strict=True)
    ]


def cell_texts(values: Sequence[Any], meaning: ColumnMeaning | None) -> Sequence[str]:
    """Return the values of a column as HTML; the text of a number needs no escaping.

    Shares are shown in percent.
    """
    if meaning is not None and meaning.is_share and _PLAIN.issuperset(map(type, values)):
        return share_texts(values)
    named = dict(() if meaning is None else meaning.named)
    texts = aligned_texts(values, places=_PLACES)
    if named:
        texts = [named.get(value, text) for value, text in zip(values, texts, strict=True)]
    if _PLAIN.issuperset(map(type, values)):
        return texts
    return [
        value if isinstance(value, Markup) else escape(text)
        for value, text in zip(values, texts, strict=True)
    ]


def rows_html(rows: Sequence[Line]) -> Markup:
    """Return rows as they are in the table of a board."""
    return Markup("\n".join(map(_row_html, rows)))  # noqa: S704 - every text in it is escaped


def _row_html(line: Line) -> str:
    row = line.row
    own = ' class="own"' if line.is_own else ""
    moved = "" if line.moved is None else f'<td class="num moved">{line.moved}</td>'
    run = f' <a href="{escape(line.run)}">run</a>' if line.run else ""
    texts = "".join(
        [f'<td class="num{" no" if text == "no" else ""}">{text}</td>' for text in line.texts]
    )
    return (
        f'<tr data-key="{escape(row["id"])}"{own}>'
        f'<td class="num">{number_text(row["rank"])}</td>{moved}'
        f'<th scope="row"><a href="{escape(line.address)}">{line.participant}</a>{run}</th>'
        f'<td class="num score">{line.score}</td>'
        f"{_parts_html(line)}{_interval_html(line)}{line.robustness}{texts}</tr>"
    )


def _parts_html(line: Line) -> str:
    """Return the cell with the bar of a row's parts; nothing on a board without parts."""
    if line.bars is None:
        return ""
    if not line.bars:
        return '<td class="parts"></td>'
    texts = ", ".join(f"{words(bar.name)} {number_text(bar.points)}" for bar in line.bars)
    # Parts of one color, which follow each other, are one rectangle.
    colored = [(hue, [*parts]) for hue, parts in groupby(line.bars, key=lambda bar: bar.hue)]
    bars = "".join(
        f'<rect class="f{hue}" x="{parts[0].start:.2f}" '
        f'width="{sum(part.width for part in parts):.2f}" height="6"/>'
        for hue, parts in colored
    )
    return f'<td class="parts">{_SVG} role="img" aria-label="{escape(texts)}">{bars}</svg></td>'


def _interval_html(line: Line) -> str:
    """Return the cell with a row's interval; nothing on a board without intervals."""
    span, row = line.span, line.row
    if span is None:
        return ""
    ranks = ""
    if row.get("rank_low"):
        ranks = f"<span>rank {row['rank_low']} to {row['rank_high']}</span>"
    return (
        f'<td class="interval">{_SVG} aria-hidden="true">'
        f'<rect class="f-others" x="{span.start:.2f}" y="2" width="{span.width:.2f}" height="2"/>'
        f'<rect class="f0" x="{span.middle - 0.5:.2f}" y="0" width="1" height="6"/></svg>'
        f"<span>{_ends_text(span)}</span>{ranks}</td>"
    )


def _ends_text(span: RowSpan) -> str:
    if not span.high:
        return f"≥ {span.low}"
    return f"{span.low} to {span.high}" if span.low else f"≤ {span.high}"


def part_ranges(page: BoardPage, columns: Mapping[str, BoardColumn]) -> list[PartRange]:
    """Return the parts that a page shows, each with the largest of the board."""
    shown = ((name, hue, columns.get(f"components.{name}"))
             for name, hue in part_hues(page.rows).items())  # fmt: skip
    return [
        PartRange(name, hue, column.high, column.top or "")
        for name, hue, column in shown
        if column is not None and column.high is not None and column.high > 0
    ]


def part_hues(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the color of each part, in the order in which bars show the parts.

    As many parts as there are hues have one each, in the order of the rules. Of more parts those
    with the largest sums on the page have them; the others share the color of others and follow.
    """
    sums: dict[str, float] = {}
    for row in rows:
        if "components" not in row:
            continue
        for name in row["components"]:
            sums.setdefault(name, 0.0)
        for name, points in positive_parts(row):
            sums[name] += points
    largest = set(sorted(sums, key=lambda name: -sums[name])[:_HUES])
    hues = {name: str(hue) for hue, name in enumerate(name for name in sums if name in largest)}
    return hues | {name: "-others" for name in sums if name not in largest}


def _movement_text(row: dict[str, Any], movement: Movement | None) -> str | None:
    """Return how many ranks a row rose or fell; None if there is no board before."""
    if movement is None or movement.since is None:
        return None
    before = movement.ranks.get(str(row["id"]))
    if before is None:
        return "new"
    change = before - row["rank"]
    return "=" if not change else f"{'↑' if change > 0 else '↓'}{number_text(abs(change))}"


def _positive_sum(row: dict[str, Any]) -> float:
    return sum(points for _, points in positive_parts(row))


def _bars(row: dict[str, Any], widest: float, hues: Mapping[str, str]) -> list[Bar]:
    bars, start, points = [], 0.0, dict(positive_parts(row))
    for name in (name for name in hues if name in points):
        width = 100 * points[name] / widest
        bars.append(Bar(name, points[name], start, width, hues[name]))
        start += width
    return bars


def positive_parts(row: dict[str, Any]) -> list[tuple[str, float]]:
    """Return the parts that add to a score; one without a value, such as a board, is left out."""
    return [
        (name, points)
        for name, points in row.get("components", {}).items()
        if points and points > 0
    ]


def interval_ends(
    rows: Sequence[dict[str, Any]], robust: Robust | None
) -> list[tuple[float | None, float | None] | None]:
    """Return of each row its interval, else the band within which a rating varies by chance.

    An end that is open is None.
    """
    if robust is None or robust.width is None:
        return [(row["low"], row["high"]) if "low" in row and "high" in row else None
                for row in rows]  # fmt: skip
    widths = map(robust.width, rows)
    return [(row["score"] - width, row["score"] + width)
            for row, width in zip(rows, widths, strict=True)]  # fmt: skip


def _spans(
    rows: Sequence[dict[str, Any]],
    intervals: Sequence[tuple[float | None, float | None] | None],
) -> dict[str, RowSpan]:
    """Return the intervals of the rows that have one, by id, on one scale."""
    spanned = [(row, ends) for row, ends in zip(rows, intervals, strict=True) if ends is not None]
    all_ends = [end for _, ends in spanned for end in ends]
    # An open end is drawn to the end of the scale.
    closed = [end for end in all_ends if end is not None] + [row["score"] for row, _ in spanned]
    if not closed:
        return {}
    lowest, highest = min(closed), max(closed)
    scale = 100 / (highest - lowest) if highest > lowest else 0.0
    texts = _end_texts(spanned)
    spans = {}
    for (row, (low, high)), low_text, high_text in zip(
        spanned, texts[::2], texts[1::2], strict=True
    ):
        start, end = (lowest if low is None else low), (highest if high is None else high)
        spans[row["id"]] = RowSpan(
            low_text,
            high_text,
            (start - lowest) * scale,
            (end - start) * scale,
            (row["score"] - lowest) * scale,
        )
    return spans


def _end_texts(
    spanned: Sequence[tuple[dict[str, Any], tuple[float | None, float | None]]],
) -> list[str]:
    """Return the texts of both ends of each interval: whole numbers where all scores are whole.

    They are rounded outwards, so that an interval never looks narrower than it is.
    """
    ends = [end for _, pair in spanned for end in pair]
    if not all(float(row["score"]).is_integer() for row, _ in spanned):
        return aligned_texts(ends)
    whole = [
        end if end is None else (floor(end), ceil(end))[side]
        for _, pair in spanned
        for side, end in enumerate(pair)
    ]
    return aligned_texts(whole)


def _robustness_cells(visit: Visit, page: BoardPage, robust: Robust | None) -> list[str]:
    """Return of each row the cell that states how few matches would change its rank."""
    ranks = {} if robust is None else robust.ranks
    if not any(row["id"] in ranks for row in page.rows):
        return [""] * len(page.rows)
    proof = escape(f"{addresses.robustness(page.contest, as_of=visit.as_of)}#ranks")
    return [f"<td>{_decided_html(ranks.get(row['id']), proof)}</td>" for row in page.rows]


def _decided_html(rank: DecidedRank | None, proof: str) -> str:
    if rank is None:
        return ""
    if rank.matches is None or rank.share is None:
        return f'<a href="{proof}">none found</a>'
    matches = "match" if rank.matches == 1 else "matches"
    return f'<a href="{proof}">{number_text(rank.matches)} {matches} ({100 * rank.share:.2g} %)</a>'
