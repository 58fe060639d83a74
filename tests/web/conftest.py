"""Fixtures of the tests of the site."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.instance import instance_at
from web.browser import Browser


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """Open an instance and return a visitor who is not signed in."""
    instance = instance_at(tmp_path)
    yield Browser(instance)
    instance.close()
