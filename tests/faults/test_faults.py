"""kill -9 at any moment: nothing is lost, stuck or counted twice.

``PYTHONPATH=tests python -m faults.run --faults 1000`` is the same for longer.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from conftest import Postgresql

_TESTS = Path(__file__).parents[1]
_FAULTS = 40


def storm(*options: str) -> dict[str, Any]:
    """Run a storm in a process of its own: one that forks must have no threads of other tests."""
    done = subprocess.run(
        [sys.executable, "-m", "faults.run", "--faults", str(_FAULTS), *options],
        env={**os.environ, "PYTHONPATH": str(_TESTS)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["faults"] == _FAULTS
    assert found["ended by themselves"] == {}, done.stderr[-3000:]
    return found


def test_an_instance_on_sqlite_survives_kills_at_random_moments() -> None:
    """The promise of the issue: no process is needed for what was accepted.

    Workers and writers are killed or stopped for longer than a lease; the ledger is whole,
    every request is there once, every submission has one verdict, boards equal a replay.
    """
    found = storm("--seed", "7")
    assert found["requests answered"] > 0
    assert found["verdicts"] > 0


def test_an_instance_on_postgresql_survives_kills_at_random_moments(postgresql: Postgresql) -> None:
    """The same promises where many writers work at the same time."""
    found = storm("--seed", "8", "--database", postgresql.address(postgresql.emptied()))
    assert found["requests answered"] > 0
    assert found["verdicts"] > 0
