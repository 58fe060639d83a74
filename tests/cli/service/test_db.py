"""The database from the command line: creation, migration, verification."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agon.app.contests.ingest.records import RecordImporter
from agon.ledger.entry import chain, genesis
from cli.command import Cli, arena_folder
from fakes.arena import league
from fakes.service import JUDGE
from postgresql_server import Postgresql


@pytest.mark.parametrize(
    "command",
    [
        ("arena", "judges"),
        ("db", "backup", "saved.tar.gz"),
        ("export", "site", "spring", "--out", "s"),
    ],
)
def test_a_command_that_reads_creates_no_database(
    agon: Cli, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They left an empty one, of which later commands said that it is empty instead of missing."""
    monkeypatch.chdir(tmp_path)
    ended = agon(*command)
    assert (ended.code, "database" in ended.err, list(tmp_path.iterdir())) == (3, True, [])


def test_a_database_is_initialized_backed_up_restored_and_verified(
    agon: Cli, tmp_path: Path
) -> None:
    """A backup is only useful if it can be restored."""
    url, other = f"sqlite:///{tmp_path}/agon.db", f"sqlite:///{tmp_path}/other.db"
    assert "would upgrade from nothing" in agon("db", "upgrade", "--dry-run", "--database", url).out
    assert not (tmp_path / "agon.db").exists()
    assert "upgraded from nothing" in agon("db", "upgrade", "--database", url).out
    assert "no change" in agon("db", "upgrade", "--database", url).out
    revision = agon("db", "current", "--database", url).out
    assert revision.strip()
    agon("contest", "create", "spring", "--discipline", "arena", "--database", url)
    agon("contest", "add", "spring", arena_folder(tmp_path / "arena"), "--database", url)
    board = agon("contest", "board", "spring", "--database", url, "--format", "json").json()
    for name in ("backup.tar.gz", "backup.db"):
        result = agon("db", "backup", tmp_path / name, "--database", url)
        assert result.code == 0, result.err
        assert agon("db", "backup", tmp_path / name, "--database", url).code == 4
    assert agon("db", "restore", tmp_path / "none", "--database", other).code == 3
    restored = agon("db", "restore", tmp_path / "backup.tar.gz", "--database", other)
    assert restored.out == "OK: 1 contests, 12 entries\n"
    assert agon("db", "restore", tmp_path / "backup.db", "--database", other).code == 4
    assert agon("db", "verify", "--database", other).out == "OK: 1 contests, 12 entries\n"
    same = agon("contest", "board", "spring", "--database", other, "--format", "json").json()
    assert same["board_sha256"] == board["board_sha256"]


@pytest.mark.exhaustive
def test_a_modified_database_fails_verification(agon: Cli, tmp_path: Path) -> None:
    """The message names contest and position; the exit code is 1."""
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
    result = agon("db", "verify", "--database", url)
    assert result.code == 1
    assert "contest spring" in result.err
    replayed = agon("replay", "spring", "--database", url)
    assert replayed.code == 1


def first_match(body: Any) -> Any:
    """Return the first match of a draw."""
    return body["result"]["matches"][0]


CHANGES: list[tuple[str, Callable[[Any], object], str]] = [
    ("draw-committed", lambda body: body.update(commitment="0" * 64), "the committed SHA-256"),
    ("draw-made", lambda body: body.update(seed="chosen"), "the committed SHA-256"),
    ("draw-made", lambda body: first_match(body)["judges"].reverse(), "judges of r1-1 is"),
    ("draw-made", lambda body: body["result"].pop("inputs"), "cannot be repeated"),
]


def test_a_changed_draw_fails_verification_even_with_a_new_chain(agon: Cli, tmp_path: Path) -> None:
    """An operator who can write to the database can compute all hashes of the ledger again."""
    played = league(tmp_path)
    assert played.play() == []
    before = played.ledger()
    played.service.store.close()
    url = f"sqlite:///{tmp_path}/agon.db"
    assert agon("db", "verify", "--database", url).code == 0
    for kind, edit, difference in CHANGES:
        at = next(n for n, line in enumerate(before) if f'"kind":"{kind}"'.encode() in line)
        value = json.loads(before[at])
        edit(value["body"])
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        rewrite(tmp_path / "agon.db", [*before[:at], text.encode(), *before[at + 1 :]])
        result = agon("db", "verify", "--database", url)
        assert result.code == 1, (kind, result.out)
        assert "contest autumn, line " in result.err
        assert "round r1: " in result.err
        assert difference in result.err


