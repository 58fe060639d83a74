"""The page of a participant: the score as steps, what is missing, and its history."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, takewhile
from typing import Final

from agon.api.models.boards import HistoryStep
from agon.app.charts.waterfall import levels
from agon.kernel.explanations import Explanation, Part
from agon.web import addresses
from agon.web.page import Page, Visit
from agon.web.rendering import number_text

PARTS: Final = 200
_CUT: Final = 0.1
_HISTORY: Final = 500
_IDS_SHOWN: Final = 200


@dataclass(frozen=True)
class Step:
    """A part of a score, with its bar in percent of the chart's width."""

    part: Part
    start: float
    width: float
    end: float


def judge(visit: Visit) -> Page:
    """Return why a judge has its credibility, how it judges, and what keeps it from the pool."""
    page = person(replace(visit, query={"board": addresses.JUDGES, **visit.query}))
    report = visit.api.rounds.judge(visit.path["contest"], visit.path["id"], as_of=visit.as_of)
    return replace(page, template="judge.html", values={**page.values, "report": report})


def person(visit: Visit) -> Page:
    """Return why a participant has its score on a board, the other boards, and the history."""
    contest, name = visit.contest(), visit.path["id"]
    boards = visit.api.boards
    board = visit.query.get("board") or boards.default(contest.id)
    participant = visit.api.snapshots.participant(contest.id, name)
    if all(each["board"] != board for each in participant.boards) and "board" not in visit.query:
        board = participant.boards[0]["board"] if participant.boards else board
    explanation = boards.explain(contest.id, name, board=board, as_of=visit.as_of)
    steps = steps_of(explanation)
    values = {
        "contest": contest,
        "id": name,
        "board": board,
        "boards": [each for each in participant.boards if not _is_family(each["board"], board)],
        "explanation": explanation,
        "steps": steps,
        "more": len(explanation.parts) - len(steps),
        "next_steps": [part for part in explanation.parts if part.missing],
        "history": _history(visit, contest.id, name, board),
        "ids_shown": _IDS_SHOWN,
        "as_of": visit.as_of,
    }
    return Page(
        template="person.html",
        title=f"{name} · {contest.title}",
        values=values,
        data=addresses.api(
            "contests", contest.id, "boards", board, "explanations", name, as_of=visit.as_of
        ),
        summary=_summary(explanation),
        picture=addresses.card(contest.id, name, board=board, as_of=visit.as_of),
    )


def _summary(explanation: Explanation) -> str:
    """Return the score in words."""
    if explanation.score is None:
        return f"no score: {explanation.reason}"
    return f"rank {explanation.rank}, {number_text(explanation.score)}"


def steps_of(explanation: Explanation) -> list[Step]:
    """Return the parts with their bars: from the sum before to the sum after, on one scale."""
    parts = explanation.first_parts(PARTS)
    totals, low, high = levels([part.points for part in parts], cut=_CUT)
    scale = 100 / (high - low) if high > low else 0.0

    def at(value: float) -> float:
        return (min(max(value, low), high) - low) * scale

    return [
        Step(part, min(at(before), at(after)), abs(at(after) - at(before)), at(after))
        for part, (before, after) in zip(parts, pairwise(totals), strict=True)
    ]


def _history(visit: Visit, contest: str, name: str, board: str) -> Sequence[HistoryStep]:
    """Return the steps up to the position that the page shows, oldest first."""
    boards = visit.api.boards
    position = boards.page(contest, board, as_of=visit.as_of, limit=1).seq
    steps = takewhile(lambda step: step.seq <= position, boards.history(contest, name, board=board))
    return list(islice(steps, _HISTORY))


def _is_family(name: str, shown: str) -> bool:
    """Return whether a board is one of many of a kind, such as that of a problem."""
    return ":" in name and name != shown
