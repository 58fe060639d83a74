"""The log: two forms, and nothing in either that should not be read by others."""

import io
import json
import logging
import time
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from structlog.dev import ConsoleRenderer, plain_traceback

from agon import logs
from agon.logs import begin_request, logger, start_logging, without_secrets

TOKEN = "agon_" + "A" * 22 + "_" + "s3cr3t-_" * 5 + "xyz"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Log into memory, and leave logging as it was."""
    root = logging.getLogger()
    before, level = root.handlers, root.level
    yield io.StringIO()
    root.handlers = before
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


plain_values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "))
    | st.sampled_from(["", "a b", "a=b", "it's", '"', "a\tb", "a\r\nb"])
)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    """Read what was logged as JSON."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_of_json_has_time_level_event_and_request(stream: io.StringIO) -> None:
    """What a search in the logs begins with."""
    start_logging(form="json", level="info", stream=stream)
    begin_request("r-1")
    logger("agon.http").info("served", ms=3)
    logger("agon.http").debug("not asked for")
    (line,) = lines(stream)
    assert str(line.pop("at")).endswith("Z")
    assert line == {
        "event": "served", "level": "info", "logger": "agon.http", "ms": 3, "request_id": "r-1"
    }  # fmt: skip


def test_what_libraries_log_comes_in_the_same_form(stream: io.StringIO) -> None:
    """Uvicorn uses the standard library's logging."""
    start_logging(form="json", level="info", stream=stream)
    logging.getLogger("uvicorn.access").info("%s %s", "GET", f"/me?token={TOKEN}")
    (line,) = lines(stream)
    assert line["event"] == "GET /me?token=***"


def test_a_message_is_not_repeated_in_colors(stream: io.StringIO) -> None:
    """Uvicorn adds it for terminals; in a journal its escapes are noise."""
    start_logging(form="json", level="info", stream=stream)
    more = {"color_message": "Started [\x1b[36m%d\x1b[0m]", "port": 8080}
    logging.getLogger("uvicorn.error").info("Started [%d]", 8, extra=more)
    (line,) = lines(stream)
    assert (line["event"], line["port"]) == ("Started [8]", 8080)
    assert "color_message" not in line


@given(
    plain_values | st.lists(st.integers()),
    st.sampled_from(["debug", "info", "warning", "error", "critical"]),
    st.dictionaries(st.sampled_from("abcdef"), plain_values),
)
def test_text_is_as_structlog_writes_it_without_colors(
    event: object, level: str, values: dict[str, object]
) -> None:
    """Its formatters handle colors that a journal has not; ours write the same."""
    entry = {"at": "2026-11-29T12:00:00Z", "level": level, "event": event, "logger": "x", **values}
    theirs = ConsoleRenderer(
        colors=False, timestamp_key="at", exception_formatter=plain_traceback
    )  # fmt: skip
    ours = ConsoleRenderer(columns=logs._COLUMNS, exception_formatter=plain_traceback)
    assert ours(None, "info", dict(entry)) == theirs(None, "info", dict(entry))


def test_text_escapes_what_a_terminal_would_run(stream: io.StringIO) -> None:
    """Whoever sends a path decides what is in the log's values."""
    start_logging(form="text", level="info", stream=stream)
    logger("x").info("answered", path="/\x1b[2J", other="/\x9b2J")
    written = stream.getvalue()
    assert r"path='/\x1b[2J'" in written
    assert r"other='/\x9b2J'" in written


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_secret_is_logged_at_any_depth(stream: io.StringIO, form: str) -> None:
    """Logs are read by more people than the database is."""
    start_logging(form="json" if form == "json" else "text", level="debug", stream=stream)
    logger("x").warning(
        f"refused {TOKEN}",
        headers={"Authorization": "Bearer hunter2hunter2", "Cookie": ["hunter2"]},
        body={"records": [{"source": "print('hunter2')", "terms": ["hunter2"], "user": "ada"}]},
        url="postgresql://ada:hunter2@db/agon",
        secrets=("hunter2",),
        raw=f"token={TOKEN}".encode(),
    )
    written = stream.getvalue()
    assert "hunter2" not in written
    assert TOKEN not in written
    assert "ada" in written
    assert "***" in written


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_secret_is_logged_with_an_exception(stream: io.StringIO, form: str) -> None:
    """A traceback repeats what a driver was given."""
    start_logging(form="json" if form == "json" else "text", level="debug", stream=stream)
    try:
        int(f"postgresql://ada:hunter2@db/agon with {TOKEN}")
    except ValueError:
        logger("x").exception("failed")
        logging.getLogger("library").exception("failed there, password='hunter2'")
    written = stream.getvalue()
    assert written.count("ValueError") >= 2
    assert "hunter2" not in written
    assert TOKEN not in written


