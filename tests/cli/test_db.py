"""The database from the command line: made, moved, verified."""

import sqlite3
from pathlib import Path

from cli.command import Here, arena_folder


def test_a_database_is_laid_out_backed_up_restored_and_verified(agon: Here, tmp_path: Path) -> None:
    """A backup that was never restored is none."""
    url, other = f"sqlite:///{tmp_path}/agon.db", f"sqlite:///{tmp_path}/other.db"
    assert (
        "would be reached from nothing" in agon("db", "upgrade", "--dry-run", "--database", url).out
    )
    assert not (tmp_path / "agon.db").exists()
    assert "was reached from nothing" in agon("db", "upgrade", "--database", url).out
    assert "was there already" in agon("db", "upgrade", "--database", url).out
    revision = agon("db", "current", "--database", url).out
    assert revision.strip()
    agon("contest", "create", "spring", "--discipline", "arena", "--database", url)
    agon("contest", "add", "spring", arena_folder(tmp_path / "arena"), "--database", url)
    board = agon("contest", "board", "spring", "--database", url, "--format", "json").json()
    for name in ("backup.tar.gz", "backup.db"):
        made = agon("db", "backup", tmp_path / name, "--database", url)
        assert made.code == 0, made.err
        assert agon("db", "backup", tmp_path / name, "--database", url).code == 4
    assert agon("db", "restore", tmp_path / "none", "--database", other).code == 3
    restored = agon("db", "restore", tmp_path / "backup.tar.gz", "--database", other)
    assert restored.out == "good: 1 contests, 12 entries\n"
    assert agon("db", "restore", tmp_path / "backup.db", "--database", other).code == 4
    assert agon("db", "verify", "--database", other).out == "good: 1 contests, 12 entries\n"
    same = agon("contest", "board", "spring", "--database", other, "--format", "json").json()
    assert same["board_sha256"] == board["board_sha256"]


def test_a_changed_database_fails_the_check_by_name(agon: Here, tmp_path: Path) -> None:
    """Contest and position, exit code 1."""
    url = f"sqlite:///{tmp_path}/agon.db"
    agon("contest", "create", "spring", "--discipline", "arena", "--database", url)
    agon("contest", "add", "spring", arena_folder(tmp_path / "arena"), "--database", url)
    with sqlite3.connect(tmp_path / "agon.db") as database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f"DROP TRIGGER {name}")
        changed = database.execute(
            "UPDATE entries SET line = CAST(replace(CAST(line AS TEXT), 'Ann', 'Eve') AS BLOB) "
            "WHERE instr(CAST(line AS TEXT), 'Ann')"
        )
        assert changed.rowcount == 1
    database.close()
    found = agon("db", "verify", "--database", url)
    assert found.code == 1
    assert "contest spring" in found.err
    replayed = agon("replay", "spring", "--database", url)
    assert replayed.code == 1
