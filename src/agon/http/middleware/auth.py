"""Authenticate requests, and limit the rate of each caller."""

import ipaddress
from dataclasses import replace
from functools import lru_cache
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agon.app.access.permissions import ANONYMOUS, LOCAL
from agon.app.access.tokens import authenticate, public_id
from agon.entities.access import Caller
from agon.errors import Forbidden, Unauthenticated
from agon.http.server_context import ServerContext
from agon.networks import is_in, keyed_network, networks_of
from agon.settings import is_loopback
from agon.web import addresses
from agon.web.cookies import session_token

_DIGITS: Final = 32
_MAX_ADDRESS_LENGTH: Final = 64
_PUBLIC_PATHS: Final = frozenset({"/healthz", "/readyz"})


class AuthMiddleware:
    """Authenticates each request and counts it against its caller's rate.

    ``scope["agon.caller"]`` becomes the caller, ``scope["agon.who"]`` the key of its idempotency
    keys and slots: the token's id.
    """

    def __init__(self, app: ASGIApp, *, serving: ServerContext) -> None:
        self.app = app
        self.serving = serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its caller."""
        if scope["type"] != "http" or scope["path"] in _PUBLIC_PATHS:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        network = self._network(scope, headers)
        if self.serving.settings.auth == "open":
            _require_own_page(scope, headers)
            scope["agon.caller"] = replace(LOCAL, network=network)
            scope["agon.who"] = "open"
        else:
            await self._identify(scope, headers, network)
        await self.app(scope, receive, send)

    async def _identify(self, scope: Scope, headers: Headers, network: str | None) -> None:
        """Authenticate the token that a request brings; without one it is the public's."""
        authorization = headers.get("authorization")
        if authorization is None:
            self._admit_public(scope, network)
        else:
            await self._enter(scope, authorization, network)

    def _admit_public(self, scope: Scope, network: str | None) -> None:
        """Count a request without a token against the rate of its network."""
        scope["agon.headers"] = self.serving.limiter.hit_address(network or "")
        scope["agon.caller"] = replace(ANONYMOUS, network=network)
        scope["agon.who"] = "anonymous"

    async def _enter(self, scope: Scope, authorization: str, network: str | None) -> None:
        """Authenticate a token; wrong ones count against their network's rate, as guesses."""
        scheme, _, text = authorization.partition(" ")
        if scheme.casefold() != "bearer":
            text = ""
        try:
            caller = await run_in_threadpool(
                authenticate, self.serving.service, text.strip(), network=network
            )
        except Unauthenticated:
            self.serving.limiter.hit_address(network or "")
            raise
        scope["agon.who"] = public_id(text.strip())
        scope["agon.headers"] = self.serving.limiter.hit_token(scope["agon.who"])
        scope["agon.caller"] = caller

    def _network(self, scope: Scope, headers: Headers) -> str | None:
        # A proxy may add a header of its own below the client's; all of them are one list.
        forwarded = ",".join(headers.getlist("x-forwarded-for")) or None
        address = client_address(scope, forwarded, self.serving.settings.trusted_proxies)
        if address is None:
            return None
        key = self.serving.service.network_key
        return _hash_address(address, key) if key else None


class SiteAuthMiddleware(AuthMiddleware):
    """Authenticates also by the cookie of a session, which counts for pages only."""

    async def _identify(self, scope: Scope, headers: Headers, network: str | None) -> None:
        # Who signs in is the network: a guess counts against its rate, whatever is sent with it.
        if scope["method"] == "POST" and scope["path"] == addresses.sign_in():
            self._admit_public(scope, network)
        elif "authorization" in headers or not await self._resume(scope, headers, network):
            await super()._identify(scope, headers, network)

    async def _resume(self, scope: Scope, headers: Headers, network: str | None) -> bool:
        """Authenticate the session of the site's visitor; return False if there is none."""
        token = session_token(headers)
        if token is None:
            return False
        try:
            await self._enter(scope, f"Bearer {token}", network)
        except Unauthenticated:  # it has expired, or its token was revoked
            return False
        scope["agon.session"] = token
        return True


def client_address(scope: Scope, forwarded: str | None, trusted: tuple[str, ...]) -> str | None:
    """Return a request's client address; X-Forwarded-For counts only from trusted proxies.

    It is read from the right: the last address that is not a trusted proxy is the client's.
    """
    client = scope.get("client")
    address = client[0] if client else None
    if forwarded is None:
        return address if address is not None and _is_address(address) else None
    networks = networks_of(trusted)
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    while address is not None and hops and is_in(address, networks):
        address = hops.pop()
    return address if address is not None and _is_address(address) else None


def _is_address(text: str) -> bool:
    return len(text) <= _MAX_ADDRESS_LENGTH and _parses_as_address(text)


@lru_cache(maxsize=1024)
def _hash_address(address: str, key: bytes) -> str:
    """Return the keyed hash of an address's network; only this cache holds recent addresses."""
    return keyed_network(address, key=key, digits=_DIGITS)


@lru_cache(maxsize=1024)
def _parses_as_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _require_own_page(scope: Scope, headers: Headers) -> None:
    """Reject pages of other sites: without authentication, a browser would act as an operator.

    Raises:
        Forbidden: the Host header is not this machine's, or the page is another origin's.
    """
    host = headers.get("host", "")
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    if name and not is_loopback(name) and scope.get("client") is not None:
        raise Forbidden(f"with auth = open only this machine is answered, not {name[:80]}")
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != host:
        raise Forbidden("with auth = open pages of other sites may not ask; use a token")


def caller_of(request: Request) -> Caller:
    """Return who sent a request; anonymous where no middleware decided it."""
    caller = request.scope.get("agon.caller")
    return caller if isinstance(caller, Caller) else ANONYMOUS
