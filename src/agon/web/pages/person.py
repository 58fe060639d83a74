"""The page of a participant: the score as steps, what is missing, and its history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import isfinite
from typing import Any, Final

import orjson

from agon.api.conversions import explanation_of
from agon.api.models.boards import BoardPage, RowQuery
from agon.api.models.contests import Contest
from agon.app.charts.waterfall import levels
from agon.disciplines import discipline
from agon.errors import AgonError, NotFound
from agon.kernel.explanations import Explanation, Part
from agon.kernel.text.participants import participant_text
from agon.web import addresses
from agon.web.labels import labels
from agon.web.last_visit import LastVisit, last_visit
from agon.web.page import SitePage, Visit
from agon.web.pages.boards.since import previous_positions, since
from agon.web.pages.cases import cases_of
from agon.web.pages.factors import factors_of
from agon.web.pages.history import cause_of, history_of, history_plot, times_of
from agon.web.pages.live.arena import opponents
from agon.web.pages.run import addresses_of_runs
from agon.web.rendering import is_share_of, score_text

PARTS: Final = 200
_CUT: Final = 0.1
_IDS_SHOWN: Final = 200

RULE: Final = "rule."
"""What the parameters of the query that set rules begin with."""

COUNT: Final = "count."
"""What the parameters of the query that set counts begin with."""


@dataclass(frozen=True)
class ParticipantComparison:
    """A score next to that of another participant, part by part.

    Attributes:
        id: the other participant.
        name: the other's name; None: none is shown.
        other: its explanation; None: there is none.
        error: why there is none.
        rows: name of a part, both points (None: it has no such part), and their difference.
    """

    id: str
    name: str | None
    other: Explanation | None
    error: str
    rows: Sequence[tuple[str, float | None, float | None, float]]


@dataclass(frozen=True)
class WhatIfForm:
    """A score under rules and with counts that the visitor chose.

    Attributes:
        counts: the parts of the score that count something, with the count chosen or present.
        fields: the rules that decide the score, with the value chosen or in force.
        rules: the rules that the visitor chose.
        after: the explanation under the chosen values; None: none are chosen, or an error.
        rows: as of :class:`ParticipantComparison`.
        steps: the parts of ``after``.
        error: what is wrong with the values.
    """

    counts: Sequence[tuple[str, str]]
    fields: Sequence[tuple[str, Any]]
    rules: Mapping[str, str]
    after: Explanation | None
    rows: Sequence[tuple[str, float | None, float | None, float]]
    steps: Sequence["BarStep"]
    error: str


@dataclass(frozen=True)
class Before:
    """A row at the end of the visitor's last visit.

    Attributes:
        seq: the last position that the visitor saw.
        at: when that was.
        rank, score: of the row; None: it had none.
    """

    seq: int
    at: datetime
    rank: int | None
    score: float | None


@dataclass(frozen=True)
class Neighbor:
    """The row before or after a participant's on the board.

    Attributes:
        id: whose it is.
        name: the name; None: none is shown.
        rank: its rank.
        gap: its score minus that of the participant.
    """

    id: str
    name: str | None
    rank: int
    gap: float


@dataclass(frozen=True)
class BarStep:
    """A part of a score, with its bar in percent of the chart's width."""

    part: Part
    start: float
    width: float
    end: float


