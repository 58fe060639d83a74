"""The how-to shows the example as it is, and its commands run."""

import re
import shlex
from pathlib import Path

import pytest

from cli.command import Cli
from plugins.installed import EXAMPLE, MINIMAL, ROOT

PAGE = (ROOT / "docs" / "howto" / "add-a-discipline.md").read_text(encoding="utf-8")
SHOWN = dict(
    re.findall(r"^`([\w/.-]+)`\n\n```(?:python|toml)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
)
"""The files the page shows, by their path in the example."""


FILES = {
    str(path.relative_to(example)): path
    for example in (EXAMPLE, MINIMAL)
    for path in example.rglob("*")
    if path.suffix in {".py", ".toml"} and path.name != "lock.toml"
}
"""The files of both examples; a command writes the locks."""


def test_the_page_shows_every_file_of_the_examples() -> None:
    """A reader can build them from the page alone."""
    assert SHOWN.keys() == FILES.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_a_file_is_shown_as_it_is(name: str) -> None:
    """Code that is copied from the page is code that was tested."""
    assert FILES[name].read_text(encoding="utf-8") == SHOWN[name]


@pytest.mark.exhaustive
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
    assert len(commands) == 15
