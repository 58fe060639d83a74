"""The steps of the desk that make a result final, or void, and those that take them back."""

from agon.api.models.base import ReasonRequest
from agon.api.models.contests import FinalizeRequest
from agon.errors import NotFound
from agon.web import addresses
from agon.web.desk.confirmation import confirmation_errors
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import act, contest_page
from agon.web.labels import labels
from agon.web.page import Redirect, SitePage, Visit


def final_step(visit: Visit, *, error: Exception | FormErrors | None = None) -> SitePage:
    """Return what a final result makes public, what is open before, and the form for it."""
    contest = visit.contest()
    try:
        page = visit.api.boards.page(contest.id, limit=10)
    except NotFound:  # nothing is published
        page = None
    values = {
        "pending": visit.api.contests.pending(contest.id),
        "page": page,
        "named": None if page is None else labels(contest, page.board),
    }
    return contest_page(
        visit, contest, "finalize", values, tab="Overview", error=error,
        names=frozenset({"reason"}),
        data=addresses.api("contests", contest.id, "finalization"),
    )  # fmt: skip


def finalize(visit: Visit) -> SitePage | Redirect:
    """Publish the final boards, once the contest's name is typed."""
    contest = visit.contest()
    if contest.state == "final":  # the form was sent twice
        return Redirect(address=addresses.desk(contest.id, "finalize"))
    if (wrong := confirmation_errors(visit, contest)) is not None:
        return final_step(visit, error=wrong)
    request = FinalizeRequest(force=visit.form.get("force") == "yes")
    return act(
        lambda: visit.api.contests.finalize(contest.id, request),
        following=addresses.desk(contest.id, "finalize"),
        otherwise=lambda error: final_step(visit, error=error),
    )


def unfinalize(visit: Visit) -> SitePage | Redirect:
    """Take the final result back, with a reason."""
    contest = visit.contest()
    if contest.state != "final":  # the form was sent twice
        return Redirect(address=addresses.desk(contest.id))
    return act(
        lambda: visit.api.contests.unfinalize(contest.id, _reason(visit)),
        following=addresses.desk(contest.id),
        otherwise=lambda error: final_step(visit, error=error),
    )


def void_step(visit: Visit, *, error: Exception | FormErrors | None = None) -> SitePage:
    """Return what it means that a contest is void, and the form for it."""
    contest = visit.contest()
    values = {"pending": visit.api.contests.pending(contest.id)}
    return contest_page(
        visit, contest, "void", values, tab="Overview", error=error,
        names=frozenset({"reason"}),
        data=addresses.api("contests", contest.id, "finalization"),
    )  # fmt: skip


def void(visit: Visit) -> SitePage | Redirect:
    """Declare the contest void, once its name is typed."""
    contest = visit.contest()
    if contest.state == "void":  # the form was sent twice
        return Redirect(address=addresses.desk(contest.id, "void"))
    if (wrong := confirmation_errors(visit, contest)) is not None:
        return void_step(visit, error=wrong)
    return act(
        lambda: visit.api.contests.void(contest.id, _reason(visit)),
        following=addresses.desk(contest.id, "void"),
        otherwise=lambda error: void_step(visit, error=error),
    )


def restore(visit: Visit) -> SitePage | Redirect:
    """Let the contest count again, with a reason."""
    contest = visit.contest()
    if contest.state != "void":  # the form was sent twice
        return Redirect(address=addresses.desk(contest.id))
    return act(
        lambda: visit.api.contests.restore(contest.id, _reason(visit)),
        following=addresses.desk(contest.id),
        otherwise=lambda error: void_step(visit, error=error),
    )


def _reason(visit: Visit) -> ReasonRequest:
    return ReasonRequest(reason=visit.form.get("reason", "").strip())
