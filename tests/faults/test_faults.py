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
    process = subprocess.run(
        [sys.executable, "-m", "faults.run", "--faults", str(_FAULTS), *options],
        env={**os.environ, "PYTHONPATH": str(_TESTS)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    report: dict[str, Any] = json.loads(process.stdout)
    assert report["faults"] == _FAULTS
    assert report["ended by themselves"] == {}, process.stderr[-3000:]
    return report


def test_an_instance_on_sqlite_survives_kills_at_random_moments() -> None:
    """The promise of the issue: no process is needed for what was accepted.

    Workers and writers are killed or stopped for longer than a lease; the ledger is whole,
    every request is there once, every submission has one verdict, boards equal a replay.
    """
    report = storm("--seed", "7")
    assert report["requests answered"] > 0
    assert report["verdicts"] > 0


def test_an_instance_on_postgresql_survives_kills_at_random_moments(postgresql: Postgresql) -> None:
    """The same promises where many writers work at the same time."""
    report = storm("--seed", "8", "--database", postgresql.address(postgresql.emptied()))
    assert report["requests answered"] > 0
    assert report["verdicts"] > 0
