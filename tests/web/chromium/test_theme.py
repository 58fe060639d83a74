"""Light and dark: as the system, or as chosen, also without scripts."""

import pytest

from web.chromium.browsing import Chromium
from web.chromium.site import Site

LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 23, 28)"
PAPER = "getComputedStyle(document.body).backgroundColor"


@pytest.mark.sample(1)
@pytest.mark.parametrize("role", ["anonymous", "participant"])
def test_a_theme_is_chosen_without_scripts(site: Site, chromium: Chromium, role: str) -> None:
    """Who reads at night need not change the system."""
    visitor = chromium.visitor(
        site.origin, cookie=site.cookie(role), java_script_enabled=False, color_scheme="light"
    )
    page = visitor.open("/c/arena?limit=3")
    assert page.evaluate(PAPER) == LIGHT
    visitor.follow("text=Dark")
    assert page.url == f"{site.origin}/c/arena?limit=3"
    assert page.evaluate(PAPER) == DARK
    assert page.get_attribute("meta[name=color-scheme]", "content") == "dark"
    assert visitor.open("/nothing").evaluate(PAPER) == DARK
    visitor.follow("text=As the system")
    assert page.evaluate(PAPER) == LIGHT
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(PAPER) == DARK
    visitor.errors.clear()  # the page that does not exist
    visitor.close()


@pytest.mark.exhaustive
def test_a_printed_board_has_no_controls_and_dark_text(site: Site, chromium: Chromium) -> None:
    """Browsers print no backgrounds: light text would be white on white."""
    visitor = chromium.visitor(site.origin, color_scheme="dark")
    page = visitor.open("/c/community")
    page.emulate_media(media="print")
    assert page.is_visible(".board")
    assert not any(map(page.is_visible, (".top", "footer", ".search", ".help >> nth=0")))
    colors = page.evaluate("""[...document.querySelectorAll('h1, .tabs a[aria-current], #rows td')]
        .map(element => getComputedStyle(element).color.match(/\\d+/g).slice(0, 3).map(Number))""")
    assert max(max(color) for color in colors) < 128
    visitor.close()


@pytest.mark.exhaustive
def test_a_phone_shows_names_with_their_scores(site: Site, chromium: Chromium) -> None:
    """The narrowest phone; a long name ends in an ellipsis, the columns after the score scroll."""
    visitor = chromium.visitor(site.origin, viewport={"width": 320, "height": 640})
    page = visitor.open("/c/arena")
    ends = page.evaluate("""[...document.querySelectorAll('#rows .score')]
        .map(element => element.getBoundingClientRect().right)""")
    assert ends
    assert max(ends) <= 320
    visitor.close()


def test_a_theme_is_one_of_those_there_are(site: Site) -> None:
    """The value becomes part of pages."""
    client = site.instance.client
    sent = client.post("/theme", data={"theme": "<b>", "next": "/"}, follow_redirects=False)
    assert sent.status_code == 422
    sent = client.post(
        "/theme", data={"theme": "dark", "next": "//evil.example"}, follow_redirects=False
    )
    assert (sent.status_code, sent.headers["location"]) == (303, "/")
    assert sent.headers["set-cookie"] == (
        "agon_theme=dark; HttpOnly; SameSite=Lax; Path=/; Max-Age=31536000"
    )
    foreign = client.post(
        "/theme", data={"theme": "dark"}, headers={"origin": "https://evil.example"}
    )
    assert foreign.status_code == 403
    client.cookies.clear()
    for cookie in ("agon_theme=<b>", "agon_theme=", "agon_theme=;=;,"):
        assert '<html lang="en">' in client.get("/", headers={"cookie": cookie}).text
