"""Fixtures of the tests in Chromium: the browser, and a site with all disciplines."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import cast

import pytest

from agon.app.contests.ingest.records import record
from agon.disciplines.challenge.records import SERVICE_VALIDATOR
from agon.web.addresses import submit
from fakes.contests import all_disciplines
from fakes.instance import Instance, instance_at
from fakes.service import ORGANISER, service_at
from web.browser import Browser
from web.chromium.browsing import Chromium
from web.chromium.serving import serve
from web.chromium.site import Site


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a test that uses the browser in the browser's thread."""
    if "chromium" not in pyfuncitem.fixturenames:
        return None
    chromium = cast("Chromium", pyfuncitem.funcargs["chromium"])
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    chromium.run(partial(pyfuncitem.obj, **arguments))
    return True


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """Start Chromium once for all tests."""
    browser = Chromium()
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve contests of all disciplines; tests read them only."""
    folder = tmp_path_factory.mktemp("site")
    service = replace(service_at(folder), tasks=lambda: ("sums",))
    instance: Instance = instance_at(folder, service=service, development=True)
    all_disciplines(instance.service)
    _submit_agent(instance)
    with serve(instance) as origin:
        yield Site(instance, origin)
    instance.close()


def _submit_agent(instance: Instance) -> None:
    """Let an organizer submit an agent, whose run has a page."""
    house = ("validators", {"id": SERVICE_VALIDATOR, "stake": 1.0}, None)
    record(instance.service, "challenge", [house], by=ORGANISER)
    browser = Browser(instance)
    browser.sign_in("organiser")
    response = browser.submit(
        submit("challenge"), submit("challenge"), {"command": "run", "miner_uid": "0"}
    )
    assert response.status_code == 303, response.text


@pytest.fixture(autouse=True)
def _share(chromium: Chromium) -> None:
    """Run all tests of this folder in the worker that has the browser and the crawled site."""
    del chromium