def person(visit: Visit) -> SitePage:
    """Return why a participant has its score on a board, the other boards, and the history."""
    contest, name = visit.contest(), visit.path["id"]
    boards, can = visit.api.boards, discipline(contest.discipline)
    board = visit.query.get("board") or boards.default(contest.id)
    participant = visit.api.snapshots.participant(contest.id, name)
    if all(each["board"] != board for each in participant.boards) and "board" not in visit.query:
        board = participant.boards[0]["board"] if participant.boards else board
    explanation = boards.explain(contest.id, name, board=board, as_of=visit.as_of)
    steps, label = steps_of(explanation), labels(contest, board)
    met = opponents(explanation) if can.rounds else []
    published = _board_at(visit, contest.id, name, board, explanation)
    position = published.seq
    history = history_of(visit, contest.id, name, board, position)
    seen = _last_visit(visit, position)
    values = {
        "contest": contest,
        "id": name,
        "name": participant.name,
        "named": label,
        "board": board,
        "boards": [each for each in participant.boards if not _is_family(each["board"], board)],
        "explanation": explanation,
        "steps": steps,
        "factors": factors_of(explanation) if can.epochs else None,
        "more": len(explanation.parts) - len(steps),
        "history": history,
        "times": times_of(history),
        "cause_of": cause_of,
        "previous": previous_positions(history),
        "since": since(visit, contest.id, board, explanation, history),
        "before": None if seen is None else _before(visit, contest.id, name, board, seen),
        "position": position,
        "rows_total": published.rows_total,
        "own": {} if published.index is None else published.rows[published.index - published.start],
        "neighbors": _neighbors(contest, published, explanation),
        "opponents": met,
        "cases": cases_of(visit, contest) if visit.caller.user == name else (),
        "plot": history_plot(contest, name, board, history),
        "comparison": _comparison(visit, contest.id, board, explanation),
        "what_if": _what_if(visit, contest, board, explanation),
        "run": addresses_of_runs(visit, contest, board, [name]).get(name, ""),
        "ids_shown": _IDS_SHOWN,
        "as_of": visit.as_of,
    }
    return SitePage(
        template="person.html",
        title=f"{participant_text(participant.name, name, label)} · {contest.title}",
        values=values,
        data=addresses.api(
            "contests", contest.id, "boards", board, "explanations", name, as_of=visit.as_of
        ),
        summary=_summary(contest, board, explanation),
        picture=addresses.card(contest.id, name, board=board, as_of=visit.as_of),
        last_visit=seen,
    )


def _board_at(
    visit: Visit, contest: str, name: str, board: str, explanation: Explanation
) -> BoardPage:
    """Return the board with the participant's row between its neighbors, or with the first row."""
    boards = visit.api.boards
    if explanation.score is None:
        return boards.page(contest, board, as_of=visit.as_of, limit=1)
    query = RowQuery(as_of=visit.as_of, neighbors=1)
    return boards.row(contest, board, name, query)


def _neighbors(contest: Contest, page: BoardPage, explanation: Explanation) -> list[Neighbor]:
    """Return the rows before and after the participant's."""
    discipline_name, board = contest.discipline, explanation.board
    if page.index is None or explanation.score is None:
        return []
    index, score, names = page.index - page.start, explanation.score, page.names or {}
    return [
        Neighbor(row["id"], names.get(row["id"]), row["rank"], _shown_difference(
            discipline_name, board, round(row["score"] - score, explanation.places), of=score,
        ))
        for row in (*page.rows[max(0, index - 1) : index], *page.rows[index + 1 : index + 2])
    ]  # fmt: skip


def _shown_difference(discipline_name: str, board: str, difference: float, *, of: float) -> float:
    """Return the difference of a score to another with as many decimals as the score is shown with.

    One that would then be 0, and is not, stays as it is.
    """
    if is_share_of(discipline_name, board):
        return difference
    decimals = score_text(discipline_name, board, of).partition(".")[2]
    if not (decimals.isdigit() or not decimals):  # an exponent
        return difference
    return round(difference, len(decimals)) or difference


def _summary(contest: Contest, board: str, explanation: Explanation) -> str:
    """Return the score in words."""
    if explanation.score is None:
        return f"no score: {explanation.reason}"
    return f"rank {explanation.rank}, {score_text(contest.discipline, board, explanation.score)}"


def steps_of(explanation: Explanation) -> list[BarStep]:
    """Return the parts with their bars: from the sum before to the sum after, on one scale."""
    parts = explanation.first_parts(PARTS)
    totals, low, high = levels([part.points for part in parts], cut=_CUT)
    scale = 100 / (high - low) if high > low else 0.0

    def at(value: float) -> float:
        return (min(max(value, low), high) - low) * scale

    return [
        BarStep(part, min(at(before), at(after)), abs(at(after) - at(before)), at(after))
        for part, (before, after) in zip(parts, pairwise(totals), strict=True)
    ]


def _last_visit(visit: Visit, position: int) -> LastVisit | None:
    """Return what the visitor has seen with this page; None: the public, or a page of the past."""
    if visit.caller.role is None or visit.as_of is not None:
        return None
    return last_visit(
        visit.last_visit, name=visit.caller.name, seq=position, now=visit.service.clock()
    )


