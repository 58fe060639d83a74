"""Call a model and read its response; what differs between the protocols is in a dialect."""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import orjson

from agon.app.arena.judging.excerpts import MAX_SHOWN, excerpt
from agon.app.arena.judging.port import CallFailure, Exchange, ModelReply, Question
from agon.disciplines.arena.rounds.faults import Fault
from agon.kernel.text.plain_json import InvalidJson, read_json
from agon.runners.judges.http import JsonClient, JudgeResponse

_SUCCESS: Final = 200
_REDIRECTS: Final = range(300, 400)
_RETRIED: Final = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_FREE: Final = frozenset({*range(400, 500), 529})
_SPENT: Final = frozenset({"enforced_spend_limit_reached", "insufficient_quota"})
"""Codes of a status 429 that lasts for days: the account's own limit is reached."""

_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,59}")


@dataclass(frozen=True)
class Message:
    """The content of a response.

    Attributes:
        text: the text that the model wrote; None if it is not a complete reply of one text.
        tokens: number of tokens read and written; None if the response states none.
        issue: why there is no text.
        written: what is shown of the response then; empty: the response as it came.
    """

    text: str | None
    tokens: int | None
    issue: str = ""
    written: str = ""


class Dialect(Protocol):
    """Writes requests and reads responses of one protocol."""

    @property
    def provider(self) -> str:
        """The protocol's name in settings."""

    def request(self, question: Question, *, model: str, max_tokens: int) -> Mapping[str, Any]:
        """Return the body of a request."""

    def message(self, body: Mapping[str, Any]) -> Message:
        """Return the content of a response.

        Raises:
            KeyError, IndexError, TypeError, AttributeError: it has another form.
        """


@dataclass(frozen=True, kw_only=True)
class HttpModel:
    """A model (:class:`agon.app.arena.judging.port.ModelEndpoint`) at an HTTP endpoint.

    Attributes:
        dialect: the protocol.
        client: sends requests.
        model: the model's name at the endpoint.
        max_tokens: the most tokens a reply may have, thinking included.
    """

    dialect: Dialect
    client: JsonClient
    model: str
    max_tokens: int

    @property
    def name(self) -> str:
        """Provider and model, such as ``anthropic/claude-opus-4-5``."""
        return f"{self.dialect.provider}/{self.model}"

    def token_limit(self, question: Question) -> int:
        """Return a number of tokens that the call of a question cannot exceed.

        A token that is read has at least one byte of the request.
        """
        return len(self._body(question)) + self.max_tokens

    def ask(self, question: Question, *, seconds: float) -> ModelReply | CallFailure:
        """Make one call, which ends within the time limit; errors are returned, not raised."""
        request = self._body(question)
        response = self.client.post(request, seconds=seconds)
        if isinstance(response, CallFailure):
            return response
        if response.status != _SUCCESS:
            return _status_failure(response)
        if response.issue:
            return _unreadable(response, f"but {response.issue}")
        try:
            body = _json_of(response.body)
            if (status := _stated_status(body)) is not None:
                return _stated_failure(response, status)
            message = self.dialect.message(body)
        except (InvalidJson, KeyError, IndexError, TypeError, AttributeError):
            return _unreadable(response, "but the response is none of this protocol")
        issue = ""
        if message.text is None:
            shown = message.written if message.written.strip() else _text_of(response.body)
            issue = f"{message.issue}: {excerpt(shown)}"
        return ModelReply(
            exchange=Exchange(request, response.body),
            text=message.text,
            tokens=message.tokens,
            issue=issue,
        )

    def _body(self, question: Question) -> bytes:
        return orjson.dumps(
            self.dialect.request(question, model=self.model, max_tokens=self.max_tokens)
        )


def count(usage: object, *names: str) -> int | None:
    """Return the sum of some counts; those that are missing or null are 0.

    None if they are stated in another form: a reply is read all the same, and its use is estimated.
    """
    if not isinstance(usage, dict):
        return None
    counts = [usage.get(name) or 0 for name in names]
    if any(type(number) is not int or number < 0 for number in counts):
        return None
    return sum(counts)


def _unreadable(response: JudgeResponse, why: str) -> CallFailure:
    """Return the failure of a response that has status 200 and no reply."""
    detail = f"status {response.status}, {why}: {_response_text(response)}"
    return CallFailure(fault=Fault("bot", "invalid", detail), retryable=False)


def _json_of(body: bytes) -> Any:
    """Return the value of a body; readers may ignore a byte order mark (RFC 8259, section 8.1)."""
    return read_json(body.removeprefix(codecs.BOM_UTF8))


def _text_of(body: bytes) -> str:
    return body[: 20 * MAX_SHOWN].decode("utf-8", "replace")


def _status_failure(response: JudgeResponse) -> CallFailure:
    """Return the failure that a status says: the error's codes, and how its body begins."""
    status = response.status
    if status in _REDIRECTS:
        fault = Fault("bot", "redirect", f"HTTP {status}: set the URL that it redirects to")
        return CallFailure(fault=fault, retryable=False, is_free=True)
    codes = _error_codes(response.body)
    stated = " ".join([f"HTTP {status}", *codes])
    fault = Fault("bot", f"status-{status}", f"{stated}: {_response_text(response)}")
    return CallFailure(
        fault=fault,
        retryable=status in _RETRIED and _SPENT.isdisjoint(codes),
        wait=response.retry_after,
        is_free=status in _FREE,
    )


def _stated_status(body: Any) -> int | None:
    """Return the status of an error for which a gateway sent status 200; None: there is none.

    Example:
        >>> _stated_status({"error": {"message": "Provider returned error", "code": 502}})
        502
    """
    error = body.get("error") if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if type(code) is int and code in _RETRIED else None


def _stated_failure(response: JudgeResponse, status: int) -> CallFailure:
    """Return the failure of a gateway that could not reach its model; the question caused none."""
    detail = f"status {response.status}, but its error is {status}: {_response_text(response)}"
    fault = Fault("bot", f"status-{status}", detail)
    return CallFailure(
        fault=fault, retryable=True, wait=response.retry_after, is_free=status in _FREE
    )


def _response_text(response: JudgeResponse) -> str:
    """Return how a body begins: the message of its error, or else the body itself."""
    try:
        message = _json_of(response.body)["error"]["message"]
    except (InvalidJson, KeyError, TypeError, IndexError):
        message = None
    return excerpt(message if isinstance(message, str) else _text_of(response.body))


def _error_codes(body: bytes) -> list[str]:
    """Return the codes in an error response, ``type`` and ``code`` of both protocols."""
    try:
        error = _json_of(body)["error"]
        details = error.get("details") or {}
        values = [error.get("type"), error.get("code"), details.get("error_code")]
    except (InvalidJson, KeyError, TypeError, AttributeError, IndexError):
        return []
    codes = [value for value in values if isinstance(value, str) and _CODE.fullmatch(value)]
    return list(dict.fromkeys(codes))
