"""Provide a separate service for each test, and quick hashes of passwords."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agon.app.service import Service
from fakes.service import service_at


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Open a service on a new SQLite file."""
    opened = service_at(tmp_path)
    yield opened
    opened.store.close()


@pytest.fixture
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords in little memory; ``test_passwords.py`` tests the real strength."""
    monkeypatch.setattr("agon.app.password_hashing.MEMORY_KIB", 64)
