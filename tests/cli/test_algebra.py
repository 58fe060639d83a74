"""Processes that share a machine solve equations in one thread."""

import os
from pathlib import Path

import pytest

from agon.cli.shared.algebra import VARIABLE, use_one_thread
from cli.command import Cli


def test_a_worker_solves_equations_in_one_thread_unless_its_operator_chose_a_number(
    agon: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ratings of 200 bots took five seconds instead of milliseconds on a busy machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    assert agon("worker", "--kinds", "nothing").code == 2
    assert os.environ[VARIABLE] == "1"
    monkeypatch.setenv(VARIABLE, "3")
    use_one_thread(os.environ)
    assert os.environ[VARIABLE] == "3"
