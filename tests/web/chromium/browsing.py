"""Drive Chromium: one process for all tests, a context of its own for each visitor."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser as PlaywrightBrowser
from playwright.sync_api import BrowserContext, Page, Playwright, Request, sync_playwright

T = TypeVar("T")

_WAIT = """new Promise((resolve, reject) => {
  const end = performance.now() + %d;
  const check = () => {
    if (%s) resolve();
    else if (performance.now() > end) reject(new Error('in vain'));
    else setTimeout(check, 20);
  };
  check();
})"""

PROGRAMS = ("chromium-headless-shell", "chromium")
TIMEOUT_MS = 60_000
"""How long an element or a page is waited for: a machine that runs other tests is slow."""


class Chromium:
    """Chromium, driven from a thread of its own: Playwright occupies the event loop of a thread."""

    def __init__(self) -> None:
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if program is None:
            pytest.fail(f"Chromium is missing: install the package {PROGRAMS[0]}", pytrace=False)
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._playwright: Playwright
        self._browser: PlaywrightBrowser
        self.run(lambda: self._start(program))

    def run(self, function: Callable[[], T]) -> T:
        """Return what a function returns that is called in the browser's thread."""
        return self._thread.submit(function).result()

    def close(self) -> None:
        """End the process."""
        self.run(self._stop)
        self._thread.shutdown()

    def visitor(self, origin: str, *, cookie: str = "", **options: Any) -> "Visitor":
        """Return a visitor of a site; call it in the browser's thread.

        Args:
            origin: of the site.
            cookie: ``name=value``.
            options: of Playwright's context, such as ``java_script_enabled``.
        """
        context = self._browser.new_context(base_url=origin, reduced_motion="reduce", **options)
        context.set_default_timeout(TIMEOUT_MS)
        if cookie:
            name, _, value = cookie.partition("=")
            context.add_cookies([{"name": name, "value": value, "url": origin}])
        return Visitor(context, origin)

    def _start(self, program: str) -> None:
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(
            executable_path=program, chromium_sandbox=False
        )

    def _stop(self) -> None:
        self._browser.close()
        self._playwright.stop()


@dataclass
class Visitor:
    """A context of the browser with one page, and what went wrong on it.

    Attributes:
        context: cookies and storage.
        origin: of the site.
        page: the page.
        errors: texts of the console, uncaught exceptions, requests to other hosts.
        requests: of the page since :meth:`open`.
    """

    context: BrowserContext
    origin: str
    page: Page = field(init=False)
    errors: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Open an empty page."""
        self.page = self.context.new_page()
        self.page.on("console", self._on_message)
        self.page.on("pageerror", lambda error: self.errors.append(f"{self.page.url}: {error}"))
        self.page.on("request", self._on_request)

    def open(self, address: str) -> Page:
        """Load a page of the site."""
        self.requests.clear()
        self.page.goto(address, wait_until="load")
        return self.page

    def follow(self, selector: str) -> None:
        """Click a link or a button and wait for the page it leads to."""
        with self.page.expect_navigation(wait_until="load"):
            self.page.click(selector)

    def wait(self, condition: str) -> None:
        """Wait until an expression in JavaScript is true.

        Playwright's own function compiles it in the page, which the content security policy
        forbids.
        """
        self.page.evaluate(_WAIT % (TIMEOUT_MS, condition))

    def expect_refusals(self, *statuses: int) -> None:
        """Forget the errors of pages that were refused with these statuses, in this order.

        Raises:
            AssertionError: there were others.
        """
        texts, self.errors = self.errors, []
        assert [text.partition("with a status of ")[2][:3] for text in texts] == [
            str(status) for status in statuses
        ], texts

    def close(self) -> None:
        """Close the context.

        Raises:
            AssertionError: something went wrong on a page.
        """
        self.context.close()
        assert self.errors == []

    def _on_message(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.errors.append(f"{self.page.url}: {message.text}")

    def _on_request(self, request: Request) -> None:
        self.requests.append(request)
        if urlsplit(request.url).netloc != urlsplit(self.origin).netloc:
            self.errors.append(f"{self.page.url}: a request to {request.url}")
