"""The how-to shows the example as it is, and its commands run."""

import re
import shlex
from pathlib import Path

import pytest

from cli.command import Cli
from plugins.installed import EXAMPLE, ROOT

PAGE = (ROOT / "docs" / "howto" / "add-a-discipline.md").read_text(encoding="utf-8")
SHOWN = dict(
    re.findall(r"^`([\w/.-]+)`\n\n```(?:python|toml)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
)
"""The files the page shows, by their path in the example."""


def test_the_page_shows_every_file_of_the_example() -> None:
    """A reader can build it from the page alone; the lock is written by a command."""
    files = {str(path.relative_to(EXAMPLE)) for path in EXAMPLE.rglob("*")
             if path.suffix in {".py", ".toml"} and path.name != "lock.toml"}  # fmt: skip
    assert SHOWN.keys() == files


@pytest.mark.parametrize("name", SHOWN)
def test_a_file_is_shown_as_it_is(name: str) -> None:
    """Code that is copied from the page is code that was tested."""
    assert (EXAMPLE / name).read_text(encoding="utf-8") == SHOWN[name]


def test_the_commands_of_the_page_run(
    quiz: Path, agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other, in an empty folder."""
    assert quiz.is_dir()
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("agon ")]
    ended = [agon(*shlex.split(line)[1:]) for line in commands]
    assert [end.err for end in ended if end.code] == []
    assert len(commands) == 13