def _before(visit: Visit, contest: str, name: str, board: str, seen: LastVisit) -> Before | None:
    """Return the row at the end of the visitor's last visit; None: this is the first one."""
    if seen.since is None or seen.since_at is None:
        return None
    try:
        center = visit.api.boards.page(
            contest, board, as_of=str(seen.since), around=name, limit=1
        ).rows[0]
    except NotFound:  # it had no score then
        return Before(seen.since, seen.since_at, None, None)
    return Before(seen.since, seen.since_at, center["rank"], center["score"])


def _comparison(
    visit: Visit, contest: str, board: str, explanation: Explanation
) -> ParticipantComparison | None:
    """Return the score next to that of the participant in ``with``, if one is chosen."""
    name = visit.query.get("with")
    if not name:
        return None
    try:
        other = visit.api.boards.explain(contest, name, board=board, as_of=visit.as_of)
    except NotFound as error:
        return ParticipantComparison(name, None, None, str(error), ())
    shown = visit.api.snapshots.participant(contest, name).name
    return ParticipantComparison(name, shown, other, "", differences(explanation, other))


def differences(
    left: Explanation, right: Explanation
) -> list[tuple[str, float | None, float | None, float]]:
    """Return the parts of two scores by name, most different first, without those of 0.

    The differences sum to that of the scores.
    """
    both: list[dict[str, float]] = []
    for explanation in (left, right):
        points: dict[str, float] = {}
        for part in explanation.parts:
            points[part.name] = points.get(part.name, 0.0) + part.points
        both.append(points)
    rows = [
        (name, both[0].get(name), both[1].get(name),
         round(both[1].get(name, 0.0) - both[0].get(name, 0.0), left.places))
        for name in {**both[0], **both[1]}
        if both[0].get(name) or both[1].get(name)
    ]  # fmt: skip
    rows.sort(key=lambda row: -abs(row[3]))
    return rows[:PARTS]


def _what_if(visit: Visit, contest: Contest, board: str, explanation: Explanation) -> WhatIfForm:
    """Return the score under the values of rules, and with the counts, that the query sets."""
    in_force: dict[str, Any] = {}
    counts: dict[str, Any] = {}
    for part in explanation.parts:
        in_force |= part.rules
        if board in discipline(contest.discipline).traits.recounts and "count" in part.inputs:
            counts[part.name] = part.inputs["count"]
    rules, chosen = _choices(visit.query, RULE, in_force), _choices(visit.query, COUNT, counts)
    fields = [
        (name, rules.get(name, field_text(value)))
        for name, value in sorted(in_force.items())
        if isinstance(value, bool | int | float | str)
    ]
    count_fields = [(name, chosen.get(name, field_text(value))) for name, value in counts.items()]
    if not rules and not chosen:
        return WhatIfForm(count_fields, fields, rules, None, (), (), "")
    try:
        both = visit.api.analysis.what_if(
            contest.id,
            board,
            explanation.id,
            rules=orjson.dumps(rules).decode() if rules else None,
            counts=orjson.dumps({name: _number(text) for name, text in chosen.items()}).decode()
            if chosen
            else None,
            as_of=visit.as_of,
        )
    except AgonError as error:
        return WhatIfForm(count_fields, fields, rules, None, (), (), str(error))
    after = explanation_of(both.after.model_dump())
    rows = differences(explanation, after)
    return WhatIfForm(count_fields, fields, rules, after, rows, steps_of(after), "")


def _choices(query: Mapping[str, str], prefix: str, present: Mapping[str, Any]) -> dict[str, str]:
    """Return what a query sets to other values than the present ones."""
    return {
        name: value
        for key, value in query.items()
        if key.startswith(prefix)
        and value != field_text(present.get(name := key.removeprefix(prefix)))
    }


def _number(text: str) -> float | str:
    """Return a number; a text that is none unchanged, for the message about it."""
    try:
        return float(text) if isfinite(float(text)) else text
    except ValueError:
        return text


def field_text(value: Any) -> str:
    """Return the value of a rule as a field of a form has it.

    Example:
        >>> field_text(True), field_text(0.5), field_text("linear")
        ('true', '0.5', 'linear')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_family(name: str, shown: str) -> bool:
    """Return whether a board is one of many of a kind, such as that of a problem."""
    return ":" in name and name != shown
