"""An instance of its own for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.instance import Instance, instance_at


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance with its application and a token for every role."""
    made = instance_at(tmp_path)
    yield made
    made.close()
