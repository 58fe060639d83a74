"""Test rules of the repository on its source: modules, docstrings, descriptions, versions."""

import re
import tomllib
from pathlib import Path

import pytest

from agon.disciplines import BUILT_IN, discipline
from repository.modules import Module

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "src" / "agon" / "examples"  # data: programs of a season, not code of the package
SOURCES = sorted(
    path for path in (ROOT / "src" / "agon").rglob("*.py") if EXAMPLES not in path.parents
)
RULE_SOURCE = re.compile(
    r"(document|issue) \d+\b|scores0001\b|spec [\w-]+\b|[\w-]+ page\b|challenge\b|running-agents\b"
)
"""What a rule is from: a source document, a page of the specifications, or an issue."""

MODULES = ("rules", "records", "formulas", "facts", "scoring", "integrity", "simulate")


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_discipline_has_the_same_modules(name: str) -> None:
    """A reader of one discipline can find the same parts in the others."""
    folder = ROOT / "src" / "agon" / "disciplines" / name
    present = {path.stem for path in folder.iterdir()}
    assert set(MODULES) <= present


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_rule_has_meaning_reason_and_source(name: str) -> None:
    """A rule without a reason is a number that cannot be discussed."""
    for text in discipline(name).rules.texts():
        assert text.meaning, text.name
        assert text.reason, text.name
        assert RULE_SOURCE.match(text.source), (text.name, text.source)


def test_the_rules_of_the_recipe_state_a_source_as_the_others_do() -> None:
    """Who copies them from CONTRIBUTING must not be refused by the test above."""
    recipe = (
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## How to add a rule")
    )
    sources = re.findall(r'source="([^"]*)"', recipe[2])
    assert sources
    assert [source for source in sources if not RULE_SOURCE.match(source)] == []


def test_no_file_is_longer_than_four_hundred_lines_without_a_reason() -> None:
    """Long files are hard to read."""
    long = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if len(lines := path.read_text().splitlines()) > 400
        and not any("400 lines" in line for line in lines[:12])
    ]
    assert long == []


def test_no_function_is_longer_than_a_reader_can_hold(modules: dict[Path, Module]) -> None:
    """Its docstring and parameters do not count; the tables of a database are a list."""
    long = {
        function.name
        for path, module in modules.items()
        if "migrations" not in path.parts
        for function in module.functions
        if function.lines > 60
    }
    assert long == set()


def test_every_module_has_a_docstring(modules: dict[Path, Module]) -> None:
    """It must also not be empty, which Ruff does not check."""
    without_docstring = [
        str(path.relative_to(ROOT))
        for path, module in modules.items()
        if not module.docstring.strip()
    ]
    assert without_docstring == []


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_rule_states_meaning_reason_source_and_bound(name: str) -> None:
    """A user must be able to judge a rule."""
    incomplete = [
        text.name
        for text in discipline(name).rules.texts()
        if not (text.meaning and text.reason and text.source and text.bounds)
        or text.bounds in {"number", "whole number", "value"}
    ]
    assert incomplete == []


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_check_and_attack_is_described(name: str) -> None:
    """The tables of the rulebook have these descriptions."""
    chosen = discipline(name)
    assert chosen.checks
    assert chosen.attacks
    assert all(len(text) > 20 for text in [*chosen.checks.values(), *chosen.attacks.values()])


def test_nothing_names_a_registry_host() -> None:
    """A checkout works with any package index."""
    files = [*(ROOT / "requirements").iterdir(), ROOT / "pyproject.toml", ROOT / "Makefile"]
    naming = [file.name for file in files if "://" in file.read_text()]
    assert naming == []


def test_locked_versions_are_those_tested_together() -> None:
    """Ibis, DuckDB, sqlglot and pyarrow were tested as one set."""
    base = (ROOT / "requirements" / "base.lock").read_text()
    assert "ibis-framework" not in base
    assert "sqlglot" not in base
    lock = base + (ROOT / "requirements" / "dev.lock").read_text()
    pinned = {"ibis-framework": "12.0.0", "duckdb": "2.0.0", "sqlglot": "30.30.0",
              "pyarrow": "26.0.1"}  # fmt: skip
    assert all(f"{name}=={pinned[name]}" in base for name in ("duckdb", "pyarrow"))
    missing = [f"{name}=={version}" for name, version in pinned.items()
               if not any(line.split(" ")[0].split("[")[0].startswith(name) and version in line
                          for line in lock.splitlines())]  # fmt: skip
    assert missing == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["requires-python"] == ">=3.11"
