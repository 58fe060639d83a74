"""Create a separate instance for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.instance import Instance, instance_at


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """Open an instance with its application and a token for every role."""
    new_instance = instance_at(tmp_path)
    yield new_instance
    new_instance.close()
