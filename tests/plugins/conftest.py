"""Give tests a folder in which packages are installed for this process, and for no other test."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agon import disciplines
from agon.disciplines import discipline
from agon.editions import registry
from cli.command import Cli
from plugins.installed import install_quiz

CACHES: tuple[Callable[[], None], ...] = (
    disciplines._plugins.cache_clear,
    discipline.cache_clear,
    registry.lock.cache_clear,
    registry.lock_of.cache_clear,
    registry._load.cache_clear,
)


@pytest.fixture
def agon(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run commands in this process."""
    return Cli(capsys)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a folder on the path; what is installed there is gone after the test."""
    folder = tmp_path / "site"
    folder.mkdir()
    loaded = set(sys.modules)
    monkeypatch.syspath_prepend(folder)
    for clear in CACHES:
        clear()
    yield folder
    for name in set(sys.modules) - loaded:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
            del sys.modules[name]
    for clear in CACHES:
        clear()


@pytest.fixture
def quiz(site: Path) -> Path:
    """Install the example discipline."""
    return install_quiz(site)
