"""A house of its own for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.http_house import House, house_at


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Open a house with its application and a token for every role."""
    made = house_at(tmp_path)
    yield made
    made.close()
