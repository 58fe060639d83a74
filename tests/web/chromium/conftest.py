"""Fixtures of the tests in Chromium: the browser, and a site with all disciplines."""

from collections.abc import Iterator
from functools import partial
from typing import cast

import pytest

from fakes.contests import all_disciplines
from fakes.instance import Instance, instance_at
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
    instance: Instance = instance_at(tmp_path_factory.mktemp("site"), development=True)
    all_disciplines(instance.service)
    with serve(instance) as origin:
        yield Site(instance, origin)
    instance.close()


@pytest.fixture(autouse=True)
def _share(chromium: Chromium) -> None:
    """Run all tests of this folder in the worker that has the browser and the crawled site."""
    del chromium
