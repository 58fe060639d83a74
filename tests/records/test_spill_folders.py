"""Folders of killed processes do not stay."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agon.records.spill_folders import make_spill_folder

HOLDER = """
import sys
from agon.records.raw import MemoryEngine
engine = MemoryEngine()
print("open", flush=True)
sys.stdin.read()
"""


def test_the_folder_of_a_killed_process_is_removed_and_that_of_a_living_one_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker is killed with -9; the next one that opens an engine removes its folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        [theirs] = tmp_path.iterdir()
        ours = make_spill_folder()
        assert {theirs, Path(ours.path)} == set(tmp_path.iterdir())
        (theirs / "spilled").write_bytes(b"x")
        holder.kill()
        holder.wait()
    again = make_spill_folder()
    assert {Path(ours.path), Path(again.path)} == set(tmp_path.iterdir())
    ours.remove()
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user could place one where temporary files are."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (target := tmp_path / "target").mkdir()
    (target / "file").touch()
    (tmp_path / "temporary" / "agon-spill-x").symlink_to(target)
    (tmp_path / "temporary" / "agon-spill-y").touch()
    make_spill_folder().remove()
    assert (target / "file").exists()
    assert (tmp_path / "temporary" / "agon-spill-y").exists()
