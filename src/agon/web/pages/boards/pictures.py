"""The badge and the card of a participant: pictures that other sites and messages show."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from agon.api.models.contests import Contest
from agon.app.charts.markup import DARK, DARK_PAPER, element, shorten, width, words
from agon.errors import NotFound
from agon.kernel.text.participants import short_id
from agon.web.page import Document, Visit
from agon.web.pages.boards.board_rows import part_hues, positive_parts
from agon.web.rendering import number_text, phase_of, score_text, time_text
from agon.wiring import png

_FONT: Final = "DejaVu Sans,Verdana,sans-serif"
_BADGE_HEIGHT: Final = 20
_BADGE_PART: Final = 150
"""Maximum width of either half of a badge, in pixels."""

_CARD: Final = (600, 315)
"""Size of a card in units; the picture has twice as many pixels."""

_INK, _QUIET, _OTHERS = "#e8eaed", "#a3abb5", "#8b949e"
_MARGIN: Final = 40


@dataclass(frozen=True)
class CardStanding:
    """A participant's place on a board.

    Attributes:
        title: of the contest.
        phase: where the contest is in time, in words.
        id: of the participant.
        board: name of the board.
        rank: on the board; None: no score.
        score: on the board, as text; empty: no score.
        total: number of rows.
        parts: what adds to the score.
        at: time of the board.
    """

    title: str
    phase: str
    id: str
    board: str
    rank: int | None
    score: str
    total: int
    parts: Sequence[tuple[str, float]]
    at: datetime


def badge(visit: Visit) -> Document:
    """Return a badge: the contest, where it is in time, and the participant's rank and score."""
    contest = visit.contest()
    content = badge_svg(standing_of(visit, contest)).encode()
    return Document(content=content, media_type="image/svg+xml", contest=contest)


def card(visit: Visit) -> Document:
    """Return a card of 1200 × 630 pixels: contest, participant, rank, score and its parts."""
    contest = visit.contest()
    content = png(card_svg(standing_of(visit, contest)))
    return Document(content=content, media_type="image/png", contest=contest)


def standing_of(visit: Visit, contest: Contest) -> CardStanding:
    """Return the place of the participant in the path.

    Raises:
        NotFound: there is no such participant.
    """
    name = visit.path["id"]
    board = visit.query.get("board") or visit.api.boards.default(contest.id)
    boards = visit.api.boards
    row: dict[str, Any] = {}
    try:
        page = boards.page(contest.id, board, as_of=visit.as_of, around=name, limit=1)
        row = page.rows[0]
    except NotFound:  # perhaps without a score
        visit.api.snapshots.participant(contest.id, name)
        page = boards.page(contest.id, board, as_of=visit.as_of, limit=1)
    return CardStanding(
        title=contest.title,
        phase=phase_of(contest),
        id=name,
        board=board,
        rank=row.get("rank"),
        score=score_text(contest.discipline, page.board, row.get("score")),
        total=page.rows_total,
        parts=positive_parts(row),
        at=page.at,
    )


def summary(standing: CardStanding) -> str:
    """Return a place in words.

    Example:
        >>> from datetime import UTC
        >>> at = datetime(2026, 1, 2, tzinfo=UTC)
        >>> summary(CardStanding("Spring", "open", "ada", "bots", 3, "1,510", 20, (), at))
        'rank 3 of 20, 1,510'
    """
    if standing.rank is None:
        return "no score"
    return f"rank {standing.rank} of {number_text(standing.total)}, {standing.score}"


def badge_svg(standing: CardStanding) -> str:
    """Return a badge as SVG of at most 2 kB."""
    left = shorten(standing.title, max_width=_BADGE_PART)
    right = f"{shorten(summary(standing), max_width=_BADGE_PART)} · {standing.phase}"
    sizes = [round(width(text) * 11 / 13) + 12 for text in (left, right)]
    total, text = sum(sizes), words(f"{left}: {right}")

    def label(text: str, start: int, size: int) -> str:
        place: dict[str, Any] = {
            "x": start + size / 2,
            "y": 14,
            "text_anchor": "middle",
            "textLength": size - 12,
        }
        return element("text", [words(text)], **place)

    halves = [
        element("rect", width=total, height=_BADGE_HEIGHT, rx=3, fill="#1b1f24"),
        element("rect", x=sizes[0], width=sizes[1], height=_BADGE_HEIGHT, rx=3, fill="#0b5a96"),
        label(left, 0, sizes[0]),
        label(right, sizes[0], sizes[1]),
    ]
    return element(
        "svg",
        [
            element("title", [text]),
            element("g", halves, fill="#fff", font_family=_FONT, font_size=11),
        ],
        xmlns="http://www.w3.org/2000/svg",
        width=total,
        height=_BADGE_HEIGHT,
        role="img",
        aria_label=f"{left}: {right}",
    )


def card_svg(standing: CardStanding) -> str:
    """Return a card as SVG."""
    right = _CARD[0] - 2 * _MARGIN

    def text(content: str, y: float, size: int, fill: str = _INK, weight: int = 400) -> str:
        content = shorten(content, max_width=right * 13 / size)
        return element("text", [words(content)], x=_MARGIN, y=y, font_size=size, fill=fill,
                       font_weight=weight)  # fmt: skip

    score = standing.score or "no score"
    place = (
        "" if standing.rank is None else f"rank {standing.rank} of {number_text(standing.total)}"
    )
    total, start, bars = sum(points for _, points in standing.parts), float(_MARGIN), []
    points_of = dict(standing.parts)
    for name, hue in part_hues([{"components": points_of}]).items():
        size = right * points_of[name] / total
        fill = DARK[int(hue)] if hue.isdigit() else _OTHERS
        bars.append(element("rect", x=start, y=232, width=size, height=16, fill=fill))
        start += size
    return element(
        "svg",
        [
            element("rect", width=_CARD[0], height=_CARD[1], fill=DARK_PAPER),
            text(standing.title, 60, 20, _QUIET),
            text(short_id(standing.id), 110, 36, weight=700),
            text(score, 180, 52, weight=700),
            text(place, 212, 18, _QUIET),
            *bars,
            text(
                f"agon · {short_id(standing.board)} · {time_text(standing.at)} · {standing.phase}",
                285,
                14,
                _QUIET,
            ),
        ],
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_CARD[0]} {_CARD[1]}",
        width=_CARD[0],
        height=_CARD[1],
        font_family=_FONT,
    )
