"""The page of the run of a submitted agent: progress, and the result of each of its trials."""

from collections.abc import Sequence
from typing import Final

from agon.api.models.contests import Contest
from agon.api.operations.submissions import MAX_NAMED
from agon.app.access.permissions import permits
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


def addresses_of_runs(
    visit: Visit, contest: Contest, board: str, names: Sequence[str]
) -> dict[str, str]:
    """Return the addresses of the runs behind rows of a board, by the id of the row.

    Rows are left out that are records which were sent, or somebody else's.
    """
    kind = discipline(contest.discipline).submissions
    if kind is None or kind.judging != "trials" or board != kind.table or not names:
        return {}
    if not permits(visit.caller, "submission.read-own", contest=contest):
        return {}
    seen = visit.api.submissions.list(contest.id, id=tuple(names[:MAX_NAMED]))
    return {each.id: addresses.run(contest.id, each.id) for each in seen}
