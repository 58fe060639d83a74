"""The demo: complete, repeatable, and careful with what it finds."""

from pathlib import Path

import pytest

import agon
from agon.app.demo import build_demo
from agon.disciplines import BUILT_IN
from agon.errors import Conflict


def test_the_demo_shows_all_four_disciplines(tmp_path: Path) -> None:
    """Each from a database of its own that can be scored again, Parquet and truth beside it."""
    exhibits = list(build_demo(tmp_path / "demo"))
    assert tuple(exhibit.discipline for exhibit in exhibits) == BUILT_IN
    for exhibit in exhibits:
        board = exhibit.result.board()
        assert len(board) >= 10
        beside = agon.read_records(exhibit.discipline, tmp_path / "demo" / exhibit.discipline)
        assert beside.sha256 == exhibit.result.records.sha256
        assert exhibit.result.explain(board.rows(top=1)[0]["id"]).parts
    found = {one.code for exhibit in exhibits for one in exhibit.result.findings}
    assert {"self-feedback", "self-serving-votes", "duplicate-agents", "same-source"} <= found
    assert "CC BY 4.0" in exhibits[-1].origin
    assert "CC BY 4.0" in (tmp_path / "demo" / "arena" / "ATTRIBUTION.md").read_text()
    again = list(build_demo(tmp_path / "demo"))
    assert [one.result.fingerprint for one in again] == [one.result.fingerprint for one in exhibits]
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    """Only an earlier demo is replaced."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(Conflict, match="not a demo"):
        next(build_demo(tmp_path))
    assert (tmp_path / "notes.txt").read_text() == "mine"
