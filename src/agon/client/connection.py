"""Send requests over HTTP: repeated without harm when a connection is lost or a server is busy."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote, urlsplit

import orjson

from agon import __version__
from agon.client.errors import error_of, problem_of
from agon.errors import AgonError, Unavailable, Unreadable

try:
    import httpx2
except ModuleNotFoundError:
    raise Unavailable("the client needs httpx2; install it: pip install 'agon[serve]'") from None

Method: TypeAlias = Literal["GET", "POST", "PATCH", "DELETE"]

PREFIX: Final = "/api/v1"
_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 5.0
_BUSY: Final = frozenset({429, 502, 503, 504})
_PENDING: Final = 202
_REFUSED: Final = 400


class Connection:
    """Hold a connection to one server.

    Requests that change something carry an ``Idempotency-Key``, the same one each time they are
    sent: what was done is not done again. A server that is busy (429, 503) or still makes what
    is asked for (202) is asked again when it says so, until ``patience`` is
    used up.

    Args:
        url: the server's address, ``https://agon.example``.
        token: what is shown; None: nobody's.
        timeout: seconds without a byte after which a request is lost.
        patience: seconds in which a request is repeated.
        transport: how bytes travel; for tests.
        sleep: how to wait.

    Raises:
        Unreadable: the address is none.
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
            raise Unreadable(
                f"{url!r} is no address of a server; give one such as http://host:8080"
            )
        if token is not None and not (token.isascii() and token.isprintable() and token):
            raise Unreadable("the token is none; give it as it was shown, agon_…")
        self.url = url.rstrip("/")
        self._patience = patience
        self._sleep = sleep
        headers = {"user-agent": f"agon/{__version__}"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        self._http = httpx2.Client(
            headers=headers,
            timeout=httpx2.Timeout(timeout, connect=min(timeout, 10.0)),
            transport=transport,
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def get(self, *path: str, **query: Any) -> Any:
        """Ask for a value; None for an answer without a body.

        Args:
            path: the address' parts below ``/api/v1``; each is escaped.
            query: what is asked for; None is left out.

        Raises:
            AgonError: the server's own refusal, as the class it was raised as.
            Unavailable: the server cannot be reached.
        """
        return _value(self._answered("GET", path, query=query))

    def send(
        self,
        method: Method,
        *path: str,
        body: Any = None,
        content: bytes | None = None,
        kind: str = "application/json",
        **query: Any,
    ) -> Any:
        """Change something: send a value, or bytes of a kind; errors as for :meth:`get`."""
        written = orjson.dumps(body) if content is None and body is not None else content
        headers = {"idempotency-key": secrets.token_urlsafe(24)}
        if written is not None:
            headers["content-type"] = kind
        answer = self._answered(method, path, query=query, content=written, headers=headers)
        return _value(answer)

    @contextmanager
    def stream(
        self,
        *path: str,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **query: Any,
    ) -> Iterator["httpx2.Response"]:
        """Open an answer that is read piece by piece; errors as for :meth:`get`.

        A connection that is lost in the middle is the reader's: raised as :class:`Unavailable`.
        """
        opened: list[httpx2.Response] = []

        def ask() -> httpx2.Response:
            request = self._request("GET", path, query=query, headers=headers, timeout=timeout)
            opened.append(self._http.send(request, stream=True))
            if opened[-1].status_code >= _REFUSED:
                opened[-1].read()
            return opened[-1]

        try:
            answer = self._patiently(ask)
            yield answer
        except httpx2.TransportError as lost:
            raise self._lost(lost) from None
        finally:
            for one in opened:
                one.close()

    def _answered(
        self,
        method: Method,
        path: tuple[str, ...],
        *,
        query: Mapping[str, Any],
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> "httpx2.Response":
        request = self._request(method, path, query=query, content=content, headers=headers)
        return self._patiently(lambda: self._http.send(request))

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
        given = {name: _text(value) for name, value in query.items() if value is not None}
        address = self.url + PREFIX + "".join(f"/{quote(part, safe='')}" for part in path)
        options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
        return self._http.build_request(
            method, address, params=given, content=content, headers=headers, **options
        )

    def _patiently(self, ask: Callable[[], "httpx2.Response"]) -> "httpx2.Response":
        """Ask until there is an answer or no patience left.

        Raises:
            AgonError: the server's refusal.
            Unavailable: it cannot be reached, or is still at work.
        """
        left, pause = self._patience, _FIRST_PAUSE
        while True:
            wait: float | None = pause
            try:
                answer = ask()
            except httpx2.TransportError as lost:
                refused: AgonError = self._lost(lost)
            else:
                wait = _wait(answer, pause)
                if wait is None:
                    return _accepted(answer)
                refused = _refusal(answer)
            if wait is None or wait > left:
                raise refused
            self._sleep(wait)
            left -= wait
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _lost(self, lost: Exception) -> Unavailable:
        said = str(lost) or type(lost).__name__
        return Unavailable(f"{self.url} cannot be reached: {said}; does agon serve run there?")


def _wait(answer: "httpx2.Response", pause: float) -> float | None:
    """Return how long to wait before asking again; None: the answer stands."""
    status = answer.status_code
    again = status in _BUSY or _is_pending(answer)
    if status >= _REFUSED and not again:
        again = problem_of(answer.content).get("code") == "under-way"
    if not again:
        return None
    seconds = _seconds(answer)
    return pause if seconds is None else max(seconds, 0.0)


def _is_pending(answer: "httpx2.Response") -> bool:
    """Tell whether what was asked for is being made; to what changes something, 202 is a yes."""
    return answer.status_code == _PENDING and answer.request.method == "GET"


def _seconds(answer: "httpx2.Response") -> float | None:
    seconds = answer.headers.get("retry-after", "")
    return float(seconds) if seconds.isascii() and seconds.isdecimal() else None


def _accepted(answer: "httpx2.Response") -> "httpx2.Response":
    """Return an answer that is no refusal.

    Raises:
        AgonError: it is one.
        Unavailable: it leads elsewhere.
    """
    if answer.status_code >= _REFUSED:
        raise _refusal(answer)
    if answer.is_redirect:
        raise Unavailable(
            f"the server says it is at {answer.headers.get('location', '?')}; give that address"
        )
    return answer


def _refusal(answer: "httpx2.Response") -> AgonError:
    if _is_pending(answer):
        return Unavailable("the server is still at work on that; ask again later")
    return error_of(answer.status_code, answer.content, retry_after=_seconds(answer))


def _value(answer: "httpx2.Response") -> Any:
    """Read an answer's JSON.

    Raises:
        Unavailable: it is none, so that what answers is no agon.
    """
    if not answer.content:
        return None
    try:
        return orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        raise Unavailable(
            f"{answer.url.host} answered something else than JSON; is that an agon server?"
        ) from None


def _text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
