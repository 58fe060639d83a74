"""Key files: created once, complete, and readable only by their owner."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agon.errors import Conflict, NotFound, Unreadable
from agon.settings import load_key


def test_a_missing_key_is_created_for_its_owner_only_and_reused(tmp_path: Path) -> None:
    """The second start must decrypt what the first one encrypted."""
    path = tmp_path / "server.key"
    key = load_key(path)
    assert len(key) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_key(path) == key
    assert [file.name for file in tmp_path.iterdir()] == ["server.key"]


def test_processes_that_start_concurrently_get_the_same_key(tmp_path: Path) -> None:
    """The processes of one server start at the same time."""
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(load_key, [tmp_path / "key"] * 32))
    assert len(keys) == 1


def test_a_key_readable_by_others_is_rejected(tmp_path: Path) -> None:
    """Such a key is not secret."""
    path = tmp_path / "key"
    load_key(path)
    path.chmod(0o640)
    with pytest.raises(Conflict, match="chmod 600"):
        load_key(path)


def test_a_key_of_another_length_is_rejected_and_preserved(tmp_path: Path) -> None:
    """The file may be the truncated only copy of a key."""
    path = tmp_path / "key"
    path.write_bytes(b"short")
    path.chmod(0o600)
    with pytest.raises(Unreadable, match="has 5 bytes, a key has 32"):
        load_key(path)
    assert path.read_bytes() == b"short"


def test_a_missing_key_of_an_existing_database_is_not_created(tmp_path: Path) -> None:
    """A restored database cannot be decrypted with a new key."""
    with pytest.raises(NotFound, match="backup"):
        load_key(tmp_path / "key", make=False)
    with pytest.raises(NotFound, match="no such folder"):
        load_key(tmp_path / "gone" / "key")
