"""Starts that fail: what a later start needs is still there."""

import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path


def test_a_taken_port_costs_no_token(tmp_path: Path) -> None:
    """The first token is shown once; a start that fails must leave it to the next one."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        failed = subprocess.run(
            [sys.executable, "-m", "agon", "serve", "--port", str(taken.getsockname()[1])],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert failed.returncode == 5
    assert "cannot listen" in failed.stderr
    with closing(sqlite3.connect(tmp_path / "agon.db")) as database:
        assert database.execute("SELECT count(*) FROM users").fetchone() == (0,)
