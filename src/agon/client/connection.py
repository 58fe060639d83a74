"""Send requests over HTTP: repeated without harm when a connection is lost or a server is busy."""

import secrets
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

import orjson

from agon.api.addresses import segment
from agon.client.errors import error_of, problem_of
from agon.errors import AgonError, Unavailable, Unreadable
from agon.version import __version__

try:
    import httpx2
except ModuleNotFoundError:
    raise Unavailable("the client needs httpx2: pip install 'agon-engine[serve]'") from None

Method: TypeAlias = Literal["GET", "POST", "PATCH", "DELETE"]

PREFIX: Final = "/api/v1"
_FIRST_PAUSE_S: Final = 0.2
_MAX_PAUSE_S: Final = 5.0
_BUSY: Final = frozenset({429, 502, 503, 504})
_PENDING: Final = 202
_FIRST_ERROR_STATUS: Final = 400


class Connection:
    """A connection to one server.

    Requests that change something carry an ``Idempotency-Key``, the same one each time they are
    sent, so that a repeated request changes nothing twice. When the server is busy (429, 503) or
    the response is not ready (202), the request is repeated after the time the server names, for
    at most ``patience`` seconds.

    Args:
        url: the server's URL, ``https://agon.example``.
        token: ``agon_…``; None: an anonymous client.
        timeout: seconds without a byte after which a request is lost.
        patience: seconds during which a request is repeated.
        transport: of httpx2; for tests.
        sleep: waits a number of seconds; a true result, such as that of ``Event.wait``, ends the
            repeating of a request.

    Raises:
        Unreadable: the URL or the token is invalid.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        patience: float = 30.0,
        transport: "httpx2.BaseTransport | None" = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise Unreadable(f"{url!r} is not a server's URL; give one such as http://host:8080")
        if token is not None and not (token.isascii() and token.isprintable() and token):
            raise Unreadable("the token is invalid; give it as it was returned, agon_…")
        self.url = url.rstrip("/")
        self._patience = patience
        self._sleep = sleep
        headers = {"user-agent": f"agon/{__version__}"}
        # Loading certificates takes longer than a request; without TLS, none is trusted.
        trusted = parts.scheme == "https" or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        self._http = httpx2.Client(
            headers=headers,
            timeout=httpx2.Timeout(timeout, connect=min(timeout, 10.0)),
            transport=transport,
            verify=trusted,
        )

    def close(self) -> None:
        """Close the connections that are kept open between requests."""
        self._http.close()

    def get(self, *path: str, **query: Any) -> Any:
        """Return the value of a response; None for a response without a body.

        Args:
            path: segments of the path below ``/api/v1``; each is escaped.
            query: query parameters; those that are None are not sent.

        Raises:
            AgonError: the error of the server, as the class it was raised as there.
            Unavailable: the server cannot be reached.
        """
        return _value(self._response("GET", path, query=query))

    def send(
        self,
        method: Method,
        *path: str,
        body: Any = None,
        content: bytes | None = None,
        kind: str = "application/json",
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Any:
        """Send a JSON value, or bytes of a media type; errors as for :meth:`get`."""
        data = orjson.dumps(body) if content is None and body is not None else content
        headers = {**(headers or {}), "idempotency-key": secrets.token_urlsafe(24)}
        if data is not None:
            headers["content-type"] = kind
        return _value(self._response(method, path, query=query, content=data, headers=headers))

    @contextmanager
    def stream(
        self,
        *path: str,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **query: Any,
    ) -> Iterator["httpx2.Response"]:
        """Open a response that is read in chunks; errors as for :meth:`get`.

        A connection that is lost while it is read raises :class:`Unavailable`.
        """
        opened: list[httpx2.Response] = []

        def send() -> httpx2.Response:
            request = self._request("GET", path, query=query, headers=headers, timeout=timeout)
            opened.append(self._http.send(request, stream=True))
            if opened[-1].status_code >= _FIRST_ERROR_STATUS:
                opened[-1].read()
            return opened[-1]

        try:
            yield self._repeat(send)
        except httpx2.TransportError as error:
            raise self._unreachable(error) from None
        finally:
            for response in opened:
                response.close()

    def _response(
        self,
        method: Method,
        path: tuple[str, ...],
        *,
        query: Mapping[str, Any],
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> "httpx2.Response":
        request = self._request(method, path, query=query, content=content, headers=headers)
        return self._repeat(lambda: self._http.send(request))

    def _request(
        self,
        method: Method,
        path: tuple[str, ...],
        *,
        query: Mapping[str, Any],
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> "httpx2.Request":
        params = {name: _text(value) for name, value in query.items() if value is not None}
        url = self.url + PREFIX + "".join(f"/{segment(part)}" for part in path)
        options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
        return self._http.build_request(
            method, url, params=params, content=content, headers=headers, **options
        )

    def _repeat(self, send: Callable[[], "httpx2.Response"]) -> "httpx2.Response":
        """Send a request until there is a final response or ``patience`` is used up.

        Raises:
            AgonError: the error of the server.
            Unavailable: the server cannot be reached, or the response is not ready yet.
        """
        remaining, pause = self._patience, _FIRST_PAUSE_S
        while True:
            wait: float | None = pause
            try:
                response = send()
            except httpx2.TransportError as lost:
                error: AgonError = self._unreachable(lost)
            else:
                wait = _wait(response, pause)
                if wait is None:
                    return _success(response)
                error = _error(response)
            if wait is None or wait > remaining or self._sleep(wait):
                raise error
            remaining -= wait
            pause = min(2 * pause, _MAX_PAUSE_S)

    def _unreachable(self, error: Exception) -> Unavailable:
        cause = str(error) or type(error).__name__
        return Unavailable(f"{self.url} cannot be reached: {cause}; does agon serve run there?")


def _wait(response: "httpx2.Response", pause: float) -> float | None:
    """Return the seconds to wait before the request is repeated; None: the response is final."""
    status = response.status_code
    again = status in _BUSY or _is_pending(response)
    if status >= _FIRST_ERROR_STATUS and not again:
        again = problem_of(response.content).get("code") == "under-way"
    if not again:
        return None
    seconds = _seconds(response)
    return pause if seconds is None else max(seconds, 0.0)


def _is_pending(response: "httpx2.Response") -> bool:
    """Return whether the response is not ready yet; for a change, 202 means success."""
    return response.status_code == _PENDING and response.request.method == "GET"


def _seconds(response: "httpx2.Response") -> float | None:
    seconds = response.headers.get("retry-after", "")
    return float(seconds) if seconds.isascii() and seconds.isdecimal() else None


def _success(response: "httpx2.Response") -> "httpx2.Response":
    """Return a response that is not an error.

    Raises:
        AgonError: it is an error.
        Unavailable: it is a redirect.
    """
    if response.status_code >= _FIRST_ERROR_STATUS:
        raise _error(response)
    if response.is_redirect:
        raise Unavailable(
            f"the server redirects to {response.headers.get('location', '?')}; give that URL"
        )
    return response


def _error(response: "httpx2.Response") -> AgonError:
    if _is_pending(response):
        return Unavailable("the server has not finished the response; try again later")
    return error_of(response.status_code, response.content, retry_after=_seconds(response))


def _value(response: "httpx2.Response") -> Any:
    """Return the JSON value of a response; None for an empty one.

    Raises:
        Unavailable: it is not JSON, so the server is not an agon server.
    """
    if not response.content:
        return None
    try:
        return orjson.loads(response.content)
    except orjson.JSONDecodeError:
        raise Unavailable(
            f"the response of {response.url.host} is not JSON; is that an agon server?"
        ) from None


def _text(value: Any) -> Any:
    if isinstance(value, tuple):  # a parameter that repeats
        return [_text(each) for each in value]
    return str(value).lower() if isinstance(value, bool) else value
