"""The page of the run of a submitted agent: progress, and the result of each of its trials."""

from agon.api.models.contests import Contest
from agon.app.access.permissions import permits
from agon.disciplines import discipline
from agon.errors import NotFound
from agon.web import addresses
from agon.web.page import SitePage, Visit


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
            "keys": sorted({key for trial in trials.trials for key in trial.rewards}),
        },
        data=addresses.api("contests", contest.id, "submissions", trials.submission, "trials"),
    )


def address_of_run(visit: Visit, contest: Contest, board: str, name: str) -> str:
    """Return the address of the run behind a row; empty: there is none that the visitor may see."""
    kind = discipline(contest.discipline).submissions
    if kind is None or kind.judging != "trials" or board != kind.table:
        return ""
    if not permits(visit.caller, "submission.read-own", contest=contest):
        return ""
    try:
        return addresses.run(contest.id, visit.api.submissions.get(contest.id, name).id)
    except NotFound:  # a record that was sent, or somebody else's
        return ""
