"""The pages of the run of a submitted agent: the results of its trials, and the details of one."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from agon.api.models.contests import Contest
from agon.api.operations.submissions import MAX_NAMED
from agon.app.tasks.results.details import details_json, shorten_details
from agon.app.tasks.results.drawing import draw_details
from agon.disciplines import discipline
from agon.entities.trials import TrialPart
from agon.web import addresses
from agon.web.labels import weight_labels
from agon.web.page import SitePage, Visit

_MAX_DRAWN: Final = 200_000
"""Bytes of the details of a trial on a page."""
_OPTIONAL: Final = ("reason", "agent_exit_code", "attempts", "seconds", "tokens", "cost_usd")
"""What a trial may have; a column is shown where some trial of the run has it."""


def run(visit: Visit) -> SitePage:
    """Return the run of the submission in the path."""
    contest = visit.contest()
    trials = visit.api.submissions.trials(contest.id, visit.path["id"])
    return SitePage(
        template="run.html",
        title=f"Run {trials.submission[:40]} · {contest.title}",
        values={
            "contest": contest,
            "run": trials,
            "miner": weight_labels(contest)[0](str(trials.miner_uid)),
            "has": {
                name: any(getattr(trial, name) not in {None, ""} for trial in trials.trials)
                for name in _OPTIONAL
            },
            "keys": sorted({key for trial in trials.trials for key in trial.rewards}),
        },
        data=addresses.api("contests", contest.id, "submissions", trials.submission, "trials"),
    )


def trial(visit: Visit) -> SitePage:
    """Return what happened in the trial in the path, drawn as on the page of a run's folder."""
    contest = visit.contest()
    details = visit.api.submissions.trial(contest.id, visit.path["id"], visit.path["task"])
    drawn, is_whole = _drawn(details.parts)
    return SitePage(
        template="trial.html",
        title=f"Trial on {details.task[:40]} · {contest.title}",
        values={
            "contest": contest,
            "details": details,
            "whole": details.parts[0],
            "drawn": Markup(drawn),  # noqa: S704 - it is escaped
            "is_whole": is_whole,
        },
        data=addresses.api(
            "contests", contest.id, "submissions", details.submission, "trials", details.task
        ),
    )


def _drawn(parts: tuple[TrialPart, ...]) -> tuple[str, bool]:
    """Return details as markup that a page may have, and whether nothing is left out for that."""
    drawn, size = draw_details(parts), len(details_json(parts))
    is_whole = len(drawn.encode()) <= _MAX_DRAWN
    while len(drawn.encode()) > _MAX_DRAWN and size > 1:
        size //= 2
        drawn = draw_details(shorten_details(parts, max_bytes=size))
    return drawn, is_whole


def addresses_of_runs(
    visit: Visit, contest: Contest, board: str, names: Sequence[str]
) -> dict[str, str]:
    """Return the addresses of the runs behind rows of a board, by the id of the row.

    Rows are left out that are records which were sent, or whose runs the visitor may not see.
    """
    kind = discipline(contest.discipline).submissions
    if kind is None or kind.judging != "trials" or board != kind.table or not names:
        return {}
    seen = visit.api.submissions.runs(contest.id, id=tuple(names[:MAX_NAMED]))
    return {each.id: addresses.run(contest.id, each.id) for each in seen}
