"""Answer for the house: who asks, users, tokens, the audit log."""

from dataclasses import asdict
from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access import tokens as token_cases
from agon.app.access import users as user_cases
from agon.app.access.permissions import ACTIONS, permits
from agon.entities.access import Caller
from agon.http.auth import needs
from agon.http.models.house import (
    AuditPage,
    Me,
    NewToken,
    NewUser,
    TokenPage,
    TokenShown,
    TokenTold,
    UserChange,
    UserPage,
    UserTold,
)
from agon.http.pages import Cursor, Limit, after, linked, page_of
from agon.http.routes.common import WRITES, Serves, new_router, refusals

router = new_router("house")

UserId = Annotated[str, Path(alias="id", pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]
TokenId = Annotated[str, Path(alias="id", pattern=r"^[A-Za-z0-9_-]{1,64}$")]


@router.get("/me", operation_id="getMe", summary="Who asks, and what they may do")
def me(caller: Annotated[Caller, needs("me.read")]) -> Me:
    """Tell the caller who they are here."""
    actions = tuple(name for name in sorted(ACTIONS) if permits(caller, name))
    return Me(
        name=caller.name, user=caller.user, role=caller.role, contests=caller.contests,
        scopes=caller.scopes, actions=actions,
    )  # fmt: skip


@router.get("/users", operation_id="listUsers", summary="Users")
def list_users(
    request: Request,
    response: Response,
    service: Serves,
    caller: Annotated[Caller, needs("user.manage")],
    limit: Limit = 100,
    cursor: Cursor = None,
) -> UserPage:
    """List users in id order."""
    found = user_cases.users(service, after=after(cursor, kind=str), limit=limit + 1, by=caller)
    page = page_of(found, limit=limit, key=lambda one: one.id, shown=UserTold.model_validate)
    return UserPage(**linked(request, response, page))


@router.post("/users", operation_id="createUser", summary="Create a user", status_code=201,
             responses=refusals(*WRITES))  # fmt: skip
def create_user(
    asked: NewUser, service: Serves, caller: Annotated[Caller, needs("user.manage")]
) -> UserTold:
    """Create a user; with a password for the site, without one for tokens only."""
    made = user_cases.create_user(
        service, user=asked.id, name=asked.name, password=asked.password, by=caller
    )
    return UserTold.model_validate(made)


@router.patch("/users/{id}", operation_id="changeUser", summary="Disable a user, set a password",
              responses=refusals(*WRITES))  # fmt: skip
def change_user(
    name: UserId,
    asked: UserChange,
    service: Serves,
    caller: Annotated[Caller, needs("user.manage")],
) -> UserTold:
    """Change what is given, leave the rest."""
    with service.store.read() as session:
        changed = session.access.user(name)
    if asked.password is not None:
        changed = user_cases.set_password(service, user=name, password=asked.password, by=caller)
    if asked.disabled is not None:
        changed = user_cases.disable_user(service, user=name, disabled=asked.disabled, by=caller)
    return UserTold.model_validate(changed)


@router.get("/tokens", operation_id="listTokens", summary="Tokens, without their secrets")
def list_tokens(
    request: Request,
    response: Response,
    service: Serves,
    caller: Annotated[Caller, needs("token.manage")],
    user: Annotated[str | None, Query(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> TokenPage:
    """List tokens in id order."""
    found = token_cases.tokens(
        service, user=user, after=after(cursor, kind=str), limit=limit + 1, by=caller
    )
    page = page_of(found, limit=limit, key=lambda one: one.id, shown=TokenTold.model_validate)
    return TokenPage(**linked(request, response, page))


@router.post("/tokens", operation_id="createToken", summary="Create a token", status_code=201,
             responses=refusals(*WRITES))  # fmt: skip
def create_token(
    request: Request,
    asked: NewToken,
    service: Serves,
    caller: Annotated[Caller, needs("token.manage")],
) -> TokenShown:
    """Create a token and show its text, this once."""
    request.scope["agon.secret"] = True
    grant = token_cases.Grant(**asked.model_dump())
    token, text = token_cases.create_token(service, grant, by=caller)
    shown = asdict(token)
    del shown["secret_sha256"]
    return TokenShown(**shown, token=text)


@router.delete("/tokens/{id}", operation_id="revokeToken", summary="Revoke a token",
               responses=refusals(*WRITES))  # fmt: skip
def revoke_token(
    name: TokenId, service: Serves, caller: Annotated[Caller, needs("token.manage")]
) -> TokenTold:
    """Revoke a token at once and for good."""
    return TokenTold.model_validate(token_cases.revoke_token(service, name, by=caller))


@router.get("/audit", operation_id="listAudit", summary="Who did what")
def list_audit(
    request: Request,
    response: Response,
    service: Serves,
    _: Annotated[Caller, needs("audit.read")],
    limit: Limit = 100,
    cursor: Cursor = None,
) -> AuditPage:
    """List the audit log, newest first."""
    with service.store.read() as session:
        found = session.access.audit_entries(before=after(cursor, kind=int), limit=limit + 1)
    page = page_of(found, limit=limit, key=lambda one: one.no, shown=asdict)
    return AuditPage(**linked(request, response, page))
