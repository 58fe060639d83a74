"""The instance: what every room keeps to, checked over the source itself."""

import ast
import tomllib
from pathlib import Path

import pytest

from agon.disciplines import BUILT_IN, discipline

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "src" / "agon" / "examples"  # data: programs of a season, not code of ours
SOURCES = sorted(
    path for path in (ROOT / "src" / "agon").rglob("*.py") if EXAMPLES not in path.parents
)
ROOMS = ("rules", "records", "formulas", "facts", "scoring", "integrity", "simulate")


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_discipline_has_the_same_rooms(name: str) -> None:
    """Who knows one discipline finds the way in the others."""
    folder = ROOT / "src" / "agon" / "disciplines" / name
    present = {path.stem for path in folder.iterdir()}
    assert set(ROOMS) <= present


def test_no_file_is_longer_than_four_hundred_lines_without_a_reason() -> None:
    """The largest file is what separates the calm code bases from the others."""
    long = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if len(lines := path.read_text().splitlines()) > 400
        and not any("400 lines" in line for line in lines[:12])
    ]
    assert long == []


def test_every_public_function_and_class_says_what_it_is() -> None:
    """Ruff checks that docstrings exist; this checks that modules of one sentence do too."""
    silent = [
        str(path.relative_to(ROOT)) for path in SOURCES
        if not (ast.get_docstring(ast.parse(path.read_text())) or "").strip()
    ]  # fmt: skip
    assert silent == []


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_rule_states_meaning_reason_source_and_bound(name: str) -> None:
    """A rule without a reason is somebody's taste."""
    lacking = [
        text.name
        for text in discipline(name).rules.texts()
        if not (text.meaning and text.reason and text.source and text.bounds)
        or text.bounds in {"number", "whole number", "value"}
    ]
    assert lacking == []


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_finding_and_attack_says_what_it_is(name: str) -> None:
    """They become the rulebook's tables."""
    found = discipline(name)
    assert found.checks
    assert found.attacks
    assert all(len(text) > 20 for text in [*found.checks.values(), *found.attacks.values()])


def test_nothing_names_a_registry_host() -> None:
    """A checkout works with whatever index a machine is set up for."""
    files = [*(ROOT / "requirements").iterdir(), ROOT / "pyproject.toml", ROOT / "Makefile"]
    naming = [file.name for file in files if "://" in file.read_text()]
    assert naming == []


def test_locked_versions_are_those_seen_working_together() -> None:
    """Ibis, DuckDB, sqlglot and pyarrow were measured as one set; the locks keep it."""
    base = (ROOT / "requirements" / "base.lock").read_text()
    assert "ibis-framework" not in base
    assert "sqlglot" not in base
    lock = (ROOT / "requirements" / "dev.lock").read_text()
    pinned = {"ibis-framework": "12.0.0", "duckdb": "2.0.0", "sqlglot": "30.30.0",
              "pyarrow": "26.0.1"}  # fmt: skip
    assert all(f"{name}=={pinned[name]}" in base for name in ("duckdb", "pyarrow"))
    missing = [f"{name}=={version}" for name, version in pinned.items()
               if not any(line.split(" ")[0].split("[")[0].startswith(name) and version in line
                          for line in lock.splitlines())]  # fmt: skip
    assert missing == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["requires-python"] == ">=3.11"
