"""The programs that tests run are those that they mention, else those that the oracle wrote."""

import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from agon.app.tasks.acceptance.programs import (
    files_of,
    mentions,
    programs_under_test,
    traces_in,
    write_replaced,
)
from agon.app.tasks.acceptance.texts import clues_in, is_shell


def archive(path: Path, files: dict[str, bytes]) -> Path:
    """Write an archive; an empty content is a folder, ``->`` makes a link."""
    with tarfile.open(path, "w") as opened:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            if content.startswith(b"->"):
                entry.type, entry.linkname = tarfile.SYMTYPE, content[2:].decode()
            elif not content:
                entry.type = tarfile.DIRTYPE
            else:
                entry.size = len(content)
            opened.addfile(entry, BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("text", "path", "mentioned"),
    [
        ("sh /app/solve.sh", "/app/solve.sh", True),
        ('["python3", "main.py"]', "/app/main.py", True),
        ("./run --all", "/app/run", True),
        ("cd /app && $APP/bin/run", "/app/bin/run", True),
        ("run it", "/app/run", False),
        ("resolve.sh", "/app/solve.sh", False),
        ("main.pyc", "/app/main.py", False),
        ("main.py.bak", "/app/main.py", False),
        ("from solution import f", "/app/solution.py", True),
        ("import os, solution", "/app/solution.py", True),
        ("from pkg import core", "/app/pkg/core.py", True),
        ("import pkg.core as c", "/app/pkg/core.py", True),
        ("python3 -m pkg.core", "/app/pkg/core.py", True),
        ("import_module('solution')", "/app/solution.py", True),
        ("import solutions", "/app/solution.py", False),
        ("# the solution of", "/app/solution.py", False),
        ("import pkg", "/app/pkg/__init__.py", True),
        ("__init__.py", "/app/pkg/__init__.py", False),
    ],
)
def test_a_program_is_mentioned_by_path_name_or_module(
    text: str, path: str, *, mentioned: bool
) -> None:
    """Words of a sentence are no names of programs."""
    assert mentions(text, path) is mentioned


def test_programs_that_the_tests_mention_go_before_those_that_the_oracle_wrote(
    tmp_path: Path,
) -> None:
    """An agent may replace any; those that were there count if the tests mention them."""
    before = {"app/old.sh": b"echo 1\n", "app/data.csv": b"1\n"}
    more = {"app/new.py": b"print(1)\n", "app/link.sh": b"->new.py", "app/d": b""}
    oracle = files_of(archive(tmp_path / "a", before | more))
    nothing = files_of(archive(tmp_path / "b", before))

    def paths(text: str) -> list[str]:
        return [file.path for file in programs_under_test(oracle, nothing, {"t": text})]

    assert paths("make test") == ["/app/new.py"]
    assert paths("sh /app/old.sh; cat /app/data.csv") == ["/app/old.sh"]
    assert paths("sh old.sh; python3 new.py") == ["/app/old.sh", "/app/new.py"]


def test_only_the_named_files_of_an_archive_are_replaced(tmp_path: Path) -> None:
    """Links, folders and names that are no UTF-8 stay as they are."""
    name = "app/" + b"\xff\xc3".decode(errors="surrogateescape")
    files = {
        "app": b"",
        "app/x.sh": b"one",
        name: b"two",
        "app/l": b"->x.sh",
        "app/" + "n" * 150: b"3",
    }
    source = archive(tmp_path / "a", files)
    size = write_replaced(source, tmp_path / "b", {"/app/x.sh": lambda old: old + b" more"})
    with tarfile.open(tmp_path / "b", errors="surrogateescape") as opened:
        entries = {entry.name: entry for entry in opened}
        assert list(entries) == list(files)
        content = opened.extractfile("app/x.sh")
        assert content is not None
        assert content.read() == b"one more"
        assert entries["app/x.sh"].mode & 0o111 == 0o111
        assert entries["app/l"].linkname == "x.sh"
    assert size == len(b"one more" + b"two" + b"3")


def test_traces_are_read_whatever_else_is_in_the_logs(tmp_path: Path) -> None:
    """A program may write anything there."""
    name = "logs/agon-probe-"
    files = {"logs": b"", f"{name}1": b"user 0\n", f"{name}x": b"?", f"{name}2": b"->/etc"}
    logs = archive(tmp_path / "a", files)
    assert traces_in(logs, "agon-probe-") == {1: "user 0\n"}
    assert traces_in(None, "agon-probe-") == {}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("run(x, timeout=10)", 13),
        ("TIMEOUT = 2.5\n", 5),
        ("{ timeout: 8000 }", 11),
        ("timeout 5 sh x; timeout -k 2 7 sh y", 10),
        ("timeout --kill-after=1 1m sh x", 63),
        ('["timeout", "4", "sh"]', 7),
        ("no limit", 0),
    ],
)
def test_the_longest_time_out_of_the_tests_counts(text: str, seconds: int) -> None:
    """In seconds; JavaScript states milliseconds."""
    assert clues_in({"a": "timeout=1", "b": text} if seconds else {"b": text}).seconds == seconds


def test_names_of_rewards_are_clues_to_their_temporary_names() -> None:
    """The reward's own names are not among them."""
    text = "mv /logs/verifier/.reward.partial /logs/verifier/reward.txt; open('reward.json~')"
    clues = clues_in({"t": text})
    assert clues.temporary == (".reward.partial", "reward.json~")
    assert clues.rewards == ("reward.txt",)
    assert clues_in({"t": "exit 0"}).rewards == ("reward.txt", "reward.json")


@pytest.mark.parametrize(
    ("file", "text", "shell"),
    [
        ("tests/test.sh", "#!/bin/sh -e\n", True),
        ("tests/test.sh", "#!/usr/bin/env -S bash -e\n", True),
        ("tests/test.sh", "#!/usr/bin/fish\n", False),
        ("tests/test.sh", "#! /usr/bin/python3\n", False),
        ("tests/t.bats", "@test", True),
        ("tests/judge.pl", "use strict;", False),
    ],
)
def test_the_first_line_says_whether_a_file_is_for_a_shell(
    file: str, text: str, *, shell: bool
) -> None:
    """Without one the ending does."""
    assert is_shell(file, text) is shell
