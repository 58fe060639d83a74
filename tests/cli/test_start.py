"""Commands that read a database start without the libraries they do not need."""

import os
import subprocess
import sys
from pathlib import Path

from agon.app.contests.lifecycle.creation import NewContest, create
from fakes.service import ORGANISER, service_at

UNUSED = (
    "alembic", "argon2", "duckdb", "fastapi", "httpx2", "limits", "numba", "numpy", "pyarrow",
    "pygments", "scipy", "sympy",
)  # fmt: skip


def test_listing_contests_loads_neither_arrays_nor_migrations(tmp_path: Path) -> None:
    """A listing is two queries; these libraries would take more time than it."""
    service = service_at(tmp_path)
    create(service, NewContest(id="spring", discipline="arena", title="Spring"), by=ORGANISER)
    service.store.close()
    code = f"""
import sys
from agon.cli.run import run
run(["contest", "list", "--database", "sqlite:///{tmp_path}/agon.db"])
print(*(name for name in {UNUSED!r} if name in sys.modules), file=sys.stderr)
"""
    listing = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Spring" in listing.stdout
    assert listing.stderr.split() == []
