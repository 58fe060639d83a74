"""Commands that only read a database import neither the scoring engine nor the server."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agon.cli.run import run

_REPORT = """
import atexit, json, os, sys
from agon.cli.run import main

def report():
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)

class Cycle:
    def __init__(self):
        self.own = self

    def __del__(self, write=os.write):
        write(2, b"collected")

held = Cycle()
atexit.register(report)
main()
"""

HEAVY = (
    "alembic", "argon2", "duckdb", "fastapi", "httpx2", "ibis", "limits", "numba", "pandas",
    "scipy", "sympy", "uvicorn", "agon.app.analysis.score", "agon.app.contests.boards.publish",
)  # fmt: skip
"""Modules whose import takes longer than reading a board."""

ARROW = ("numpy", "pyarrow", "agon.records.tables", "agon.kernel.boards")
"""Modules of tables, which stored pages do without, too."""

DISCIPLINES = ("agon.disciplines.definition",)
"""Modules that a list of contests does without, too."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a database with a contest that has a published board."""
    url = f"sqlite:///{tmp_path_factory.mktemp('imports') / 'agon.db'}"
    tutorial = Path(__file__).parents[2] / "examples" / "tutorial"
    created = ("create", "spring", "--discipline", "community")
    for arguments in (created, ("add", "spring", str(tutorial))):
        assert run(["contest", *arguments, "--database", url]) == 0, arguments
    return url


def modules(*arguments: str) -> set[str]:
    """Run a command, which looks for no garbage at its end; return the modules it imported."""
    process = subprocess.run(
        [sys.executable, "-c", _REPORT, *arguments], capture_output=True, text=True, check=True
    )
    return set(json.loads(process.stderr.splitlines()[-1]))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("command", "unwanted"),
    [
        (("contest", "list"), HEAVY + ARROW + DISCIPLINES),
        (("contest", "show", "spring"), HEAVY + ARROW + DISCIPLINES),
        (("contest", "board", "spring"), HEAVY + ARROW),
        (("token", "list"), HEAVY + ARROW + DISCIPLINES),
    ],
    ids=lambda value: " ".join(value) if len(value) < 5 else None,
)
def test_reading_commands_import_no_heavy_modules(
    database: str, command: tuple[str, ...], unwanted: tuple[str, ...]
) -> None:
    """Imports are most of what such a command takes: one heavy module doubles it.

    Looking for cyclic garbage at the end would take a quarter of its time.
    """
    assert modules(*command, "--database", database) & set(unwanted) == set()
