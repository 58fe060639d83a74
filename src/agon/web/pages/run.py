"""The pages of the run of a submitted agent: the results of its trials, and the details of one."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from agon.api.models.contests import Contest
from agon.api.operations.submissions import MAX_NAMED
from agon.app.tasks.results.drawing import draw_details
from agon.disciplines import discipline
from agon.web import addresses
from agon.web.labels import weight_labels
from agon.web.page import SitePage, Visit

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
    return SitePage(
        template="trial.html",
        title=f"Trial on {details.task[:40]} · {contest.title}",
        values={
            "contest": contest,
            "details": details,
            "whole": details.parts[0],
            "drawn": Markup(draw_details(details.parts)),  # noqa: S704 - it is escaped
        },
        data=addresses.api(
            "contests", contest.id, "submissions", details.submission, "trials", details.task
        ),
    )


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
