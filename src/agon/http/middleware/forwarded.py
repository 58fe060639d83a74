"""Give requests that a trusted proxy passed on the scheme and the host that the visitor sees."""

import re
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from agon.networks import is_in, networks_of

_HOST: Final = re.compile(
    r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?"
)
_SCHEMES: Final = frozenset({"http", "https"})


class ForwardedMiddleware:
    """Sets scheme and Host of requests from trusted proxies.

    They are those of ``X-Forwarded-Proto`` and ``X-Forwarded-Host``, of several values the last,
    which the proxy itself wrote; without them those of the public URL. Other clients cannot set
    them.

    Args:
        app: the application.
        trusted: the networks of the proxies.
        public_url: the public URL of the service, or empty.
    """

    def __init__(self, app: ASGIApp, *, trusted: tuple[str, ...], public_url: str) -> None:
        self.app = app
        self._trusted = networks_of(trusted)
        self._public = urlsplit(public_url)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        client = scope.get("client")
        if scope["type"] == "http" and client and is_in(client[0], self._trusted):
            scope = self._as_seen(scope)
        await self.app(scope, receive, send)

    def _as_seen(self, scope: Scope) -> Scope:
        headers = Headers(scope=scope)
        host = _last(headers, "x-forwarded-host")
        scheme = _last(headers, "x-forwarded-proto").lower()
        if _HOST.fullmatch(host) is None:
            host = self._public.netloc
        if scheme not in _SCHEMES:
            scheme = self._public.scheme
        seen = {**scope, "scheme": scheme or scope["scheme"]}
        if host:
            others = [pair for pair in scope["headers"] if pair[0].lower() != b"host"]
            seen["headers"] = [*others, (b"host", host.encode())]
        return seen


def _last(headers: Headers, name: str) -> str:
    """Return the last value of a header that may be a list."""
    return ",".join(headers.getlist(name)).rpartition(",")[2].strip()
