"""Pages of the site over HTTP and in Chromium: sizes, times, and shifts of the layout.

One process of ``agon serve`` has a board of a million rows, on SQLite or PostgreSQL. wrk requests
random pages of it and the first one; Chromium loads the first page on a desktop, ten times with an
empty cache.
"""

import argparse
import shutil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import report  # type: ignore[import-not-found]  # of this folder
import service_pages as pages  # type: ignore[import-not-found]  # of this folder
from databases import KINDS, database  # type: ignore[import-not-found]  # of this folder
from playwright.sync_api import sync_playwright

from agon.app.contests.boards.cursors import Cursor

FIRST_BYTE_S, LCP_S, SHIFT, BLOCKED_S = 0.1, 1.2, 0.05, 0.05
BOARD_BYTES, PAGE_BYTES, REQUESTS, SCRIPT_BYTES, STYLE_BYTES = 60_000, 250_000, 10, 30_000, 40_000
CONNECTIONS, LOADS = 16, 10
PROGRAMS = ("chromium-headless-shell", "chromium")
OBSERVE = """
window.measured = {paint: 0, shift: 0, blocked: 0};
const observe = (type, see) => new PerformanceObserver(list => list.getEntries().forEach(see))
  .observe({type, buffered: true});
observe('largest-contentful-paint', entry => { measured.paint = entry.startTime; });
observe('layout-shift', entry => { if (!entry.hadRecentInput) measured.shift += entry.value; });
observe('longtask', entry => { measured.blocked += Math.max(0, entry.duration - 50); });
"""


def main() -> None:
    """Publish a board, serve it, and load its pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=8, help="of each measurement")
    parser.add_argument("--database", choices=KINDS, default="sqlite")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is missing: install the package wrk")
    report.header("fastapi", "uvicorn", "jinja2", "playwright")
    with database(options.database) as url, TemporaryDirectory() as folder:
        snapshot = pages.published(url, Path(folder), rows=options.rows)
        with pages.serving(url, Path(folder)) as port:
            board = "/c/million/boards/bots"
            size = snapshot.rows // 1000
            some = [f"{board}?cursor={Cursor(snapshot.no, start * 1000)}" for start in range(size)]
            for what, addresses in (("first page", [board]), ("random pages", some)):
                times = pages.ask(port, Path(folder), addresses, connections=CONNECTIONS,
                                  seconds=options.seconds)  # fmt: skip
                print(f"{what}, {CONNECTIONS} connections: {times.rate:,.0f}/s, "
                      f"p50 {times.p50 * 1e3:.1f} ms, p95 {times.p95 * 1e3:.1f} ms")  # fmt: skip
                within(f"time to first byte, {what}, p95, s", times.p95, FIRST_BYTE_S)
            browse(f"http://127.0.0.1:{port}{board}")


def browse(address: str) -> None:
    """Load a page in Chromium and print its sizes and times."""
    program = next(filter(None, map(shutil.which, PROGRAMS)))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, chromium_sandbox=False)
        loads = [load(chromium, address) for _ in range(LOADS)]
        chromium.close()
    sizes = loads[-1]["sizes"]
    within("board, bytes of HTML", sizes["document"], BOARD_BYTES)
    within("board, bytes of everything", sum(sizes.values()), PAGE_BYTES)
    within("board, requests", loads[-1]["requests"], REQUESTS)
    within("board, bytes of scripts", sizes.get("script", 0), SCRIPT_BYTES)
    within("board, bytes of styles", sizes.get("stylesheet", 0), STYLE_BYTES)
    within("board, LCP, s", median(each["paint"] for each in loads) / 1e3, LCP_S)
    within("board, CLS", max(each["shift"] for each in loads), SHIFT)
    within("board, TBT, s", median(each["blocked"] for each in loads) / 1e3, BLOCKED_S)


def load(chromium: Any, address: str) -> dict[str, Any]:
    """Return what one load of a page takes."""
    context = chromium.new_context(viewport={"width": 1350, "height": 940})
    context.add_init_script(OBSERVE)
    page = context.new_page()
    sizes: dict[str, int] = {}
    responses: list[Any] = []
    page.on("response", lambda response: responses.append(response))  # noqa: PLW0108 (Playwright sets an attribute of it)
    page.goto(address, wait_until="load")
    page.wait_for_selector("#live-status:not(:empty)")
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    measured: dict[str, Any] = page.evaluate("measured")
    for response in responses:
        kind = response.request.resource_type
        if kind != "eventsource":
            sizes[kind] = sizes.get(kind, 0) + len(response.body())
    context.close()
    return {**measured, "sizes": sizes, "requests": len(responses)}


def within(what: str, value: float, limit: float) -> None:
    """Print a figure and its limit."""
    verdict = "aim met" if value <= limit else "BELOW THE FLOOR"
    print(f"{report.MARK} {what}: {value:,.4g}, limit {limit:,.4g}: {verdict}", flush=True)


if __name__ == "__main__":
    main()
