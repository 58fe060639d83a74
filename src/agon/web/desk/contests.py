"""The desk of all contests: list them, create one."""

from typing import Final

from agon import disciplines
from agon.api.models.contests import ContestCreate
from agon.app.access.permissions import allow, permits
from agon.editions import editions
from agon.web import addresses
from agon.web.desk.layout import act, listing, server_page
from agon.web.page import Redirect, SitePage, Visit

_FIELDS: Final = frozenset({"id", "discipline", "title", "edition", "visibility", "description"})


def contests(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return the contests, and the form that creates one."""
    allow(visit.caller, "contest.manage")
    own = (
        contest
        for contest in visit.api.contests.list()
        if permits(visit.caller, "contest.manage", contest=contest)
    )
    values = {
        "contests": listing(visit, own),
        "disciplines": {name: list(editions(name)) for name in disciplines.names()},
    }
    return server_page(visit, "contests", values, error=error, names=_FIELDS)


def create(visit: Visit) -> SitePage | Redirect:
    """Create a contest; its own desk opens it."""
    fields = {name: text for name, text in visit.form.items() if name in _FIELDS and text.strip()}
    return act(
        lambda: visit.api.contests.create(ContestCreate.model_validate(fields)),
        following=lambda created: addresses.desk(created.id),
        otherwise=lambda error: contests(visit, error=error),
    )
