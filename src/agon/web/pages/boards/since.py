"""What changed of a participant's score from an earlier position to the one that a page shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agon.api.models.boards import HistoryStep
from agon.errors import NotFound
from agon.kernel.explanations import Explanation
from agon.web.page import Visit

_ROWS = 200
"""Maximum number of changed parts that are shown."""


@dataclass(frozen=True)
class ChangedRecords:
    """The records of a table that a part is based on now, or was before.

    Attributes:
        table: the table.
        added, removed: ids of records that only the later or only the earlier part lists.
        before, after: the number of all records that each part is based on.
    """

    table: str
    added: Sequence[str]
    removed: Sequence[str]
    before: int
    after: int


@dataclass(frozen=True)
class ChangedPart:
    """A part of a score that differs between two positions.

    Attributes:
        name: its name.
        before, after: its points; None: the score had no such part.
        change: their difference.
        records: the records that differ, by table.
    """

    name: str
    before: float | None
    after: float | None
    change: float
    records: Sequence[ChangedRecords]


@dataclass(frozen=True)
class Since:
    """A score at an earlier position next to the one that a page shows.

    Attributes:
        since: the position or time that was asked for.
        before: the explanation as of then; None: there is none.
        error: why there is none.
        parts: the parts that differ, those that change the score most first.
        more: the number of changed parts that are left out.
        steps: the steps of the history in between, oldest first.
    """

    since: str
    before: Explanation | None
    error: str
    parts: Sequence[ChangedPart]
    more: int
    steps: Sequence[HistoryStep]


def since(
    visit: Visit, contest: str, board: str, after: Explanation, history: Sequence[HistoryStep]
) -> Since | None:
    """Return what changed since the position or time in ``since``; None: there is none.

    Args:
        visit: the request.
        contest: the contest's id.
        board: the board.
        after: the score that the page shows.
        history: its steps up to the page's position.

    Raises:
        Unreadable: ``since`` is neither a position nor a time.
    """
    text = visit.query.get("since")
    if not text:
        return None
    try:
        seq = visit.api.boards.page(contest, board, as_of=text, limit=1).seq
        before = visit.api.boards.explain(contest, after.id, board=board, as_of=text)
    except NotFound as error:
        return Since(text, None, str(error), (), 0, ())
    parts = changed_parts(before, after)
    steps = [step for step in history if step.seq > seq]
    return Since(text, before, "", parts[:_ROWS], len(parts[_ROWS:]), steps)


def changed_parts(before: Explanation, after: Explanation) -> list[ChangedPart]:
    """Return the parts whose points or records differ, those with the largest change first.

    The changes sum to the difference of the scores.
    """
    points_before, points_after = _points(before), _points(after)
    refs_before, refs_after = _records(before), _records(after)
    parts = []
    for name in {**points_before, **points_after}:
        old, new = points_before.get(name), points_after.get(name)
        change = round((new or 0.0) - (old or 0.0), max(before.places, after.places))
        records = _changed_records(refs_before.get(name, {}), refs_after.get(name, {}))
        if change or records:
            parts.append(ChangedPart(name, old, new, change, records))
    return sorted(parts, key=lambda part: -abs(part.change))


def previous_positions(history: Sequence[HistoryStep]) -> Mapping[int, int]:
    """Return the position of each step of a history → that of the step before."""
    return {step.seq: before.seq for before, step in pairwise(history)}


def _points(explanation: Explanation) -> dict[str, float]:
    points: dict[str, float] = {}
    for part in explanation.parts:
        points[part.name] = points.get(part.name, 0.0) + part.points
    return points


def _records(explanation: Explanation) -> dict[str, dict[str, tuple[dict[str, None], int]]]:
    """Return part → table → the ids it lists, in order, and the number of all of them."""
    records: dict[str, dict[str, tuple[dict[str, None], int]]] = {}
    for part in explanation.parts:
        tables = records.setdefault(part.name, {})
        for refs in part.records:
            ids, count = tables.get(refs.table, ({}, 0))
            tables[refs.table] = ({**ids, **dict.fromkeys(refs.ids)}, count + refs.count)
    return records


def _changed_records(
    before: Mapping[str, tuple[Mapping[str, None], int]],
    after: Mapping[str, tuple[Mapping[str, None], int]],
) -> list[ChangedRecords]:
    changed = []
    for table in {**before, **after}:
        old, count_before = before.get(table, ({}, 0))
        new, count_after = after.get(table, ({}, 0))
        if old.keys() != new.keys() or count_before != count_after:
            # An explanation lists the first records only: one that is missing in a list that is
            # not complete may still count.
            added = [each for each in new if each not in old] if len(old) == count_before else []
            removed = [each for each in old if each not in new] if len(new) == count_after else []
            changed.append(ChangedRecords(table, added, removed, count_before, count_after))
    return changed
