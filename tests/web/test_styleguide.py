"""The page that shows every component of the design."""

import re
from pathlib import Path

from agon.web import addresses
from fakes.instance import instance_at
from web.browser import Browser
from web.markup import Markup

DESIGN = Path(__file__).parents[2] / "docs" / "design.md"


def test_the_page_of_components_is_served_in_development_mode_only(browser: Browser) -> None:
    """It is for those who work on the site; visitors of contests have no use for it."""
    assert browser.get(addresses.styleguide()).status_code == 404


def test_every_component_of_the_design_is_shown_in_both_themes(tmp_path: Path) -> None:
    """A component without an example is not looked at when the styles change."""
    instance = instance_at(tmp_path, development=True)
    response = instance.client.get(addresses.styleguide())
    instance.close()
    page = Markup(response.text)
    assert (response.status_code, page.errors, page.inline) == (200, [], [])
    components = set(re.findall(r"(?<![*\w])\*([a-z]+)\*(?!\*)", DESIGN.read_text("utf-8")))
    assert {"board", "waterfall", "chart", "comparison"} <= components
    for theme in ("light", "dark"):
        shown = set(re.findall(rf'<h3 id="{theme}-([a-z-]+)">', response.text))
        assert components <= shown
