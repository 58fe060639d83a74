"""Log what the service does, as text or as JSON, with every secret redacted.

Redaction is the last step before writing, so that it covers what other steps added: exceptions,
the request id, values of any depth.
"""

import json
import logging
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Final, Literal, TextIO

import structlog
from structlog.contextvars import bind_contextvars, clear_contextvars, merge_contextvars
from structlog.dev import Column, ConsoleRenderer, plain_traceback
from structlog.typing import EventDict, Processor, WrappedLogger

REDACTED: Final = "***"

_SECRET_KEYS: Final = (
    "token", "authorization", "password", "passwd", "secret", "signature", "cookie", "api_key",
    "private_key", "server_key",
)  # fmt: skip
_SECRET_WORDS: Final = frozenset({"source", "terms"})  # a program, and the terms of a sequence
_TOKEN = re.compile(r"agon_[A-Za-z0-9_-]{22}_[A-Za-z0-9_-]{8,}")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
# Bounded, so that no text sent by a client takes long; it begins where few texts can match.
_URL_PASSWORD = re.compile(r"(://[^\s/@:'\"]{0,256}):[^\s/'\"]{1,1024}(?=@)")
_PARAMETER = re.compile(
    r"(?i)\b(password|passwd|secret|token|signature|api_key)(\s*=\s*)([\"']?)[^\s&,;\"')]+"
)
_HINT = re.compile(r"agon_|://|=|(?i:bearer|basic)\s")
"""A text that does not match this matches none of the patterns above."""

_MAX_DEPTH = 20
_MAX_CHARACTERS = 32_768
_MAX_SECRET_CHARACTERS = 2_048


def start_logging(
    *,
    form: Literal["text", "json"],
    level: Literal["debug", "info", "warning", "error"],
    stream: TextIO | None = None,
) -> None:
    """Configure logging of agon and of libraries: one stream, one format.

    Args:
        form: ``json``: one object a line with ``at``, ``level``, ``event`` and further keys;
            ``text``: the same as readable text.
        level: the minimum severity.
        stream: the stream to write to; by default stderr.
    """
    out = sys.stderr if stream is None else stream
    shared: list[Processor] = [
        merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        structlog.processors.UnicodeDecoder(),
    ]
    render: Processor = (
        structlog.processors.JSONRenderer(serializer=_json)
        if form == "json"
        else ConsoleRenderer(columns=_COLUMNS, exception_formatter=plain_traceback)
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder(), _drop_color_message],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, redact, render],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        library = logging.getLogger(name)
        library.handlers, library.propagate = [], True
    # Agon's own log, which has a line for each request, bypasses the standard library's logging.
    structlog.configure(
        processors=[*shared, redact, render],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=partial(_LineLogger, out),
        cache_logger_on_first_use=False,
    )


_QUOTED: Final = re.compile("[ =\"']")
"""A character because of which a value is quoted in text, so that it is seen where it ends."""


def _value_text(value: object) -> str:
    """Return a value as the text form shows it: control characters are escaped."""
    # A path may have escapes of terminals, which would run in the terminal that shows the log.
    if isinstance(value, str) and value.isprintable() and _QUOTED.search(value) is None:
        return value
    return repr(value)


_COLUMNS: Final = [
    Column("at", lambda _, at: str(at)),
    Column("level", lambda _, level: f"[{level!s:<9}]"),
    Column("event", lambda _, event: f"{event!s:<30}"),
    Column("logger", lambda _, name: f"[{name}]"),
    Column("", lambda name, value: f"{name}={_value_text(value)}"),
]
"""The parts of a line of text, as structlog has them by default but for colors, whose formatters
take half of the time of a line; a server writes one for each request."""


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, default=str, sort_keys=True)


def _drop_color_message(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Return an event without the colored copy of its message that uvicorn adds."""
    event.pop("color_message", None)
    return event


def _json(event: EventDict, **_: Any) -> str:
    return _ENCODER.encode(event)


class _LineLogger:
    """The logger of structlog that writes each line to a stream immediately."""

    def __init__(self, stream: TextIO, name: str = "") -> None:
        self.name = name
        self._stream = stream

    def msg(self, line: str) -> None:
        """Write a line; a full disk or a broken pipe is ignored, so that no request fails."""
        with suppress(OSError, ValueError):
            self._stream.write(f"{line}\n")
            self._stream.flush()

    debug = info = warning = error = critical = exception = msg


def logger(name: str) -> Any:
    """Return the logger of that name: ``logger("agon.http").info("served", ms=3)``."""
    return structlog.get_logger(name)


def begin_request(request_id: str) -> None:
    """Add the request's id to everything logged from here on in this task or thread."""
    clear_contextvars()
    bind_contextvars(request_id=request_id)


def redact(
    _: WrappedLogger | None,
    __: str,
    event: EventDict,
) -> EventDict:
    """Return an event with every secret replaced; a processor of structlog."""
    cleaned = without_secrets(event)
    assert isinstance(cleaned, dict), "a mapping stays a mapping"  # noqa: S101 (for mypy)
    return cleaned


def without_secrets(value: Any) -> Any:
    """Return a value with every secret in it replaced by ``***``, at any depth.

    Secrets are: all values under a key that names a secret (``token``, ``authorization``,
    ``password``, ``secret``, ``signature``, ``cookie``, …, ``source``, ``terms``), and within any
    text an agon token, credentials after ``Bearer``, a password in a URL or in ``password=…``.
    A text longer than 32,768 characters is cut there.

    Example:
        >>> without_secrets({"user": "ada", "new_password": "x", "n": 3})
        {'user': 'ada', 'new_password': '***', 'n': 3}
        >>> without_secrets(["postgresql://ada:hunter2@db/agon"])
        ['postgresql://ada:***@db/agon']
    """
    return _clean(value, 0)


def _clean(value: Any, depth: int) -> Any:
    if type(value) is str:  # most are: this comes before the tests that ask abstract classes
        return _text(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth > _MAX_DEPTH:
        return REDACTED
    if isinstance(value, Mapping):
        cleaned = {}
        for key, item in value.items():
            name, is_secret = _clean_key(str(key))
            cleaned[name] = REDACTED if is_secret else _clean(item, depth + 1)
        return cleaned
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_clean(item, depth + 1) for item in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        value = bytes(value).decode("utf-8", "replace")
    return _text(str(value))


@lru_cache(maxsize=256)
def _clean_key(key: str) -> tuple[str, bool]:
    """Return a key without secrets, and whether it names one."""
    return _text(key), _names_a_secret(key)


def _names_a_secret(key: str) -> bool:
    """Return whether a key names a secret; ``token_id`` and ``signature_valid`` do not."""
    plain = key.casefold().replace("-", "_")
    if plain.endswith(("_id", "_count", "_valid", "_kind")):
        return False
    return plain in _SECRET_WORDS or any(word in plain for word in _SECRET_KEYS)


def _text(text: str) -> str:
    """Return a text redacted, then cut: a secret at the cut is complete when it is matched."""
    rest = len(text) - _MAX_CHARACTERS
    if rest <= 0 and _HINT.search(text) is None:
        return text
    text = _TOKEN.sub(REDACTED, text[: _MAX_CHARACTERS + _MAX_SECRET_CHARACTERS])
    text = _BEARER.sub(rf"\1 {REDACTED}", text)
    text = _URL_PASSWORD.sub(rf"\1:{REDACTED}", text)
    text = _PARAMETER.sub(rf"\1\2{REDACTED}", text)
    return text if rest <= 0 else f"{text[:_MAX_CHARACTERS]}… ({rest:,} characters more)"
