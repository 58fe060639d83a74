"""Find what makes a page hard to use, with axe."""

from functools import cache
from importlib.resources import files
from typing import Any, Final

from playwright.sync_api import BrowserContext, Page

LEVELS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
"""WCAG 2.2 AA."""

OF_COLORS: Final = ["color-contrast", "link-in-text-block"]
"""The rules whose results depend on the theme."""

OF_WIDTHS: Final = ["scrollable-region-focusable", "target-size"]
"""The rules whose results depend on the width."""

_RUN: Final = """async only => {
  const {violations} = await axe.run(document, {runOnly: only, resultTypes: ['violations'],
    elementRef: false, preload: false});
  return violations.flatMap(violation => violation.nodes.map(node =>
    `${violation.id}: ${node.target.join(' ')}: ${node.failureSummary}`));
}"""


def load_axe(context: BrowserContext) -> None:
    """Load axe with every page that a context opens from now on."""
    context.add_init_script(_source())


def violations(page: Page, *, rules: list[str] | None = None) -> list[str]:
    """Return the violations on a page, one text each.

    Args:
        page: the page, loaded, in a context with axe.
        rules: names of rules; None: all of WCAG 2.2 AA.
    """
    only: Any = {"type": "tag", "values": LEVELS}
    if rules is not None:
        only = {"type": "rule", "values": rules}
    texts: list[str] = page.evaluate(_RUN, only)
    return texts


@cache
def _source() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
