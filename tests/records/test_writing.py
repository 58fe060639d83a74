"""Files and folders are written completely or not at all."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from agon.errors import Conflict, NotFound, Unavailable
from agon.records import read, read_rows, writing
from agon.records.writing import FORMATS, TableFormat, write_atomically, write_tables
from records.contest import SCHEMA, arrow, values


def tables() -> dict[str, pa.Table]:
    """Return the good records with everything text formats have trouble with."""
    tables = values()
    tables["people"][1]["name"] = 'a,"b"\r\n\té\u2028\\N'
    tables["people"][1]["joined_at"] = datetime(1, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
    tables["works"][0]["score"] = 0.1 + 0.2
    tables["works"][2]["score"] = 5e-324
    return {name: arrow(rows) for name, rows in tables.items()}


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", FORMATS)
def test_what_is_written_reads_back_with_the_same_hash(tmp_path: Path, form: TableFormat) -> None:
    """No format may round a number, shift a time or change a text."""
    out = tmp_path / "out"
    write_tables(tables(), out, format=form)
    assert sorted(file.name for file in out.iterdir()) == [
        f"{name}.{form}" for name in ("people", "votes", "works")
    ]
    with read(SCHEMA, out) as records:
        assert records.sha256 == read_rows(SCHEMA, tables()).sha256


@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_times_are_written_with_their_zone(tmp_path: Path, form: TableFormat) -> None:
    """A reader need not guess; lists and structs stay what they are, as JSON."""
    when = pa.array([datetime(2026, 1, 1, 12, tzinfo=UTC)]).cast(pa.timestamp("ns", "Asia/Tokyo"))
    table = pa.table({"at": when, "terms": [[1, 2]]})
    write_tables({"truth/people": table}, tmp_path / "out", format=form)
    text = (tmp_path / "out" / "truth" / f"people.{form}").read_text()
    assert "2026-01-01T12:00:00.000000Z" in text
    assert "[1,2]" in text


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", FORMATS)
def test_a_table_without_rows_is_written_with_its_columns(
    tmp_path: Path, form: TableFormat
) -> None:
    """An empty table is not an absent one."""
    write_tables({"people": tables()["people"].slice(0, 0)}, tmp_path / "out", format=form)
    with read(SCHEMA, tmp_path / "out") as records:
        assert records.has("people")
        assert records.count("people") == 0


def test_a_folder_with_anything_in_it_is_left_alone(tmp_path: Path) -> None:
    """Old and new records must not mix; an empty folder is as good as none."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    for name in ("full", "file"):
        with pytest.raises(Conflict, match="name a new or an empty folder"):
            write_tables(tables(), tmp_path / name)
    write_tables(tables(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert len(list((tmp_path / "empty").iterdir())) == 3
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["note.txt"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Neither at the target nor next to it."""
    write_table = writing._write_table
    written = []

    def failing(table: pa.Table, file: Path, form: TableFormat) -> None:
        write_table(table, file, form)
        written.append(file)
        if len(written) == 2:
            raise error

    monkeypatch.setattr(writing, "_write_table", failing)
    with pytest.raises((Unavailable, KeyboardInterrupt)):
        write_tables(tables(), tmp_path / "out")
    assert len(written) == 2
    assert list(tmp_path.iterdir()) == []


def pieces(error: BaseException | None = None) -> Iterator[bytes]:
    """Give some bytes, then fail."""
    yield b"new "
    if error is not None:
        raise error
    yield b"content"


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    """Its mode stays, a link keeps pointing at it, and nothing is left next to it."""
    file, link = tmp_path / "board.json", tmp_path / "link.json"
    write_atomically(file, b"old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_atomically(link, pieces())
    assert link.is_symlink()
    assert file.read_bytes() == b"new content"
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [file, link]


@pytest.mark.parametrize("error", [OSError(28, "No space left"), ValueError(), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    """Whoever reads it meanwhile sees all of the old or all of the new."""
    file = tmp_path / "board.json"
    write_atomically(file, b"old")
    with pytest.raises((Unavailable, ValueError, KeyboardInterrupt)):
        write_atomically(file, pieces(error))
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


KILLED = """
import os, signal, sys
from pathlib import Path
from agon.records.writing import write_atomically

def pieces():
    yield b"half"
    os.kill(os.getpid(), signal.SIGKILL)

write_atomically(Path(sys.argv[1]), pieces())
"""


def test_a_process_killed_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    """Nobody can clean up then, but the target is as it was."""
    file = tmp_path / "board.json"
    file.write_text("old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(file)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert file.read_text() == "old"


def test_a_pipe_is_written_as_it_comes(tmp_path: Path) -> None:
    """``--output /dev/stdout`` and process substitution are no files to replace."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        write_atomically(pipe, pieces())
        assert reader.communicate()[0] == b"new content"
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    "write", [lambda p: write_tables({}, p), lambda p: write_atomically(p, b"")]
)
def test_a_missing_parent_is_reported(tmp_path: Path, write: Any) -> None:
    """A misspelt path must not grow a tree of folders."""
    with pytest.raises(NotFound, match="no such folder; create it first"):
        write(tmp_path / "nowhere" / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_file_and_no_name_leads_out(tmp_path: Path) -> None:
    """Wrong targets and names are rejected before anything is written."""
    with pytest.raises(Conflict, match="is a folder"):
        write_atomically(tmp_path, b"")
    for name in ("../x", "/x"):
        with pytest.raises(ValueError, match="leads out"):
            write_tables({name: pa.table({"a": [1]})}, tmp_path / "out")
    with pytest.raises(ValueError, match="no such format"):
        write_tables({}, tmp_path / "out", format="xlsx")  # type: ignore[arg-type]  # no format
    assert list(tmp_path.iterdir()) == []
