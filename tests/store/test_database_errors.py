"""Databases that are full, unreadable or damaged: one message with one remedy."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agon.errors import CheckFailed, Unavailable
from agon.ledger.entry import genesis
from agon.store import open_store
from agon.store.connection.database_errors import to_agon_error
from agon.store.maintenance.backup import backup
from agon.store.maintenance.verify import verify
from store.factories import NOON, chained, contest, created, opened, vote

_PAGE = 16_384


@pytest.fixture
def large(tmp_path: Path) -> str:
    """Store a contest whose entries fill many pages."""
    url = f"sqlite:///{tmp_path}/large.db"
    store = open_store(url)
    with store.write() as session:
        spring = session.contests.add(contest())
        drafts = [created("spring"), opened(), *map(vote, range(1500))]
        entries, head, seq = chained(drafts, previous=genesis("spring"))
        session.entries.append(spring.no, entries)
        session.contests.save(replace(spring, seq=seq, head=head, state="open"))
    store.close()
    return url


@pytest.mark.exhaustive
def test_a_full_disk_keeps_what_was_stored_and_says_what_to_do(large: str, tmp_path: Path) -> None:
    """Nothing half is left: not in the ledger, not of a backup."""
    small = tmp_path / "small"
    small.mkdir()
    bwrap = shutil.which("bwrap")
    assert bwrap is not None, "install the Debian package bubblewrap"
    result = subprocess.run(
        [bwrap, "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--size", str(1 << 22),
         "--tmpfs", str(small), sys.executable, str(Path(__file__).with_name("full_disk.py")),
         str(small), large],
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    full, original, copied, archived, left = result.stdout.splitlines()
    assert "has no space to write" in full
    assert full.endswith("free space on its disk and try again")
    assert original == "whole"
    assert copied.startswith(f"the copy in {small} ")
    assert copied.endswith("free space on its disk and try again")
    assert archived.startswith(f"{small}/copy.tar.gz cannot be written (No space left on device)")
    assert left == "[]"


def test_a_backup_into_a_place_that_is_none_says_so(large: str, tmp_path: Path) -> None:
    """A path through a file is a slip of the keyboard."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unavailable, match="choose another path"):
        backup(large, tmp_path / "file" / "all.tar.gz", now=NOON)


@pytest.mark.parametrize("harm", ["zeros", "noise"])
def test_entries_on_a_damaged_page_are_named(large: str, tmp_path: Path, harm: str) -> None:
    """An operator has to know whose contest it is, and where it breaks off."""
    path = tmp_path / "large.db"
    with closing(sqlite3.connect(path)) as connection:
        (line,) = connection.execute("SELECT line FROM entries WHERE seq = 700").fetchone()
    content = bytearray(path.read_bytes())
    page = content.index(line) // _PAGE * _PAGE
    content[page : page + _PAGE] = (
        bytes(_PAGE) if harm == "zeros" else bytes(range(256)) * (_PAGE // 256)
    )
    path.write_bytes(content)
    report = verify(large)
    with pytest.raises(CheckFailed, match=r"large\.db is damaged"):
        report.require_no_issues()
    (lost,) = [issue for issue in report.issues if "their page is damaged" in issue.what]
    first, last = (int(word) for word in lost.what.split()[2:5:2])
    assert first <= 700 <= last
    assert (lost.file, lost.line) == ("contest spring", first)
    assert last - first < 200


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("database or disk is full", "free space"),
        ("could not extend file: No space left on device", "free space"),
        ("disk I/O error", "full or failing"),
        ("attempt to write a readonly database", "right to write"),
        ("cannot execute INSERT in a read-only transaction", "right to write"),
        ("database disk image is malformed", "agon db restore"),
        ("database is locked", "try again"),
        ("connection refused", "see that it is there"),
    ],
)
def test_every_plight_has_its_remedy(text: str, remedy: str) -> None:
    """The operator who reads it has no time for a search."""
    error = to_agon_error(sqlite3.OperationalError(text), "the database agon.db")
    assert isinstance(error, Unavailable)
    assert text in str(error)
    assert remedy in str(error).rpartition(";" if "busy" not in str(error) else ")")[2]
