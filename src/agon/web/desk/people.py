"""The people of a contest: invitations to take part or to judge, and requests to join."""

from itertools import islice
from typing import Final

from pydantic import ValidationError

from agon.api.models.invitations import InvitationCreate
from agon.errors import AgonError, NotFound
from agon.web import addresses
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import SHOWN, act, contest_page, listing
from agon.web.form_times import ZONE, zoned_times
from agon.web.page import Redirect, SitePage, Visit

_FIELDS: Final = frozenset({"role", "user", "max_uses", "approval", "expires_at", "note"})


def people(visit: Visit) -> SitePage:
    """Return the invitations, and the form that creates one."""
    return _page(visit)


def invite(visit: Visit) -> SitePage | Redirect:
    """Create an invitation; its code is shown once."""
    contest = visit.contest()
    fields = {name: text for name, text in visit.form.items() if name in _FIELDS and text.strip()}
    times, wrong = zoned_times(
        {"expires_at": fields.get("expires_at", "")}, visit.form.get(ZONE, "")
    )
    if wrong:
        return _page(visit, error=FormErrors(fields=wrong))
    fields |= times
    try:
        request = InvitationCreate.model_validate(fields)
        created = visit.api.invitations.create(contest.id, request)
    except (AgonError, ValidationError) as error:
        return _page(visit, error=error)
    return _page(visit, code=created.code)


def revoke(visit: Visit) -> SitePage | Redirect:
    """Revoke an invitation; those who accepted it stay."""
    contest = visit.contest()
    return act(
        lambda: visit.api.invitations.revoke(contest.id, visit.path["id"]),
        following=addresses.desk(contest.id, "people"),
        otherwise=lambda error: _page(visit, error=error),
    )


def decide(visit: Visit) -> SitePage | Redirect:
    """Approve or reject a person who accepted an invitation that asks for approval.

    Raises:
        NotFound: there is no such action.
    """
    contest, invitations = visit.contest(), visit.api.invitations
    actions = {"approve": invitations.approve, "reject": invitations.reject}
    action = actions.get(visit.path["action"])
    if action is None:
        raise NotFound("there is no such action; approve or reject")
    return act(
        lambda: action(contest.id, visit.path["id"]),
        following=addresses.desk(contest.id, "people"),
        otherwise=lambda error: _page(visit, error=error),
    )


def _page(visit: Visit, *, error: Exception | FormErrors | None = None, code: str = "") -> SitePage:
    contest = visit.contest()
    values = {
        "invitations": listing(visit, visit.api.invitations.list(contest.id), oldest_first=True),
        "waiting": list(islice(visit.api.invitations.requests(contest.id), SHOWN)),
        "code": code,
        "given": {} if code else visit.form,
    }
    return contest_page(
        visit, contest, "people", values, error=error, names=_FIELDS,
        data=addresses.api("contests", contest.id, "invitations"),
    )  # fmt: skip
