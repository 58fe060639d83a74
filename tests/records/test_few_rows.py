"""Few rows are read in the engine that a process shares, and stored as typed tables there."""

from typing import Any

import pytest

import agon
from agon.records import reading

SIZES = {"community": 20, "arena": 12, "dojo": 12, "challenge": 200}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_few_rows_score_as_they_do_in_an_engine_of_their_own(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored values and views of casts say the same: boards and records have the same hashes."""
    tables = agon.simulate(name, size=size, seed=5).tables
    rows = {table: values.to_pylist() for table, values in tables.items()}
    few = agon.score(name, rows)
    shared_fingerprint, kinds = few.fingerprint, _kinds(few.records)
    monkeypatch.setattr(reading, "_MAX_SHARED_ROWS", -1)
    many = agon.score(name, rows)
    assert many.fingerprint == shared_fingerprint
    assert kinds == {"BASE TABLE"}
    assert "VIEW" in _kinds(many.records)


def _kinds(records: Any) -> set[str]:
    """Return the kinds of the typed tables that records have."""
    connection = records._connection
    found = connection.execute(
        "SELECT table_name, table_type FROM information_schema.tables "
        "WHERE table_schema = 'typed' AND table_catalog = current_database()"
    ).fetchall()
    return {kind for table, kind in found if records.has(table)}
