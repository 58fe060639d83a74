"""Call a model at an endpoint, in either of two protocols.

It uses ``urllib``, so that agents run without extras (docs/decisions/0013).
"""

import json
import math
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any

from agon.errors import Unavailable, Unreadable
from agon.runners.agents.wire_formats import ChatReply, OpenAIFormat, WireFormat

_MAX_RESPONSE_BYTES = 8 << 20
_CHUNK_BYTES = 1 << 16
_MAX_ATTEMPTS = 6
_MIN_WAIT_S = 0.5
_MAX_WAIT_S = 30.0
_RETRIED_STATUSES = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_MAX_SHOWN = 200
_CHECK_S = 30.0
_CHECK = ({"role": "user", "content": "Answer with the word OK."},)
_DENIED_STATUSES = frozenset({401, 403})


class DeadlineExceeded(Exception):
    """The deadline of a call is over."""


class ModelFailed(Exception):
    """The model gave no reply that can be used: the agent's failure."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: the key is for the endpoint only."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Return nothing, so that the redirection is an error."""


class Chat:
    """A client for one model at one endpoint.

    Args:
        endpoint: the base URL, such as ``http://127.0.0.1:8000/v1``.
        model: its name there.
        key: the API key; empty: none is sent.
        own: whether the operator of the run also operates the endpoint, so that its outages are
            not the agent's.
        wire_format: the protocol.

    Raises:
        Unreadable: the endpoint is not an http or https URL.
    """

    def __init__(
        self,
        endpoint: str,
        model: str,
        *,
        key: str = "",
        own: bool = False,
        wire_format: WireFormat | None = None,
    ) -> None:
        self.wire_format = wire_format or OpenAIFormat()
        parts = urllib.parse.urlsplit(endpoint)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise Unreadable(
                f"expected a URL such as http://127.0.0.1:8000/v1, got {endpoint!r}; "
                f"give the key in {self.wire_format.variable}_API_KEY"
            )
        self.endpoint = self.wire_format.base(endpoint)
        self.model = model
        self.own = own
        self._key = key
        self._opener = urllib.request.build_opener(_NoRedirects)

    def require_reachable(self) -> None:
        """Require an endpoint that accepts connections and the key, by the list of its models.

        Raises:
            Unavailable: it does not.
        """
        try:
            self._send(self.wire_format.models, None, until=time.monotonic() + _CHECK_S)
        except urllib.error.HTTPError as error:
            if error.code in _DENIED_STATUSES:
                raise Unavailable(f"{self.endpoint} {_error_text(error)}") from None
        except (OSError, HTTPException, DeadlineExceeded) as failed:
            raise Unavailable(f"{self.endpoint} cannot be reached: {_cause(failed)}") from None
        except ValueError:
            return  # it answered, and not every endpoint lists its models

    def ask(self, messages: Sequence[Mapping[str, str]], *, until: float) -> ChatReply:
        """Return the model's reply; a call that failed or met a busy endpoint is repeated.

        Args:
            messages: ``role`` and ``content`` of each, oldest first.
            until: the deadline, in monotonic time.

        Raises:
            DeadlineExceeded: the deadline is over.
            ModelFailed: there is no response, or none that can be used.
            Unavailable: the same, and an own endpoint answers no other question either.
        """
        try:
            return self._reply(messages, until=until)
        except (DeadlineExceeded, ModelFailed) as failed:
            if self.own and not self._works():
                cause = str(failed) or f"{self.endpoint} does not answer"
                raise Unavailable(cause) from None
            raise

    def _reply(self, messages: Sequence[Mapping[str, str]], *, until: float) -> ChatReply:
        body = self._body(messages)
        wait = _MIN_WAIT_S
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                content = self._send(self.wire_format.path, body, until=until)
                return self.wire_format.reply(content)
            except urllib.error.HTTPError as error:
                reason = _error_text(error)
                if error.code not in _RETRIED_STATUSES:
                    break
                wait = _seconds(error.headers.get("Retry-After"), wait)
            except (OSError, HTTPException) as failed:
                _seconds_left(until)
                reason = f"cannot be reached: {_cause(failed)}"
            except ValueError as unusable:
                reason = str(unusable)
                break
            if attempt < _MAX_ATTEMPTS:
                time.sleep(min(wait, _MAX_WAIT_S, _seconds_left(until)))
                wait *= 2
        raise ModelFailed(f"{self.endpoint} {reason}")

    def _works(self) -> bool:
        """Return whether the endpoint answers a question that no agent has chosen."""
        until = time.monotonic() + _CHECK_S
        try:
            content = self._send(self.wire_format.path, self._body(_CHECK), until=until)
            self.wire_format.reply(content)
        except (OSError, HTTPException, ValueError, DeadlineExceeded):
            return False
        return True

    def _body(self, messages: Sequence[Mapping[str, str]]) -> bytes:
        return json.dumps(self.wire_format.body(self.model, messages)).encode()

    def _send(self, path: str, body: bytes | None, *, until: float) -> bytes:
        """Return the response to a POST request, or to a GET request without a body."""
        headers = {"Content-Type": "application/json", **self.wire_format.headers(self._key)}
        request = urllib.request.Request(  # noqa: S310 (the scheme is checked above)
            f"{self.endpoint}/{path}", data=body, headers=headers
        )
        content = bytearray()
        with self._opener.open(request, timeout=_seconds_left(until)) as response:
            # A response that arrives slowly must not outlast the deadline.
            while chunk := response.read1(_CHUNK_BYTES):
                _seconds_left(until)
                content += chunk
                if len(content) > _MAX_RESPONSE_BYTES:
                    raise ValueError(f"sends over {_MAX_RESPONSE_BYTES:,} bytes")
        return bytes(content)


def _seconds_left(until: float) -> float:
    """Return the number of seconds left until a deadline.

    Raises:
        DeadlineExceeded: there are none.
    """
    left = until - time.monotonic()
    if left <= 0:
        raise DeadlineExceeded
    return left


def _error_text(error: urllib.error.HTTPError) -> str:
    """Return the status and the start of an error response, on one line."""
    try:
        text = error.read(_MAX_SHOWN).decode(errors="replace")
    except (OSError, HTTPException):
        text = ""
    return f"responds: HTTP {error.code} {' '.join(text.split())}".strip()


def _cause(failed: BaseException) -> str:
    return str(getattr(failed, "reason", failed)) or type(failed).__name__


def _seconds(header: str | None, otherwise: float) -> float:
    """Return ``Retry-After`` if it is a number of seconds."""
    try:
        seconds = float(header or "")
    except ValueError:
        return otherwise
    return seconds if math.isfinite(seconds) and seconds >= 0 else otherwise
