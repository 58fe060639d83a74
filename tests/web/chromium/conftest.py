"""Fixtures of the tests in Chromium: the browser, and a site with all disciplines."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from agon.app.contests.ingest.records import record
from agon.app.worker.handlers import trial_runners
from agon.disciplines.challenge.records import SERVICE_VALIDATOR
from agon.web.addresses import submit
from agon.wiring import submitted_agent
from app.tasks.folders import harbor
from app.worker.contests import work
from fakes.containers import FakeContainers
from fakes.contests import HOSTILE, all_disciplines
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
    _submit_agent(instance, harbor(folder / "tasks" / "sums").parent)
    with serve(instance) as origin:
        yield Site(instance, origin)
    instance.close()


def _submit_agent(instance: Instance, tasks: Path) -> None:
    """Let an organizer submit an agent, whose run and its trial have pages."""
    house = ("validators", {"id": SERVICE_VALIDATOR, "stake": 1.0}, None)
    record(instance.service, "challenge", [house], by=ORGANISER)
    browser = Browser(instance)
    browser.sign_in("organiser")
    response = browser.submit(
        submit("challenge"), submit("challenge"), {"command": "run", "miner_uid": "0"}
    )
    assert response.status_code == 303, response.text
    step = {"source": "agent", "message": HOSTILE, "tool_calls": [
        {"function_name": "sh", "arguments": {"command": HOSTILE}}]}  # fmt: skip
    page = json.dumps({"schema_version": "ATIF-v1.6", "steps": [step]})
    containers = FakeContainers(left=lambda _: {"logs/agent/trajectory.json": page})
    service = instance.service
    work(service, trial_runners(tasks, containers, submitted_agent, now=service.clock))


@pytest.fixture(autouse=True)
def _share(chromium: Chromium) -> None:
    """Run all tests of this folder in the worker that has the browser and the crawled site."""
    del chromium
