"""Test the public library: its names, and that ``import agon`` loads nothing before use."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import agon
from cli.command import arena_folder

HEAVY = ("numpy", "pyarrow", "duckdb", "pydantic", "numba", "scipy", "ibis", "pandas", "rich")


def loaded(code: str) -> set[str]:
    """Run code in a new interpreter and return the heavy modules that it loaded."""
    script = f"{code}\nimport sys; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_agon_loads_nothing_heavy() -> None:
    """A program that imports agon starts as fast as one that does not."""
    assert loaded("import agon") == set()


def test_the_command_line_loads_nothing_heavy_for_its_help() -> None:
    """``agon --help`` is fast, with the first sentences of all commands."""
    assert not set(HEAVY) & loaded("from agon.cli.run import run; run(['--help'])")


@pytest.mark.parametrize("name", sorted(set(agon.__all__)))
def test_every_public_name_exists(name: str) -> None:
    """The documented names can be imported."""
    assert getattr(agon, name) is not None
    assert name in dir(agon)


def test_other_names_raise_an_attribute_error() -> None:
    """A typing error must be reported."""
    with pytest.raises(AttributeError, match="scoer"):
        _ = agon.scoer


def test_a_board_is_read_by_other_libraries(tmp_path: Path) -> None:
    """Arrow, polars, pandas and plain rows have the same numbers."""
    result = agon.score("arena", arena_folder(tmp_path / "arena"))
    board = result.board("bots")
    rows = board.rows()
    assert isinstance(board.to_arrow(), pa.Table)
    assert board.to_polars().to_dicts() == rows
    assert board.to_pandas()["score"].tolist() == [row["score"] for row in rows]
    assert pa.table(board).to_pylist() == rows


def test_the_readme_example_works(tmp_path: Path) -> None:
    """It reads, scores, shows, explains and checks records in five lines."""
    records = agon.read_records("arena", arena_folder(tmp_path / "arena"))
    result = agon.score(
        "arena", records, edition="sentience-1", overrides={"k_new": "16"}, as_of=None
    )
    first = result.board("bots").rows(top=1)[0]
    explanation = result.explain(first["id"])
    assert explanation.score == first["score"]
    assert sum(part.points for part in explanation.parts) == pytest.approx(first["score"])
    assert result.findings == []
    assert len(result.fingerprint) == 64


def test_editions_are_part_of_the_library() -> None:
    """Users list and read editions by it."""
    assert "dojo/0.2" in agon.editions.editions("dojo")
    assert agon.edition("dojo/0.2").rules.model_dump()["max_literal_digits"] == 64
