"""What a task's texts say about its outputs."""

from pathlib import Path

import pytest

from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.outputs import folders_in, named_files, named_folders
from app.tasks.folders import harbor, write


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("Write /data/out.csv.", ["/data"]),
        ("mkdir -p /results && cd /results", ["/results", "/results"]),
        ("Path(\"/output\").exists() or open('/srv/a b')", ["/output", "/srv"]),
        ("see /var/spool/mail, /var and /tmp", ["/var/spool"]),
        ("http://host/path s/a/b/ ../x ./y ~/z $HOME/w a/b", []),
        ("All is in /workspace.", ["/workspace"]),
    ],
)
def test_folders_are_read_from_absolute_paths(text: str, folders: list[str]) -> None:
    """Addresses, relative paths and patterns of editors are none."""
    assert folders_in(text) == folders


def test_folders_of_instruction_solution_and_tests_count(tmp_path: Path) -> None:
    """Tests look for what an agent is asked for; binary files are read as far as they are text."""
    folder = harbor(
        tmp_path / "t", instruction="Fill /data.\n", solve="#!/bin/sh\ntouch /made/x\n",
        test="#!/bin/sh\npython3 /tests/check.py\n",
    )  # fmt: skip
    write(folder, {"tests/check.py": 'open("/checked/y")\n'})
    (folder / "tests" / "data.bin").write_bytes(bytes(range(256)))
    assert {"/data", "/made", "/checked"} <= set(named_folders(read_task(folder)))


def test_only_the_instruction_names_files_in_temporary_folders() -> None:
    """All other files there belong to the tests themselves."""
    text = "Put the report into `/tmp/report.txt` and /var/tmp/work/a.csv; /tmp is free for you."
    assert named_files(text) == ("/tmp/report.txt", "/var/tmp/work")  # noqa: S108  # the container's
