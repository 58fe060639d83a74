"""A failed start must not affect a later one."""

import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path


def test_a_port_in_use_does_not_consume_the_first_token(tmp_path: Path) -> None:
    """The first token is shown once, by the first successful start."""
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
