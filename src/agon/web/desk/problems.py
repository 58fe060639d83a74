"""Problems on the desk: publish and reveal them."""

import re
from typing import Any, Final

from agon.api.models.submissions import ProblemCreate
from agon.disciplines import discipline
from agon.errors import NotFound
from agon.web import addresses
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import act, contest_page, listing
from agon.web.form_times import ZONE, zoned_times
from agon.web.page import Redirect, SitePage, Visit

EXAMPLE: Final = "def seq(n):\n    return n * n\n"
"""A setter's program, which the form begins with."""

_TEXTS: Final = ("title", "slug")
_NUMBERS: Final = ("N_check", "first_index")
_NUMBER: Final = re.compile(r"-?[0-9]{1,16}")


def problems(visit: Visit) -> SitePage:
    """Return the problems, newest first, and the form that publishes one."""
    return _page(visit)


def publish(visit: Visit) -> SitePage | Redirect:
    """Queue the validation of a setter's program; a worker publishes the problem."""
    contest = visit.contest()
    freeze = {"freeze_started_at": visit.form.get("freeze_started_at", "")}
    times, wrong = zoned_times(freeze, visit.form.get(ZONE, ""))
    if wrong:
        return _page(visit, error=FormErrors(fields=wrong))
    request = ProblemCreate(package=_package(visit) | times)
    return act(
        lambda: visit.api.problems.publish(contest.id, request),
        following=lambda receipt: addresses.desk(contest.id, "jobs", receipt.job.id),
        otherwise=lambda error: _page(visit, error=error),
    )


def reveal(visit: Visit) -> SitePage | Redirect:
    """Show the program and the terms of a problem to everyone."""
    contest = visit.contest()
    return act(
        lambda: visit.api.problems.reveal(contest.id, visit.path["id"]),
        following=addresses.desk(contest.id, "problems"),
        otherwise=lambda error: _page(visit, error=error),
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


def _page(visit: Visit, *, error: Exception | FormErrors | None = None) -> SitePage:
    contest = visit.contest()
    if discipline(contest.discipline).problems is None:
        raise NotFound(f"{contest.id} is a {contest.discipline} contest, which has no problems")
    published = listing(visit, visit.api.problems.list(contest.id), oldest_first=True)
    values = {"problems": published, "example": EXAMPLE, "now": visit.service.clock()}
    return contest_page(
        visit, contest, "problems", values, error=error,
        data=addresses.api("contests", contest.id, "problems"),
    )  # fmt: skip
