"""A bound that a value must not reach is the same wherever records are checked."""

from pathlib import Path

import pyarrow as pa
import pytest

import agon
from agon.disciplines.arena.records import SCHEMA
from agon.records import InvalidRecords, read_rows
from agon.records.checks.constraints import constraints_of
from agon.records.relational_checks import _violations

WRONG = ("0", "-1", "NaN", "heavy")
REASONS = (
    "is out of range",
    "is out of range",
    "is not a finite number",
    "is not a number",
)


def test_a_weight_of_nothing_is_refused_with_what_would_be_right(tmp_path: Path) -> None:
    """Who wrote a text was told to give a number, and then that 0 is none of the right ones."""
    match = {"played_at": "2026-02-01T00:00:00Z", "bot_a": "x", "bot_b": "y", "kind": "rated"}
    rows = {
        "bots": [{"id": name, "name": name} for name in "xy"],
        "matches": [
            {**match, "id": str(n), "winner": "a", "weight": text}
            for n, text in enumerate((*WRONG, "0.5"))
        ],
    }
    battles = tmp_path / "battles.csv"
    lines = [f"x,y,model_a,{text}" for text in (*WRONG, "0.5")]
    battles.write_text("\n".join(["model_a,model_b,winner,weight", *lines]) + "\n")
    for read in (lambda: read_rows(SCHEMA, rows), lambda: agon.rate(str(battles))):
        with pytest.raises(InvalidRecords) as error:
            read()
        issues = sorted(error.value.issues, key=lambda issue: issue.row or 0)
        assert [issue.value for issue in issues] == list(WRONG)
        assert [issue.reason for issue in issues] == list(REASONS)
        assert {issue.remedy for issue in issues} == {"give a number above 0"}


def test_engines_refuse_the_bound_itself() -> None:
    """They check expressions, not rows."""
    ibis = pytest.importorskip("ibis")
    column = SCHEMA.table("matches").column("weight")
    values = ibis.memtable(pa.table({"weight": [0.0, -1.0, 0.5, None]})).weight
    outside = dict(_violations(values, column))[constraints_of(column).out_of_range]
    assert outside.to_pyarrow().to_pylist() == [True, True, False, None]
