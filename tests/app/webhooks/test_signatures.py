"""Test signatures: those of the standard, of id, time and body."""

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


def test_the_signature_is_that_of_the_standards_example() -> None:
    """Receivers use the standard's libraries, which are tested with this example."""
    made = signature(
        parse_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1_614_265_330,
        body=b'{"test": 2432232314}',
    )
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_case_of_headers_does_not_matter() -> None:
    """HTTP/1.1 libraries write headers in different cases."""
    shouted = {name.upper(): value for name, value in HEADERS.items()}
    assert verify(SECRET, headers=shouted, body=BODY, now=AT) == "d1"


def test_one_valid_signature_of_several_is_enough() -> None:
    """While a secret is replaced, both sign."""
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
    """One more space is enough."""
    with pytest.raises(CheckFailed, match="no signature matches"):
        verify(SECRET, headers=HEADERS, body=BODY + b" ", now=AT)
    with pytest.raises(CheckFailed, match="no signature matches"):
        verify(b"t" * 32, headers=HEADERS, body=BODY, now=AT)


@pytest.mark.parametrize("minutes", [-6, 6])
def test_a_message_of_another_time_is_rejected(minutes: int) -> None:
    """A recorded message cannot be sent again, and a wrong clock is reported."""
    with pytest.raises(CheckFailed, match="2026-11-22T03:00:00Z, more than 300 s from now"):
        verify(SECRET, headers=HEADERS, body=BODY, now=AT + timedelta(minutes=minutes))
    near = AT + timedelta(minutes=minutes) * 0.8
    assert verify(SECRET, headers=HEADERS, body=BODY, now=near) == "d1"


@pytest.mark.parametrize("name", list(HEADERS))
def test_a_missing_header_is_named(name: str) -> None:
    """A proxy before the receiver may drop it."""
    rest = {key: value for key, value in HEADERS.items() if key != name}
    with pytest.raises(CheckFailed, match=name):
        verify(SECRET, headers=rest, body=BODY, now=AT)


@pytest.mark.parametrize("stamp", ["", "-1", "1e9", "٣", "9" * 30])
def test_an_invalid_timestamp_is_rejected(stamp: str) -> None:
    """There is no other exception."""
    with pytest.raises(CheckFailed):
        verify(SECRET, headers=HEADERS | {"webhook-timestamp": stamp}, body=BODY, now=AT)


def test_a_secret_is_read_as_written_and_an_incomplete_one_rejected() -> None:
    """Users may copy half of it."""
    assert parse_secret(format_secret(SECRET)) == SECRET
    for wrong in (format_secret(SECRET)[:-9], format_secret(SECRET)[3:], "whsec_", "whsec_é"):
        with pytest.raises(Unreadable, match="copy all of it") as error:
            parse_secret(wrong)
        assert wrong not in str(error.value) or not wrong.removeprefix("whsec_")
