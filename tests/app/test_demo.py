"""Test the demo: complete, repeatable, and careful with existing files."""

from pathlib import Path

import pytest

import agon
from agon.app.demo import _simulate, build_demo
from agon.disciplines import BUILT_IN, discipline
from agon.errors import Conflict


@pytest.mark.exhaustive
def test_the_demo_shows_all_four_disciplines(tmp_path: Path) -> None:
    """Each has a database that can be scored again, with Parquet files and the truth."""
    exhibits = list(build_demo(tmp_path / "demo"))
    assert tuple(exhibit.discipline for exhibit in exhibits) == BUILT_IN
    for exhibit in exhibits:
        board = exhibit.result.board()
        assert len(board) + len(board.unscored) >= 10
        parquet = agon.read_records(exhibit.discipline, tmp_path / "demo" / exhibit.discipline)
        assert parquet.sha256 == exhibit.result.records.sha256
        assert exhibit.result.explain(board.rows(top=1)[0]["id"]).parts
    codes = {item.code for exhibit in exhibits for item in exhibit.result.findings}
    assert {"self-feedback", "self-serving-votes", "duplicate-agents", "same-source"} <= codes
    assert "CC BY 4.0" in exhibits[-1].origin
    assert "CC BY 4.0" in (tmp_path / "demo" / "arena" / "ATTRIBUTION.md").read_text()
    again = list(build_demo(tmp_path / "demo"))
    assert [item.result.fingerprint for item in again] == [
        item.result.fingerprint for item in exhibits
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


def test_people_of_the_demo_have_names_of_their_own() -> None:
    """Two equal names would be one person to a reader, and similar ones are findings."""
    chosen = discipline("community")
    assert chosen.demo is not None
    records = _simulate(chosen, chosen.demo)
    handles = records.tables["users"]["handle"].to_pylist()
    assert handles[:2] == ["Amara Abara", "Bjorn Bergström"]
    assert len(set(handles)) == len(handles)
    codes = {finding.code for finding in agon.score("community", records.tables).findings}
    assert "near-duplicate-handle" not in codes


def test_a_folder_that_is_not_a_demo_is_not_changed(tmp_path: Path) -> None:
    """Only an earlier demo is replaced."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(Conflict, match="not a demo"):
        next(build_demo(tmp_path))
    assert (tmp_path / "notes.txt").read_text() == "mine"
