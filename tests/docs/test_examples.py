"""The examples in the README and the tutorial run unchanged."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from agon.cli.run import run
from fakes.demo import Demo

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md"]


def blocks(page: Path, language: str) -> Iterator[str]:
    """Yield the fenced blocks of one language; a comment names the test of one that is not run."""
    fenced = rf"^(<!-- not run: [^\n]*-->\n)?```{language}\n(.*?)^```"
    for not_run, block in re.findall(fenced, page.read_text(), re.DOTALL | re.MULTILINE):
        if not not_run:
            yield block


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory, demo: Demo) -> Path:
    """Create a folder with the tutorial's tables and a demo, as readers have it."""
    folder = tmp_path_factory.mktemp("reader")
    for name in ("examples", "src"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "demo").symlink_to(demo.folder)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_a_page_runs(
    page: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Readers copy it first; each block runs without the names of those before it."""
    monkeypatch.chdir(workplace)
    code = list(blocks(page, "python"))
    assert code
    for block in code:
        exec(compile(block, str(page), "exec"), {"__name__": "__main__"})  # noqa: S102 - our page
        assert capsys.readouterr().out.strip()


@pytest.mark.sample(1)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_run(
    page: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every line that starts with agon is run, with a real id instead of ID."""
    monkeypatch.chdir(workplace)
    lines = [line.partition("#")[0].strip() for block in blocks(page, "sh")
             for line in block.splitlines() if line.startswith("agon ")]  # fmt: skip
    assert lines
    for line in lines:
        words = ["1" if word == "ID" else word for word in shlex.split(line)]
        if words == ["agon", "serve"]:
            it_serves(workplace)
        else:
            assert run(words[1:]) == 0, f"{line}\n{capsys.readouterr().err}"


def it_serves(folder: Path) -> None:
    """Start the service as documented, on a free port; check its start and graceful shutdown."""
    command = [sys.executable, "-m", "agon", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as serving:
        assert serving.stderr is not None
        try:
            line = serving.stderr.readline()
            assert line.startswith("agon serves at http://127.0.0.1:")
            with urlopen(f"{line.split()[3]}/api/v1/contests", timeout=60) as response:  # noqa: S310 (our own address)
                assert response.status == 200
        finally:
            serving.terminate()
            serving.communicate(timeout=60)
    assert serving.returncode == 0