def test_a_logged_exception_without_a_traceback_is_cleaned_too(stream: io.StringIO) -> None:
    """error=exception is logged as its text."""
    start_logging(form="json", level="debug", stream=stream)
    logger("x").info("failed", error=OSError(f"bad {TOKEN}"))
    assert lines(stream)[0]["error"] == "bad ***"


def test_ids_and_numbers_next_to_secrets_stay() -> None:
    """Who looks for a token's deeds needs its id."""
    harmless = {"token_id": "A1", "signature_valid": True, "n": 3, "none": None, "source_id": "s"}
    assert without_secrets(harmless) == harmless


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(TOKEN),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=20,
)


@given(json_values)
def test_a_token_never_stays_wherever_it_hides(value: object) -> None:
    """Whatever is around it."""
    assert TOKEN not in json.dumps(without_secrets({"value": value, "text": f"<{value!r}>"}))


def test_a_value_that_holds_itself_ends() -> None:
    """A log must not bring the service down."""
    value: dict[str, object] = {}
    value["self"] = value
    assert "***" in json.dumps(without_secrets(value))


@pytest.mark.parametrize("part", ["a://", "a.+-", "a:", "bearer ", "password=", "agon_", "://a:b"])
def test_a_hostile_text_takes_no_time(part: str) -> None:
    """Paths and headers of unknown clients are logged; a slow pattern would be an attack."""
    began = time.process_time()
    without_secrets(part * (1_000_000 // len(part)))
    assert time.process_time() - began < 2


def test_a_long_text_is_cut_and_a_secret_across_the_cut_stays_out() -> None:
    """Half of a password is one, too."""
    for at in range(32_740, 32_770):
        text = "x" * at + " postgresql://ada:hunter2@db/agon " + "y" * 10_000
        cleaned = without_secrets(text)
        assert "hun" not in cleaned
        assert cleaned.endswith("characters more)")
        assert len(cleaned) < 33_000


def test_a_password_with_an_at_sign_and_an_address_with_a_port_are_distinguished() -> None:
    """The one goes whole, the other stays."""
    assert without_secrets("redis://:p@ss@db:6379/0") == "redis://:***@db:6379/0"
    assert without_secrets("http://db:80/x?mail=a@b") == "http://db:80/x?mail=a@b"


pieces = st.sampled_from(
    ["agon_", "agon", "A" * 22, "_", "s3cr3t-_" * 5, "Bearer", "basic", "BAſIC", " ", "\t", "://",
     ":", "/", "@", "ada", "password", "token", "=", "'", "ä", "hunter2hunter2"]
)  # fmt: skip


@given(st.lists(pieces, max_size=12).map("".join))
def test_a_quick_look_at_a_text_misses_nothing(text: str) -> None:
    """Most texts hold no secret, and are seen to hold none at once; the patterns decide."""
    cleaned = text
    for pattern, instead in (
        (logs._TOKEN, "***"),
        (logs._BEARER, r"\1 ***"),
        (logs._URL_PASSWORD, r"\1:***"),
        (logs._PARAMETER, r"\1\2***"),
    ):
        cleaned = pattern.sub(instead, cleaned)
    assert without_secrets(text) == cleaned


def test_a_log_that_cannot_be_written_costs_nobody_an_answer(stream: io.StringIO) -> None:
    """Disks fill up, and who read a pipe goes away."""

    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError("no space left on the device")

    start_logging(form="json", level="info", stream=Full())
    logger("agon.http").info("served")
    stream.close()
    start_logging(form="json", level="info", stream=stream)
    logger("agon.http").info("served")
