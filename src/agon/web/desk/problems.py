"""Problems on the desk: publish and reveal them, after a page that shows what will be public."""

import re
from typing import Any, Final

from agon.api.models.submissions import ProblemCreate
from agon.app.contests.submissions.problems import ProblemPublication, planned_publication
from agon.disciplines import discipline
from agon.errors import AgonError, NotFound
from agon.web import addresses
from agon.web.desk.confirmation import confirmation_errors, is_asked
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import act, contest_page, listing
from agon.web.form_times import ZONE, zoned_times
from agon.web.page import Redirect, SitePage, Visit

EXAMPLE: Final = "def seq(n):\n    return n * n\n"
"""A setter's program, which the form begins with."""

_TEXTS: Final = ("title", "slug")
_NUMBERS: Final = ("N_check", "first_index")
_TYPED: Final = ("source", *_TEXTS, *_NUMBERS, "freeze_started_at", ZONE)
_NUMBER: Final = re.compile(r"-?[0-9]{1,16}")


def problems(visit: Visit, *, error: Exception | FormErrors | None = None) -> SitePage:
    """Return the problems, newest first, and the form that publishes one."""
    contest = visit.contest()
    if discipline(contest.discipline).problems is None:
        raise NotFound(f"{contest.id} is a {contest.discipline} contest, which has no problems")
    published = listing(visit, visit.api.problems.list(contest.id), oldest_first=True)
    values = {"problems": published, "example": EXAMPLE, "now": visit.service.clock()}
    return contest_page(
        visit, contest, "problems", values, error=error,
        data=addresses.api("contests", contest.id, "problems"),
    )  # fmt: skip


def publish(visit: Visit) -> SitePage | Redirect:
    """Show what a new problem makes public; once it is confirmed, queue its validation.

    A worker runs the setter's program and publishes the problem.
    """
    contest = visit.contest()
    if visit.form.get("change"):  # back from the page that asks
        return problems(visit)
    freeze = {"freeze_started_at": visit.form.get("freeze_started_at", "")}
    times, wrong = zoned_times(freeze, visit.form.get(ZONE, ""))
    if wrong:
        return problems(visit, error=FormErrors(fields=wrong))
    package = _package(visit) | times
    try:
        plan = planned_publication(visit.service, contest.id, package)
    except AgonError as error:
        return problems(visit, error=error)
    if (wrong_name := confirmation_errors(visit, contest)) is not None:
        return _publication_page(visit, plan, error=wrong_name if is_asked(visit) else None)
    return act(
        lambda: visit.api.problems.publish(contest.id, ProblemCreate(package=package)),
        following=lambda receipt: addresses.desk(contest.id, "jobs", receipt.job.id),
        otherwise=lambda error: problems(visit, error=error),
    )


def reveal_step(visit: Visit, *, error: Exception | FormErrors | None = None) -> SitePage:
    """Return what revealing a problem makes public, and what is open before."""
    contest = visit.contest()
    values = {
        "problem": visit.api.problems.get(contest.id, visit.path["id"]),
        "pending": visit.api.contests.pending(contest.id),
        "now": visit.service.clock(),
    }
    return contest_page(visit, contest, "reveal", values, tab="Problems", error=error)


def reveal(visit: Visit) -> SitePage | Redirect:
    """Show the program and the terms of a problem to everyone, once it is confirmed."""
    contest = visit.contest()
    problem = visit.api.problems.get(contest.id, visit.path["id"])
    if problem.revealed:  # the form was sent twice
        return Redirect(address=addresses.problem(contest.id, problem.id))
    if (wrong := confirmation_errors(visit, contest)) is not None:
        return reveal_step(visit, error=wrong)
    return act(
        lambda: visit.api.problems.reveal(contest.id, problem.id),
        following=addresses.problem(contest.id, problem.id),
        otherwise=lambda error: reveal_step(visit, error=error),
    )


def _package(visit: Visit) -> dict[str, Any]:
    """Return the fields of the form as those of ``problem.json``; empty ones are left out.

    Text that is no number stays, so that the validation of the package names it.
    """
    form = visit.form
    package: dict[str, Any] = {"source": form.get("source", "").replace("\r\n", "\n")}
    package |= {name: text for name in _TEXTS if (text := form.get(name, "").strip())}
    for name in _NUMBERS:
        if text := form.get(name, "").strip():
            package[name] = int(text) if _NUMBER.fullmatch(text) else text
    return package


def _publication_page(
    visit: Visit, plan: ProblemPublication, *, error: FormErrors | None = None
) -> SitePage:
    typed = {name: text for name, text in visit.form.items() if name in _TYPED}
    return contest_page(
        visit, visit.contest(), "publish", {"plan": plan, "typed": typed}, tab="Problems",
        error=error,
    )  # fmt: skip
