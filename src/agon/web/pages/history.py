"""The history of a score on the page of a participant: its steps, their causes, and a plot."""

from collections.abc import Sequence
from datetime import UTC
from functools import partial
from itertools import islice, takewhile
from typing import Final

from markupsafe import Markup

from agon.api.models.boards import HistoryStep
from agon.api.models.contests import Contest
from agon.app.charts import Point, timeline
from agon.web import addresses
from agon.web.page import Visit
from agon.web.pages.boards.since import previous_positions
from agon.web.rendering import for_both_widths, is_share_of, score_text, time_text

MAX_STEPS: Final = 500
"""Maximum number of steps that are shown."""


def history_of(
    visit: Visit, contest: str, name: str, board: str, position: int
) -> Sequence[HistoryStep]:
    """Return the steps up to the position that the page shows, oldest first."""
    steps = takewhile(
        lambda step: step.seq <= position, visit.api.boards.history(contest, name, board=board)
    )
    return list(islice(steps, MAX_STEPS))


def times_of(history: Sequence[HistoryStep]) -> dict[int, str]:
    """Return the time of each step by its position; to the second where two share a minute."""
    minutes = {step.seq: time_text(step.at) for step in history}
    if len({*minutes.values()}) == len(minutes):
        return minutes
    return {step.seq: f"{step.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" for step in history}


def history_plot(
    contest: Contest, name: str, board: str, history: Sequence[HistoryStep]
) -> Markup | None:
    """Return the history as a chart in which each point opens the score as of then."""
    previous = previous_positions(history)
    text = partial(score_text, contest.discipline, board)
    percent = is_share_of(contest.discipline, board)
    times = times_of(history)
    points = [
        Point(
            step.at,
            step.score,
            f"{times[step.seq]}: {text(step.score)}, {cause_of(step)}",
            addresses.person(
                contest.id, name, board=board, as_of=step.seq, since=previous.get(step.seq)
            ),
        )
        for step in history
        if step.score is not None
    ]
    if len(points) <= 1:
        return None  # the table says it
    return for_both_widths(
        lambda narrow: timeline(points, name="plot", title="Score", narrow=narrow, percent=percent)
    )


def cause_of(step: HistoryStep) -> str:
    """Return what caused a step: a change set, the reason for having no score, or records."""
    if step.by is not None:
        undone = ", rolled back" if step.by.rolled_back else ""
        return f"change set {step.by.change} ({step.by.kind}{undone}): {step.by.reason}"
    return step.reason or "new records"
