"""A house asked in both ways: beside its database, and over HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from agon.app.worker import handlers
from agon.app.worker.local_source import LocalSource
from agon.app.worker.loop import Worker
from agon.client import Api, Client
from agon.client.local import Local
from fakes import http_house
from fakes.house import OPERATOR

Behind: TypeAlias = http_house.House


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Behind]:
    """Open the house itself, with a token for every role."""
    made = http_house.house_at(tmp_path)
    yield made
    made.service.store.close()


def client_of(behind: Behind, role: str | None = "operator", **options: object) -> Client:
    """Make a client that shows a role's token."""
    token = None if role is None else behind.tokens[role]
    transport = behind.client._transport
    return Client("http://testserver", token=token, transport=transport, **options)  # type: ignore[arg-type]  # options of any kind


def work(behind: Behind) -> None:
    """Do what a worker would do, until there is nothing left."""
    source = LocalSource(behind.service, worker="tests", wait=lambda _: None)
    Worker(source, handlers.service_runners(behind.service)).work(idle=False)


@pytest.fixture(params=["beside the database", "over HTTP"])
def house(request: pytest.FixtureRequest, behind: Behind) -> Iterator[Api]:
    """Ask the house in either way; over HTTP a worker is at work whenever the client waits."""
    if request.param == "over HTTP":
        with client_of(behind, sleep=lambda _: work(behind)) as client:
            yield client
    else:
        yield Local(behind.service, by=OPERATOR)
