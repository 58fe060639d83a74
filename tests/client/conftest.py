"""Provide both clients of one instance: the local and the remote one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agon.app.worker import handlers
from agon.app.worker.local_source import LocalSource
from agon.app.worker.loop import JobWorker
from agon.client import Api, Client
from agon.client.local import Local
from fakes.instance import Instance, instance_at
from fakes.service import OPERATOR


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance, with a token for every role."""
    made = instance_at(tmp_path)
    yield made
    made.close()


def client_of(instance: Instance, role: str | None = "operator", **options: object) -> Client:
    """Return a client with a role's token."""
    token = None if role is None else instance.tokens[role]
    transport = instance.client._transport
    return Client("http://testserver", token=token, transport=transport, **options)  # type: ignore[arg-type]  # options of any kind


def work(instance: Instance) -> None:
    """Run all queued jobs, as a worker would."""
    source = LocalSource(instance.service, worker="tests", wait=lambda _: None)
    JobWorker(source, handlers.service_runners(instance.service)).work(idle=False)


@pytest.fixture(params=["local", "over HTTP"])
def api(request: pytest.FixtureRequest, instance: Instance) -> Iterator[Api]:
    """Return the local or the remote client; a worker works while the remote one waits."""
    if request.param == "over HTTP":
        with client_of(instance, sleep=lambda _: work(instance)) as client:
            yield client
    else:
        yield Local(instance.service, by=OPERATOR)
