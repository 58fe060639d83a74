"""Kill processes at any time: nothing is lost, stuck or counted twice.

``PYTHONPATH=tests python -m faults.run --faults 1000`` is a longer run of the same test.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from postgresql_server import Postgresql
from sizes import ALL, size

_TESTS = Path(__file__).parents[1]
_FAULTS = size(40, at_least=3, dear=True)
_FEWER = () if ALL else ("--workers", "1", "--writers", "1")


def storm(*options: str) -> dict[str, Any]:
    """Run the faults in a separate process: forking needs a process without other threads."""
    process = subprocess.run(
        [sys.executable, "-m", "faults.run", "--faults", str(_FAULTS), *_FEWER, *options],
        env={**os.environ, "PYTHONPATH": str(_TESTS)},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    report: dict[str, Any] = json.loads(process.stdout)
    assert report["faults"] == _FAULTS
    assert report["ended by themselves"] == {}, process.stderr[-3000:]
    return report


@pytest.mark.exhaustive
def test_an_instance_on_sqlite_survives_kills_at_random_times() -> None:
    """Accepted data does not depend on the survival of any process.

    Workers and writers are killed or paused for longer than a lease; the ledger is complete,
    every request is stored once, every submission has one verdict, every round is settled once,
    boards equal a replay.
    """
    report = storm("--seed", "7")
    assert report["requests answered"] > 0
    assert report["verdicts"] > 0
    assert report["rounds"] > 0


def test_an_instance_on_postgresql_survives_kills_at_random_times(postgresql: Postgresql) -> None:
    """The same guarantees hold with concurrent writers."""
    report = storm("--seed", "8", "--database", postgresql.address(postgresql.emptied()))
    assert report["requests answered"] > 0
    assert report["verdicts"] > 0
    assert report["rounds"] > 0
