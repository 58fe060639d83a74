"""The home page: all contests that the visitor may see."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, islice
from math import isclose
from typing import Final, cast, get_args

from markupsafe import Markup

from agon.api.models.boards import BoardPage
from agon.api.models.contests import Contest
from agon.app.charts import sparkline
from agon.client.client import Api
from agon.disciplines import names
from agon.entities.contests import Phase
from agon.errors import NotFound, Unreadable, did_you_mean
from agon.kernel.text.participants import short_id
from agon.web import addresses
from agon.web.labels import labels
from agon.web.names import participant
from agon.web.page import SitePage, Visit
from agon.web.pages.boards.board_rows import part_hues, positive_parts
from agon.web.rendering import number_text, score_html

CARDS: Final = 100
"""Maximum number of contests on the page: each needs its board."""

_STEPS: Final = 1000
"""Maximum number of steps that are read of a leader's history."""

_POINTS: Final = 120
"""Maximum number of steps that are drawn: about as many as the line has pixels."""

_ROUNDING: Final = 1e-6


_EQUALS: Final = 9
"""Maximum number of others on the first rank that a card counts."""
_PLACES: Final = {
    "ended": "Led at the end:",
    "final": "Won by",
    "amended": "Won by",
    "void": "Led:",
}


@dataclass(frozen=True)
class ScorePart:
    """A part of a score: its points, its color, and its place in percent of the sum of all."""

    name: str
    hue: str
    points: float
    start: float
    width: float


@dataclass(frozen=True)
class Leader:
    """The first row of a contest's default board.

    Attributes:
        id: who it is.
        participant: the same as HTML, with its name where one is shown.
        score: the score.
        shown: the score as HTML.
        parts: what adds up to the score; empty if other parts subtract from it.
        line: the score over time; None: it has one step only, or more than are read.
        equals: number of others on the first rank, 10 for more than 9.
        other: id and HTML of the other one, if two share the first rank.
    """

    id: str
    participant: Markup
    score: float
    shown: Markup
    parts: Sequence[ScorePart]
    line: Markup | None
    equals: int = 0
    other: tuple[str, Markup] | None = None


@dataclass(frozen=True)
class Card:
    """A contest on the home page.

    Attributes:
        contest: the contest.
        leader: who leads its default board; None: no one has a score yet.
        participants: number of rows of the default board.
        changed: when that board last changed; None: it is not published yet.
    """

    contest: Contest
    leader: Leader | None
    participants: int
    changed: datetime | None

    @property
    def place(self) -> str:
        """What the leader's place means in the contest's state."""
        clock = self.contest.clock
        return _PLACES.get("" if clock is None else clock.phase, "Led by")


def home(visit: Visit) -> SitePage:
    """Return the first contests as cards, in the order of their ids; of all, or of some kinds.

    Raises:
        Unreadable: the address names a discipline or a state that does not exist.
    """
    choices = {"state": get_args(Phase), "discipline": names()}
    chosen = {name: _chosen(visit, name, known) for name, known in choices.items()}
    states = cast("tuple[Phase, ...]", chosen["state"])
    listed = visit.api.contests.list(state=states, discipline=chosen["discipline"])
    cards = [_card(visit.api, contest) for contest in islice(listed, CARDS)]
    return SitePage(
        template="home.html",
        title="Contests",
        values={
            "cards": cards,
            "shown": CARDS,
            "choices": choices,
            "chosen": chosen,
            "example": next((card for card in cards if card.leader and card.leader.parts), None),
        },
        data=addresses.api("contests"),
    )


def _chosen(visit: Visit, name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the values that an address names in a parameter, such as ``?state=open,frozen``."""
    chosen = tuple(visit.texts(name))
    for each in chosen:
        if each not in known:
            raise Unreadable(f"{name}: there is no {each[:80]!r}; {did_you_mean(each[:80], known)}")
    return chosen


def _card(api: Api, contest: Contest) -> Card:
    try:
        page = api.boards.page(contest.id, limit=_EQUALS + 2)
    except NotFound:  # nothing is published yet
        return Card(contest, None, 0, None)
    leader = _leader(api, contest, page) if page.rows else None
    return Card(contest, leader, page.rows_total, page.at)


def _leader(api: Api, contest: Contest, page: BoardPage) -> Leader:
    row, names, label = page.rows[0], page.names or {}, labels(contest, page.board)
    hues, points_of = part_hues([row]), dict(positive_parts(row))
    name, parts = str(row["id"]), [(part, points_of[part]) for part in hues if part in points_of]
    ends = list(accumulate((points for _, points in parts), initial=0.0))
    if not isclose(ends[-1], row["score"], abs_tol=_ROUNDING):  # others subtract from the score
        parts = []
    others = [str(each["id"]) for each in page.rows[1:] if each["rank"] == row["rank"]]
    other = others[0] if len(others) == 1 else None
    return Leader(
        name,
        participant(names.get(name), name, label),
        row["score"],
        score_html(page.discipline, page.board, row["score"]),
        [ScorePart(part, hues[part], points, 100 * start / ends[-1], 100 * points / ends[-1])
         for (part, points), start in zip(parts, ends, strict=False)],
        _line(api, contest, page.board, name),
        len(others),
        None if other is None else (other, participant(names.get(other), other, label)),
    )  # fmt: skip


def _line(api: Api, contest: Contest, board: str, name: str) -> Markup | None:
    """Return the score over time, unless the history is too long to be read for a line."""
    history = list(islice(api.boards.history(contest.id, name, board=board), _STEPS + 1))
    steps = [(step.at.timestamp(), step.score) for step in history if step.score is not None]
    if not 1 < len(steps) <= _STEPS:
        return None
    low, high = (number_text(end(score for _, score in steps)) for end in (min, max))
    label = f"Score of {short_id(name)} over time: {len(steps)} steps from {low} to {high}"
    drawn = [*steps[: -1 : -(-len(steps) // _POINTS)], steps[-1]]
    return Markup(sparkline(drawn, label=label))  # noqa: S704 - it escapes
