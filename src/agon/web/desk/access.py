"""Tokens, users and the audit log of the server, for operators."""

from typing import Any, Final, get_args

from pydantic import ValidationError

from agon.api.models.access import TokenCreate, UserCreate, UserUpdate
from agon.app.access.permissions import allow
from agon.entities.access import Role
from agon.errors import AgonError, NotFound
from agon.web import addresses
from agon.web.desk.forms import FormErrors
from agon.web.desk.layout import act, listing, server_page
from agon.web.page import Redirect, SitePage, Visit

_TOKEN: Final = frozenset({"user", "role", "label", "contests", "days"})
_NO_CONTESTS: Final = "Name the contests, or confirm that the token is for no named ones."
_USER: Final = frozenset({"id", "name", "password"})


def tokens(
    visit: Visit, *, error: Exception | FormErrors | None = None, secret: str = ""
) -> SitePage:
    """Return the tokens of all users or of one, and the form that creates one."""
    allow(visit.caller, "token.manage")
    values = {
        "tokens": listing(
            visit, visit.api.access.tokens(user=visit.query.get("user") or None), oldest_first=True
        ),
        "roles": get_args(Role),
        "now": visit.service.clock(),
        "secret": secret,
        "given": {} if secret else visit.form,
        "user": visit.query.get("user", ""),
    }
    return server_page(
        visit, "tokens", values, error=error, names=_TOKEN, data=addresses.api("tokens")
    )


def create_token(visit: Visit) -> SitePage:
    """Create a token; its text is shown once."""
    form = visit.form
    fields: dict[str, Any] = {
        name: form[name] for name in ("user", "role", "label") if form.get(name)
    }
    if contests := form.get("contests", "").split():
        fields["contests"] = contests
    elif form.get("everywhere") != "yes":
        return tokens(visit, error=FormErrors(fields={"contests": (_NO_CONTESTS,)}))
    fields["days"] = form.get("days", "").strip() or None
    try:
        created = visit.api.access.create_token(TokenCreate.model_validate(fields))
    except (AgonError, ValidationError) as error:
        return tokens(visit, error=error)
    return tokens(visit, secret=created.token)


def revoke_token(visit: Visit) -> SitePage | Redirect:
    """Revoke a token."""
    return act(
        lambda: visit.api.access.revoke_token(visit.path["id"]),
        following=addresses.desks("tokens"),
        otherwise=lambda error: tokens(visit, error=error),
    )


def users(visit: Visit, *, error: Exception | None = None) -> SitePage:
    """Return all users, and the form that creates one."""
    allow(visit.caller, "user.manage")
    values = {"users": listing(visit, visit.api.access.users())}
    return server_page(
        visit, "users", values, error=error, names=_USER, data=addresses.api("users")
    )


def create_user(visit: Visit) -> SitePage | Redirect:
    """Create a user."""
    fields = {name: visit.form[name] for name in _USER if visit.form.get(name)}
    return act(
        lambda: visit.api.access.create_user(UserCreate.model_validate(fields)),
        following=addresses.desks("users"),
        otherwise=lambda error: users(visit, error=error),
    )


def change_user(visit: Visit) -> SitePage | Redirect:
    """Disable or enable a user, or set a password."""
    action = visit.path["action"]
    fields: dict[str, Any]
    if action == "password":
        fields = {"password": visit.form.get("password", "")}
    elif action in {"disable", "enable"}:
        fields = {"disabled": action == "disable"}
    else:
        raise NotFound(f"a user has no action {action!r}; use disable, enable or password")
    return act(
        lambda: visit.api.access.update_user(visit.path["id"], UserUpdate.model_validate(fields)),
        following=addresses.desks("users"),
        otherwise=lambda error: users(visit, error=error),
    )


def audit(visit: Visit) -> SitePage:
    """Return the newest entries of the audit log."""
    allow(visit.caller, "audit.read")
    entries = listing(visit, visit.api.access.audit())
    return server_page(visit, "audit", {"entries": entries}, data=addresses.api("audit"))
