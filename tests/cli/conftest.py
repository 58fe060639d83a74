"""Provide the tests of the command line with a runner, a small arena, and targets."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from agon.cli.run import run
from cli.command import Cli, arena_folder
from cli.targets import Server, Target
from sizes import ALL

_NUMBERS = count(1)
_ON_SERVER = 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run one test of targets on the server, the others here; with TEST_ALL_SIZES all on both.

    Both are clients of one interface, which the tests of clients compare operation by operation.
    """
    if ALL:
        return
    on_server = [item for item in items if _target(item) == "server"]
    chosen = on_server[:: max(1, len(on_server) // _ON_SERVER)]
    further = {*on_server}.difference(chosen)
    config.hook.pytest_deselected(items=[*further])
    items[:] = [item for item in items if item not in further]


def _target(item: pytest.Item) -> object:
    return getattr(getattr(item, "callspec", None), "params", {}).get("target")


@pytest.fixture
def agon(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run commands in this process."""
    return Cli(capsys)


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Return a small arena as CSV."""
    return arena_folder(tmp_path / "arena")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a real server with a worker; its first token is the operator's."""
    folder = tmp_path_factory.mktemp("server")
    command = [sys.executable, "-m", "agon", "serve", "--port", "0", "--workers", "1"]
    settings = {
        "AGON_RATE_LIMIT_TOKEN": "100000/minute",
        "AGON_LOG_LEVEL": "error",
        "AGON_ALLOW_PRIVATE_BOTS": "true",
    }
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ, **settings}
    ) as serving:
        try:
            stderr: Any = serving.stderr
            url = next(line for line in stderr if " serves at " in line).split()[3]
            token = next(line for line in stderr if "agon_" in line).split("agon_")[1]
            (folder / "token").write_text(f"agon_{token}")
            # Further output must not fill the pipe.
            Thread(target=lambda: [None for _ in stderr], daemon=True).start()
            yield Server(url, folder / "token")
        finally:
            serving.terminate()
            serving.wait(timeout=60)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a database with an open contest of three bots and four matches."""
    folder = tmp_path_factory.mktemp("filled")
    database = ("--database", f"sqlite:///{folder}/agon.db")
    records = arena_folder(tmp_path_factory.mktemp("records"))
    for words in (
        ("create", "spring", "--discipline", "arena", "--title", "Spring"),
        ("add", "spring", str(records)),
        ("board", "spring"),
    ):
        assert run(["contest", *words, *database]) == 0
    return folder


@pytest.fixture(params=["here", "server"])
def target(request: pytest.FixtureRequest, agon: Cli, tmp_path: Path) -> Target:
    """Return a target with an open contest of three bots and four matches."""
    records = arena_folder(tmp_path / "arena")
    if request.param == "here":
        # A copy: filling a database takes longer than most commands.
        shutil.copytree(request.getfixturevalue("filled"), tmp_path, dirs_exist_ok=True)
        database = f"sqlite:///{tmp_path}/agon.db"
        return Target(agon, ("--database", database), "spring", far=False, folder=tmp_path)
    server_: Server = request.getfixturevalue("server")
    options = ("--server", server_.url, "--token-file", server_.token_file)
    at = Target(agon, options, f"spring-{next(_NUMBERS)}", far=True, folder=tmp_path)
    at.good("contest", "create", at.contest, "--discipline", "arena", "--title", "Spring")
    ended = at.good("contest", "add", at.contest, records)
    assert "10 added" in ended.out
    at.scored()
    return at
