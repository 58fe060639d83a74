"""Test the examples of docstrings, which readers copy first."""

import doctest
import linecache
from importlib import import_module
from pathlib import Path

import pytest

import agon

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
EXAMPLES = SOURCES / "agon" / "examples"
MODULES = sorted(
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for path in (SOURCES / "agon").rglob("*.py")
    if EXAMPLES not in path.parents and ">>>" in path.read_text()
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong example is worse than none; their paths are relative to the repository."""
    monkeypatch.chdir(ROOT)
    linecache.clearcache()  # doctest looks at each file in it for every docstring
    results = doctest.testmod(import_module(name), exclude_empty=True)
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize(
    "name", ["read_records", "score", "compare", "check", "simulate", "import_records", "edition"]
)
def test_a_public_function_has_errors_and_an_example(name: str) -> None:
    """They are the main functions of the library."""
    docstring = getattr(agon, name).__doc__
    assert "Raises:" in docstring
    assert "Example:" in docstring
