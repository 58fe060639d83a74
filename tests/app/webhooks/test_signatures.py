"""Signatures: as others make them, bound to id, time and body."""

from datetime import UTC, datetime, timedelta

import pytest

from agon.app.webhooks.signatures import (
    format_secret,
    parse_secret,
    signature,
    signed_headers,
    verify,
)
from agon.errors import CheckFailed, Unreadable

SECRET = b"s" * 32
AT = datetime(2026, 11, 22, 3, tzinfo=UTC)
BODY = b'{"event": 1}'
HEADERS = signed_headers(SECRET, id="d1", at=AT, body=BODY)


def test_the_signature_is_that_of_the_standards_own_example() -> None:
    """Receivers use the standard's libraries; this is the example those are tested with."""
    made = signature(
        parse_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1_614_265_330,
        body=b'{"test": 2432232314}',
    )
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_what_was_signed_verifies_whatever_the_case_of_its_headers() -> None:
    """HTTP/1.1 libraries write headers as they like."""
    shouted = {name.upper(): value for name, value in HEADERS.items()}
    assert verify(SECRET, headers=shouted, body=BODY, now=AT) == "d1"


def test_one_fitting_signature_of_several_is_enough() -> None:
    """While a secret is changed both sign."""
    both = HEADERS | {"webhook-signature": f"v1,AAAA {HEADERS['webhook-signature']} v2,x"}
    assert verify(SECRET, headers=both, body=BODY, now=AT) == "d1"


@pytest.mark.parametrize(
    "changed",
    [
        {"webhook-id": "d2"},
        {"webhook-timestamp": str(int(AT.timestamp()) + 1)},
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": ""},
        {"webhook-signature": "v1,\u00e9"},
        {"webhook-signature": HEADERS["webhook-signature"].replace("v1,", "v2,")},
    ],
)
def test_nothing_signed_can_be_changed(changed: dict[str, str]) -> None:
    """Id and time are signed with the body."""
    with pytest.raises(CheckFailed, match="no signature matches"):
        verify(SECRET, headers=HEADERS | changed, body=BODY, now=AT)


def test_another_body_or_secret_does_not_verify() -> None:
    """Nor one blank more."""
    with pytest.raises(CheckFailed, match="no signature matches"):
        verify(SECRET, headers=HEADERS, body=BODY + b" ", now=AT)
    with pytest.raises(CheckFailed, match="no signature matches"):
        verify(b"t" * 32, headers=HEADERS, body=BODY, now=AT)


@pytest.mark.parametrize("minutes", [-6, 6])
def test_a_message_of_another_time_is_refused(minutes: int) -> None:
    """A recorded message is not played again, and a clock that is wrong is told."""
    with pytest.raises(CheckFailed, match="2026-11-22T03:00:00Z, more than 300 s from now"):
        verify(SECRET, headers=HEADERS, body=BODY, now=AT + timedelta(minutes=minutes))
    near = AT + timedelta(minutes=minutes) * 0.8
    assert verify(SECRET, headers=HEADERS, body=BODY, now=near) == "d1"


@pytest.mark.parametrize("name", list(HEADERS))
def test_a_missing_header_is_named(name: str) -> None:
    """The receiver may be behind a proxy that drops it."""
    rest = {key: value for key, value in HEADERS.items() if key != name}
    with pytest.raises(CheckFailed, match=name):
        verify(SECRET, headers=rest, body=BODY, now=AT)


@pytest.mark.parametrize("stamp", ["", "-1", "1e9", "٣", "9" * 30])
def test_a_timestamp_that_is_none_is_refused(stamp: str) -> None:
    """Without an exception of another kind."""
    with pytest.raises(CheckFailed):
        verify(SECRET, headers=HEADERS | {"webhook-timestamp": stamp}, body=BODY, now=AT)


def test_a_secret_is_read_as_it_was_written_and_a_cut_one_refused() -> None:
    """People copy half of it."""
    assert parse_secret(format_secret(SECRET)) == SECRET
    for wrong in (format_secret(SECRET)[:-9], format_secret(SECRET)[3:], "whsec_", "whsec_é"):
        with pytest.raises(Unreadable, match="copy all of it") as refused:
            parse_secret(wrong)
        assert wrong not in str(refused.value) or not wrong.removeprefix("whsec_")
