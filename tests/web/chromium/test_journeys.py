"""What visitors come for, from the first page to the result, with scripts and without."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agon.app.contests.boards.publish import publish
from agon.web.addresses import problem
from fakes.autumn import RIGHT, autumn, judged
from fakes.instance import Instance, instance_at
from web.chromium.browsing import Chromium
from web.chromium.serving import serve
from web.chromium.site import Site

SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance without contests."""
    opened = instance_at(tmp_path)
    yield opened
    opened.close()


@pytest.mark.sample(1)
@SCRIPTS
def test_a_visitor_sees_why_and_downloads_the_board(
    site: Site, chromium: Chromium, *, scripts: bool
) -> None:
    """The first question is why one is before another; then for a name, and for the data."""
    visitor = chromium.visitor(site.origin, java_script_enabled=scripts)
    page = visitor.open("/")
    visitor.follow(".card h3 a >> text=The community <i>")
    score = page.inner_text("#rows tr:first-child .score")
    visitor.follow("#rows tr:first-child a")
    assert score in page.inner_text(".verdict")
    page.click(".waterfall summary >> nth=0")
    assert page.is_visible(".waterfall li:first-child .records")
    name = page.inner_text("h1 bdi:first-child")
    visitor.follow(".verdict a")
    page.fill("#q", name[:6].upper())
    visitor.follow(".tools button >> text=Find")
    assert page.inner_text("#rows th bdi:first-child") == name
    assert page.locator("#rows .id").count() == page.locator("#rows tr").count()
    visitor.follow("text=all rows")
    page.click("text=Download and verify")
    with page.expect_download() as download:
        page.click("text=CSV")
    assert score.replace(",", "") in Path(download.value.path()).read_text()
    visitor.close()


@pytest.mark.sample(1)
@SCRIPTS
def test_a_participant_submits_a_program_and_sees_the_verdict(
    instance: Instance, chromium: Chromium, *, scripts: bool
) -> None:
    """With scripts the verdict and the rank appear on open pages; without, on the next load."""
    name = autumn(instance.service)
    with serve(instance) as origin:
        visitor = chromium.visitor(origin, java_script_enabled=scripts)
        page = visitor.open(problem("autumn", name))
        visitor.follow("main >> text=Sign in")
        page.fill("#token", instance.tokens["participant"])
        visitor.follow("main button")
        assert page.url == origin + problem("autumn", name)
        page.fill("#source", RIGHT)
        visitor.follow("main button")
        assert "waiting" in page.inner_text("#verdicts")
        watcher = chromium.visitor(origin, java_script_enabled=scripts)
        watcher.open("/c/autumn")
        if scripts:
            for each in (visitor, watcher):
                each.wait("document.getElementById('live-status').innerText === 'live'")
        items = instance.get("/contests/autumn/submissions", "organiser").json()["items"]
        judged(instance.service, items[0]["id"], name)
        publish(instance.service, "autumn")
        if scripts:
            visitor.wait("document.getElementById('verdicts').innerText.includes('ok')")
            watcher.wait("document.getElementById('rows')?.innerText.includes('ada')")
        else:
            page = visitor.open(problem("autumn", name))
        assert "ok" in page.inner_text("#verdicts")
        page = visitor.open("/c/autumn")
        assert "ada" in page.inner_text("#rows")
        watcher.close()
        visitor.close()
