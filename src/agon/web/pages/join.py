"""The page that the link of an invitation leads to; the code behind # is not sent to the server."""

from typing import Final

from pydantic import ValidationError

from agon.api.models.invitations import InvitationAccept, Membership
from agon.app.access import sessions
from agon.errors import AgonError, Conflict, NotFound
from agon.web import addresses
from agon.web.desk.forms import FormErrors, form_errors
from agon.web.page import Redirect, SitePage, Visit

_TEXTS: Final = ("code", "user", "name")
_FIELDS: Final = frozenset({*_TEXTS, "password"})


def join(visit: Visit) -> SitePage:
    """Return the form that accepts an invitation."""
    return _page(visit, FormErrors())


def accept(visit: Visit) -> SitePage | Redirect:
    """Accept an invitation, as a new user or as the visitor, and sign in to its contest."""
    fields = {name: text for name in _TEXTS if (text := visit.form.get(name, "").strip())}
    fields["code"] = fields.get("code", "").rpartition("#")[2]
    if visit.caller.user is None:  # without a password the new user could not sign in again
        fields["password"] = visit.form.get("password", "")
    try:
        member = visit.api.invitations.accept(InvitationAccept.model_validate(fields))
    except (AgonError, ValidationError) as error:
        return _page(visit, _errors(error))
    following = addresses.join(waits=True) if member.waits else addresses.contest(member.contest)
    return Redirect(address=following, session=_session(visit, member))


def _session(visit: Visit, member: Membership) -> str:
    """Return the session of who joined, which has all rights of the one before."""
    service, caller = visit.service, visit.caller
    if visit.session is not None:
        return sessions.extend_session(service, member.token, former=visit.session, by=caller)
    if caller.user is not None:
        return sessions.sign_in_with_token(service, member.token, network=caller.network)
    return sessions.begin_with_password(
        service, member.user, network=caller.network, former=visit.sent_session
    )


def _errors(error: Exception) -> FormErrors:
    """Return an error at the field it is about."""
    if isinstance(error, ValidationError):
        return form_errors(error, names=_FIELDS)
    name = "code" if isinstance(error, NotFound) else "user" if isinstance(error, Conflict) else ""
    if not name:
        return form_errors(error)
    return FormErrors(fields={name: (str(error),)})


def _page(visit: Visit, errors: FormErrors) -> SitePage:
    return SitePage(
        template="join.html",
        title="Accept an invitation",
        values={"form": visit.form, "errors": errors, "waits": "waits" in visit.query},
        status=422 if errors else 200,
    )
