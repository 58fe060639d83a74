"""Fixtures of the tests of the site."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.contests import all_disciplines
from fakes.instance import Instance, instance_at
from web.browser import Browser


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """Open an instance and return a visitor who is not signed in."""
    instance = instance_at(tmp_path)
    yield Browser(instance)
    instance.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Open an instance with contests of all disciplines; tests may add others and change none."""
    instance = instance_at(tmp_path_factory.mktemp("disciplines"))
    all_disciplines(instance.service)
    yield instance
    instance.close()