@pytest.mark.exhaustive
def test_a_stuffed_vote_is_noted_and_can_be_voided(agon: Cli, tmp_path: Path) -> None:
    """Earlier versions accepted votes on settled matches; neither command may fail for good."""
    played = league(tmp_path)
    assert played.play() == []
    vote = {"match_id": "r1-1", "judge_id": "judy", "shown_first": "a", "vote": "A",
            "voted_at": None}  # fmt: skip
    with played.service.store.write() as session:
        contest = session.contests.lock("autumn")
        importer = RecordImporter(played.service, session, contest, JUDGE, replace=False)
        [seq] = importer.run([("votes", vote, None)]).seqs
    played.service.store.close()
    url = f"sqlite:///{tmp_path}/agon.db"
    line = tmp_path / "vote.ndjson"
    line.write_text(json.dumps(vote) + "\n")
    added = agon("contest", "add", "autumn", str(line), "--table", "votes", "--database", url)
    assert added.code != 0
    assert "agon contest void" in added.err
    for command in (("db", "verify"), ("replay", "autumn")):
        noted = agon(*command, "--database", url)
        assert noted.code == 0, noted.err
        assert "recorded a row of votes for match r1-1 outside of its round" in noted.err
    voiding = ("--record", str(seq), "--reason", "stuffed", "--yes", "--database", url)
    assert agon("contest", "void", "autumn", *voiding).code == 0
    for command in (("db", "verify"), ("replay", "autumn")):
        silent = agon(*command, "--database", url)
        assert (silent.code, "note:" in silent.err) == (0, False)


def rewrite(file: Path, lines: list[bytes]) -> None:
    """Replace the ledger of a database's only contest, hashes included."""
    with sqlite3.connect(file) as database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f"DROP TRIGGER {name}")
        head = genesis("autumn")
        for seq, line in enumerate(lines, start=1):
            head = chain(head, line)
            update = "UPDATE entries SET line = ?, sha256 = ? WHERE seq = ?"
            database.execute(update, (line, head, seq))
        database.execute("UPDATE contests SET head = ?", (head,))
    database.close()


def test_a_sqlite_instance_can_be_migrated_to_postgresql(
    agon: Cli, postgresql: Postgresql, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backup of a SQLite database is restored, and commands continue to work."""
    monkeypatch.setenv("AGON_SERVER_KEY_FILE", str(tmp_path / "agon-server.key"))
    monkeypatch.setenv("AGON_SIGNING_KEY_FILE", str(tmp_path / "agon-signing.key"))
    url = f"sqlite:///{tmp_path}/agon.db"
    other = postgresql.address(postgresql.emptied())
    agon("contest", "create", "spring", "--discipline", "arena", "--database", url)
    agon("contest", "add", "spring", arena_folder(tmp_path / "arena"), "--database", url)
    board = agon("contest", "board", "spring", "--database", url, "--format", "json").json()
    assert agon("db", "backup", tmp_path / "all.tar.gz", "--database", url).code == 0
    rejected = agon("db", "backup", tmp_path / "all.db", "--database", other)
    assert rejected.code != 0
    restored = agon("db", "restore", tmp_path / "all.tar.gz", "--database", other)
    assert (restored.code, restored.out) == (0, "OK: 1 contests, 12 entries\n"), restored.err
    there = ("--database", other)
    moved = agon("contest", "board", "spring", *there, "--format", "json").json()
    assert moved["board_sha256"] == board["board_sha256"]
    result = agon("contest", "rescore", "spring", "--set", "k_new=64", "--yes", *there)
    assert result.code == 0, result.err
    replayed = agon("replay", "spring", "--at", 12, "--check", board["board_sha256"], *there)
    assert replayed.code == 0, replayed.err
    assert agon("db", "verify", *there).out == "OK: 1 contests, 13 entries\n"
    assert postgresql.password not in result.out + result.err + rejected.err
