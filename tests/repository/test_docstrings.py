"""The examples in docstrings, which readers copy before anything else."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import agon

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
EXAMPLES = SOURCES / "agon" / "examples"
SHOWING = sorted(
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for path in (SOURCES / "agon").rglob("*.py")
    if EXAMPLES not in path.parents and ">>>" in path.read_text()
)


@pytest.mark.parametrize("name", SHOWING)
def test_the_examples_of_a_module_come_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An example that no longer holds is worse than none; paths in them are the repository's."""
    monkeypatch.chdir(ROOT)
    tried = doctest.testmod(import_module(name))
    assert tried.attempted > 0
    assert tried.failed == 0


@pytest.mark.parametrize(
    "name", ["read_records", "score", "compare", "check", "simulate", "import_records", "edition"]
)
def test_a_public_function_shows_how_it_is_called(name: str) -> None:
    """These are what `import agon` is for: arguments, errors and an example."""
    told = getattr(agon, name).__doc__
    assert "Raises:" in told
    assert "Example:" in told
