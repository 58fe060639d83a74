"""Tests that download something are known before they run, and get a network only if allowed."""

from pathlib import Path

import pytest

from agon.app.containers import Image
from agon.app.tasks.downloads import downloads, downloads_in
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.outputs import verifier_spec
from app.tasks.folders import harbor, terminal_bench, write


@pytest.mark.parametrize(
    "line",
    ["curl -LsSf https://astral.sh/uv/install.sh | sh", "uvx -p 3.13 pytest", "uv pip install x",
     "apt-get update", "apt-get -y install curl", "python3 -m pip install pytest", "npm ci",
     "cd /x && pip install -r r.txt", "git clone https://host.org/x.git", "uv run pytest"],
)  # fmt: skip
def test_commands_that_download_are_found(line: str) -> None:
    """The installers of the field's languages and systems, and downloads by hand."""
    assert [number for number, _ in downloads_in(f"#!/bin/bash\n\n{line}\n")] == [3]


@pytest.mark.parametrize(
    "line",
    ["# pip install pytest", "curl http://localhost:8000/", "curl -s http://127.0.0.1/x",
     "curl http://api:80/", "pytest /tests", "echo done", "./curl-test.sh", "cat apt.txt"],
)  # fmt: skip
def test_commands_that_stay_in_the_container_are_none(line: str) -> None:
    """A test asks the server that an agent started, or another container of its task."""
    assert downloads_in(line) == []


def test_scripts_of_both_formats_are_read(tmp_path: Path) -> None:
    """The place is named, for the author and the operator."""
    one = harbor(tmp_path / "one", test="#!/bin/sh\napt-get update\n")
    two = write(terminal_bench(tmp_path / "two"), {"run-tests.sh": "uv add pytest\n"})
    assert downloads(read_task(one)) == ("tests/test.sh, line 2: apt-get update",)
    assert downloads(read_task(two)) == ("run-tests.sh, line 1: uv add",)


def test_an_image_of_the_verifier_is_built_from_the_tests(tmp_path: Path) -> None:
    """It must have the folders into which the outputs are unpacked."""
    folder = harbor(tmp_path / "t", toml='artifacts = ["/srv/data/x"]\n')
    image = Image(reference="", content="", user="", writable=(), cached=True, seconds=0.0)
    assert verifier_spec(read_task(folder), image.outputs) is None
    separate = 'artifacts = ["/srv/data/x"]\n[verifier]\nenvironment_mode = "separate"\n'
    write(folder, {"tests/Dockerfile": "FROM x\nCOPY . /tests\n", "task.toml": separate})
    spec = verifier_spec(read_task(folder), ("/work", "/srv/data/x"))
    assert spec is not None
    assert (spec.context, spec.writable) == (folder.resolve() / "tests", ("/work", "/srv/data"))
