"""Forms lead to a page of this site, whatever address a request names."""

import re
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.web import addresses
from fakes.raw_requests import send_raw
from web.browser import Browser

OTHER_SITES = (
    "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
    "/\n/evil.example", "/\r\n/evil.example", "\t//evil.example", " //evil.example", "https://evil",
    "https:evil", "javascript:alert(1)", "data:text/html,x", "evil.example", "//evil@here", "",
    "?next=x", "#x", ".", "..", "/a\\..\\..//evil", "/\x00", "/\x7f", "/a\u2028b", "/\u202eb",
    "/a\r\nset-cookie: a=b", "/\ufeff", "/\ud7ff\ue000",
)  # fmt: skip
"""Addresses that lead elsewhere, or have characters that no address has."""

OWN = {
    "/é/€": "/%C3%A9/%E2%82%AC",
    "/é": "/%C3%A9",
    "/c/spring/people/😀?q=€ 1": "/c/spring/people/%F0%9F%98%80?q=%E2%82%AC%201",
    "/a%2Fb/%e2%82%ac": "/a%2Fb/%e2%82%ac",
    "/100%/%zz%4": "/100%25/%25zz%254",
    "/<b>\"'`{|}^": "/%3Cb%3E%22'%60%7B%7C%7D%5E",
    "/c/spring?limit=3#top": "/c/spring?limit=3",
    "/%0d%0aset-cookie:a=b": "/%0d%0aset-cookie:a=b",
    "/%5C/evil.example": "/%5C/evil.example",
    "/a//b": "/a//b",
    "/@evil.example": "/@evil.example",
}
"""Addresses of this site, with what a browser is sent."""

RAW = (b"\xc3\xa9", b"\xff", b"%ff", b"%", b"%ED%A0%80", b"%00", b"\xed\xa0\x80", b"%E2%82%AC")
"""Parts of paths and queries that clients send, encoded or not."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["/theme", "/sign-in"])
def test_a_form_leads_to_an_encoded_address_of_this_site(browser: Browser, form: str) -> None:
    """Headers are Latin-1: any other character was an internal error, and ``é`` another page."""
    fields = {"theme": "dark", "token": browser.instance.tokens["participant"]}
    for address, location in (*OWN.items(), *((other, "/") for other in OTHER_SITES)):
        response = browser.send(form, {**fields, "next": address})
        assert (response.status_code, response.headers["location"]) == (303, location), address


@given(st.text() | st.from_regex(r"/[/\\\t\n.@:%#?é€a]{0,12}", fullmatch=True))
def test_any_text_gives_a_path_of_this_site_that_stays(text: str) -> None:
    """What was encoded once is the same when it is encoded again."""
    address = addresses.local(text)
    assert re.fullmatch(r"/(?!/)[!$-;=?-Z\[\]_a-z~]*", address)
    assert urlsplit(address).netloc == ""
    assert addresses.local(address) == address
    if address != "/":
        assert unquote(address) == unquote(text.partition("#")[0])


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", [None, "operator"])
def test_bytes_in_addresses_are_no_internal_error(browser: Browser, role: str | None) -> None:
    """Clients send bytes as they are, and escapes that are no text."""
    browser.instance.contest("spring")
    headers = [(key.encode(), value.encode()) for key, value in browser.instance.as_(role).items()]
    app = browser.instance.app
    for part in RAW:
        for path, query in (
            (b"/" + part, b""), (b"/c/" + part, b""), (b"/", b"q=" + part), (b"/", part),
            (b"/c/spring", part), (b"/c/spring", b"cursor=" + part), (b"/c/spring", b"q=" + part),
            (b"/c/spring/people/" + part, b"as_of=" + part), (b"/sign-in", b"next=/" + part),
            (b"/c/spring/boards/users.csv", part), (b"/c/spring/boards/" + part + b".json", b""),
            (b"/api/v1/contests", b"cursor=" + part + b"&limit=1"), (b"/api/v1/" + part, b""),
            (b"/api/v1/contests/spring/boards/users", b"limit=1&q=" + part),
            (b"/api/v1/contests/" + part, b""), (b"/static/" + part, b""),
        ):  # fmt: skip
            response = send_raw(app, path, query, headers=headers)
            assert response.status < 500, (path, query)
            assert all(value.isascii() for _, value in response.headers), (path, query)


def test_a_page_names_its_address_encoded(browser: Browser) -> None:
    """The choice of colors returns a client that sends ``é`` as it is to the page that it had."""
    browser.instance.contest("spring")
    page = send_raw(browser.instance.app, b"/c/spring", "q=é".encode())
    assert page.status == 200
    assert b'name="next" value="/c/spring?q=%C3%A9"' in page.body
