"""Write packages of problems and submissions like users."""

import json
from pathlib import Path
from typing import Any

SQUARES = "def seq(n):\n    return n * n\n"
RIGHT = "def solver():\n    return [n * n for n in range(1, {n} + 1)]\n"


def pack_problem(folder: Path, *, setter: str = SQUARES, **declared: Any) -> Path:
    """Write a setter's package of 20 terms, from a_1 on."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "setter.py").write_text(setter)
    package = {"title": "Squares", "N_check": 20, "first_index": 1} | declared
    (folder / "problem.json").write_text(json.dumps(package))
    return folder


def pack_solver(
    folder: Path,
    user: str,
    source: str | bytes | None = None,
    *,
    name: str = "1",
    created_at: str | None = "2026-01-01T00:00:00Z",
    **solution: Any,
) -> Path:
    """Write a solver's package; the default source is right for 20 terms."""
    place = folder / user / name
    place.mkdir(parents=True)
    content = RIGHT.format(n=20) if source is None else source
    (place / "solver.py").write_bytes(content.encode() if isinstance(content, str) else content)
    if created_at is not None:
        (place / "submission.json").write_text(json.dumps({"created_at": created_at}))
    if solution:
        (place / "solution.json").write_text(json.dumps(solution))
    return place


def rows(season: Path, table: str = "submissions") -> list[dict[str, Any]]:
    """Return the rows of a season's table."""
    return [json.loads(line) for line in (season / f"{table}.ndjson").read_text().splitlines()]


def entries(season: Path) -> list[dict[str, Any]]:
    """Return the entries of a season's ledger, without an incomplete last line."""
    return [json.loads(line) for line in ledger_of(season).read_bytes().split(b"\n")[:-1]]


def recorded(season: Path) -> list[str]:
    """Return the ids of the verdicts in a season's ledger, in order."""
    bodies = [entry["body"] for entry in entries(season) if entry["kind"].startswith("record-")]
    return [body["row"]["id"] for body in bodies if body["table"] == "submissions"]


def ledger_of(season: Path) -> Path:
    """Return a season's ledger file."""
    return season / "ledger" / "ledger.ndjson"
