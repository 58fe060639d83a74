"""The caller, users, tokens and the audit log."""

from dataclasses import asdict
from typing import Annotated

from pydantic import Field

from agon.api.command import Command, Option
from agon.api.models.access import (
    AuditEntry,
    Me,
    Right,
    Token,
    TokenCreate,
    TokenWithSecret,
    User,
    UserCreate,
    UserName,
    UserUpdate,
    UserWithSimilar,
)
from agon.api.models.base import Page
from agon.api.operation import Context, operation
from agon.api.pages import PageRequest
from agon.api.transport import Noun
from agon.app.access import identities, tokens, users
from agon.app.access.permissions import ACTIONS, joint_span, permits, widest_span

TokenId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


@operation("GET", "/me", id="getMe", permission="me.read", cost="quick", summary="Get the caller")
def get_me(ctx: Context) -> Me:
    """Return the caller with all permissions."""
    caller = ctx.caller
    return Me(
        name=caller.name,
        user=caller.user,
        role=caller.role,
        contests=joint_span(caller.rights),
        scopes=caller.scopes,
        rights=tuple(map(Right.model_validate, caller.rights)),
        actions=tuple(action for action in sorted(ACTIONS) if permits(caller, action)),
    )


@operation("GET", "/users", id="listUsers", permission="user.manage",
           cost="quick", summary="List users",
           page_size=100,
           command=Command("user list", columns=("id", "name", "created_at", "disabled"))
)  # fmt: skip
def list_users(ctx: Context, page: PageRequest) -> Page[User]:
    """Return users in the order of their ids.

    $ agon user list
        List users.

        Neither passwords nor their hashes are shown.

          agon user list --format csv
    """
    stored = users.users(ctx.service, after=page.after(str), limit=page.sought)
    return page.page(stored, key=lambda user: user.id, item=User.model_validate)


@operation("POST", "/users", id="createUser", permission="user.manage",
           cost="passwords", records="none", summary="Create a user",
           status=201)  # fmt: skip
def create_user(ctx: Context, request: UserCreate) -> UserWithSimilar:
    """Create a user: with a password for the web site, without one for tokens only.

    The response says whom the id could be mistaken for; only reserved ids are rejected.
    """
    created = users.create_user(
        ctx.service, user=request.id, name=request.name, password=request.password, by=ctx.caller
    )
    with ctx.service.store.read() as session:
        like = identities.resemblance(session, created.id)
    return UserWithSimilar.model_validate(
        {
            **vars(User.model_validate(created)),
            "similar_users": like.users,
            "named_in": like.contests,
        }
    )


@operation("PATCH", "/users/{id}", id="changeUser", permission="user.manage",
           cost="passwords", records="none", summary="Disable a user or set a password",
           command=Command(
               "user disable", without=("password",),
               says="{result.id} is {result.disabled:disabled|enabled}",
               options={"disabled": Option("--undo", help="Enable them again.",
                                           switch=(True, False))}))  # fmt: skip
def update_user(ctx: Context, user: UserName, request: UserUpdate) -> User:
    """Change the fields that are given, and leave the others.

    $ agon user disable
        Disable the user ID: their tokens and password open nothing.

        Records of the user stay; --undo enables the user again.

          agon user disable mallory
          agon user disable mallory --undo
    """
    with ctx.service.store.read() as session:
        changed = session.access.user(user)
    if request.password is not None:
        changed = users.set_password(
            ctx.service, user=user, password=request.password, by=ctx.caller
        )
    if request.disabled is not None:
        changed = users.disable_user(
            ctx.service, user=user, disabled=request.disabled, by=ctx.caller
        )
    return User.model_validate(changed)


@operation("GET", "/tokens", id="listTokens", permission="token.manage",
           cost="quick", summary="List tokens",
           page_size=100,
           command=Command(
               "token list", blank={"scopes": "all"},
               columns=("id", "user", "role", "expires_at", "revoked_at", "contests", "scopes",
                        "used_at", "label"),
               options={"user": Option(help="Only of this user.")}))  # fmt: skip
def list_tokens(ctx: Context, page: PageRequest, *, user: UserName | None = None) -> Page[Token]:
    """Return tokens in the order of their ids, without their texts.

    $ agon token list
        List tokens; their secrets are not stored.

        Each with its role, contests, scopes, expiry and last use.

          agon token list --user olga
    """
    stored = tokens.tokens(ctx.service, user=user, after=page.after(str), limit=page.sought)
    return page.page(stored, key=lambda token: token.id, item=Token.model_validate)


@operation("POST", "/tokens", id="createToken", permission="token.manage",
           cost="quick", records="none", summary="Create a token", status=201, secret=True,
           command=Command(
               "token create", creates=True, once="token",
               note="token {result.id} of {result.user}, {result.role}, until "
               "{result.expires_at:%Y-%m-%d %H:%M} UTC; it is shown only once",
               flags={"yes": "Create it without --contest, without being asked."},
               options={
                   "user": Option(help="The owner; created if missing."),
                   "role": Option(help="The role whose actions it allows."),
                   "contests": Option("--contest", help="A contest in which it gives the role; "
                                      "may be repeated."),
                   "scopes": Option("--scope", help="An action, or the part before its dot; may "
                                    "be repeated (default: all of the role)."),
                   "days": Option(help="Until it expires."),
                   "label": Option(help="Label, shown in agon token list.")}))  # fmt: skip
def create_token(ctx: Context, request: TokenCreate) -> TokenWithSecret:
    """Create a token. The response holds its text, which is shown only once.

    $ agon token create
        Create a token and print it; it cannot be shown again.

        The database stores only its hash. A missing user is created.

        Without --contest the token is for every public contest and those that its user creates, now
        and later; an operator's or a worker's is for every contest. That is asked before, except
        with --yes; without a terminal only operators' and workers' tokens need no --yes.

          agon token create --user olga --role organiser --contest spring --days 30
          agon token create --user gpu-7 --role worker --out worker.token
    """
    contests = widest_span(request.role) if request.contests is None else request.contests
    grant = tokens.Grant(**{**request.model_dump(), "contests": contests})
    token, text = tokens.create_token(ctx.service, grant, by=ctx.caller)
    return TokenWithSecret.model_validate({**asdict(token), "token": text})


@operation("DELETE", "/tokens/{id}", id="revokeToken", permission="token.manage",
           cost="quick", records="none", summary="Revoke a token",
           command=Command("token revoke", says="{result.id} of {result.user} is revoked")
)  # fmt: skip
def revoke_token(ctx: Context, token: TokenId) -> Token:
    """Revoke a token, immediately and permanently.

    $ agon token revoke
        Revoke the token ID permanently. The id is the part before the second underscore.

        agon token list shows the ids.

          agon token revoke 9XfEr2bmT0aBq8f0m1vYzw
    """
    return Token.model_validate(tokens.revoke_token(ctx.service, token, by=ctx.caller))


@operation("GET", "/audit", id="listAudit", permission="audit.read", cost="quick",
           summary="List the audit log", page_size=100)  # fmt: skip
def list_audit(ctx: Context, page: PageRequest) -> Page[AuditEntry]:
    """Return the audit log, newest first."""
    with ctx.service.store.read() as session:
        entries = session.access.audit_entries(before=page.after(int), limit=page.sought)
    return page.page(entries, key=lambda entry: entry.no, item=AuditEntry.model_validate)


class Access(Noun):
    """The caller, users and tokens."""

    me = get_me
    users = list_users
    create_user = create_user
    update_user = update_user
    tokens = list_tokens
    create_token = create_token
    revoke_token = revoke_token
    audit = list_audit
