"""Authenticate requests, and limit the rate of each caller."""

import ipaddress
from functools import lru_cache
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agon.app.access.permissions import ANONYMOUS
from agon.app.access.tokens import authenticate
from agon.entities.access import Caller
from agon.errors import Forbidden, Unauthenticated
from agon.http.serving import Serving
from agon.networks import keyed_network
from agon.settings import is_loopback

_DIGITS: Final = 32
_LONGEST_ADDRESS: Final = 64
_WITHOUT: Final = frozenset({"/healthz", "/readyz"})


class Gate:
    """Find out who sends a request, and refuse those who ask too often.

    ``scope["agon.caller"]`` is who asks, ``scope["agon.who"]`` the name under which repeated
    requests are known: the token's id.
    """

    def __init__(self, app: ASGIApp, *, serving: Serving) -> None:
        self.app = app
        self.serving = serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its caller."""
        if scope["type"] != "http" or scope["path"] in _WITHOUT:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        network = self._network(scope, headers)
        shown = headers.get("authorization")
        if self.serving.settings.auth == "open":
            _expect_own_page(scope, headers)
            scope["agon.caller"] = Caller(name="local", user=None, role="operator", network=network)
            scope["agon.who"] = "open"
        elif shown is None:
            scope["agon.headers"] = self.serving.limiter.hit_address(network or "")
            scope["agon.caller"] = Caller(name="anonymous", user=None, role=None, network=network)
            scope["agon.who"] = "anonymous"
        else:
            await self._enter(scope, shown, network)
        await self.app(scope, receive, send)

    async def _enter(self, scope: Scope, shown: str, network: str | None) -> None:
        """Let a token in; wrong ones count as requests of their network, so guessing is slow."""
        scheme, _, text = shown.partition(" ")
        if scheme.casefold() != "bearer":
            text = ""
        try:
            caller = await run_in_threadpool(
                authenticate, self.serving.service, text.strip(), network=network
            )
        except Unauthenticated:
            self.serving.limiter.hit_address(network or "")
            raise
        scope["agon.who"] = text.strip()[5:27]
        scope["agon.headers"] = self.serving.limiter.hit_token(scope["agon.who"])
        scope["agon.caller"] = caller

    def _network(self, scope: Scope, headers: Headers) -> str | None:
        # A proxy may add a header of its own below the client's; all of them are one list.
        forwarded = ",".join(headers.getlist("x-forwarded-for")) or None
        address = client_address(scope, forwarded, self.serving.settings.trusted_proxies)
        if address is None:
            return None
        key = self.serving.service.network_key
        return _keyed(address, key) if key else None


def client_address(scope: Scope, forwarded: str | None, trusted: tuple[str, ...]) -> str | None:
    """Return the address a request comes from; proxies are believed only where they are trusted.

    Read from the right: the last address that is no trusted proxy's is the client's.
    """
    client = scope.get("client")
    address = client[0] if client else None
    if forwarded is None:
        return address if address is not None and _is_address(address) else None
    networks = [ipaddress.ip_network(one) for one in trusted]
    hops = [one.strip() for one in forwarded.split(",") if one.strip()]
    while address is not None and hops and _is_in(address, networks):
        address = hops.pop()
    return address if address is not None and _is_address(address) else None


def _is_in(address: str, networks: list[Any]) -> bool:
    return _is_address(address) and any(
        ipaddress.ip_address(address) in network for network in networks
    )


def _is_address(text: str) -> bool:
    return len(text) <= _LONGEST_ADDRESS and _reads_as_address(text)


@lru_cache(maxsize=1024)
def _keyed(address: str, key: bytes) -> str:
    """Hash an address's network; in memory alone the addresses of the last to ask are known."""
    return keyed_network(address, key=key, digits=_DIGITS)


@lru_cache(maxsize=1024)
def _reads_as_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _expect_own_page(scope: Scope, headers: Headers) -> None:
    """Refuse pages of other sites: where everybody is an operator, a browser would be one too.

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
    """Return who asks."""
    found = request.scope.get("agon.caller")
    return found if isinstance(found, Caller) else ANONYMOUS
