"""Read the modules of agon once for all tests of the repository's rules."""

from pathlib import Path

import pytest

from repository.modules import Module, read_modules

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def modules() -> dict[Path, Module]:
    """Return the modules of the package by their paths, without its example programs."""
    package = ROOT / "src" / "agon"
    examples = package / "examples"
    return read_modules(path for path in package.rglob("*.py") if examples not in path.parents)
