"""Few rows are read in the engine that a process shares, and stored as typed tables there."""

from typing import Any

import pytest

import agon
from agon.records import reading
from agon.records.values.typed import failing_conditions

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


def test_conditions_of_a_table_are_asked_in_one_statement() -> None:
    """Each statement of few rows takes milliseconds to plan, however many columns it reads."""
    statements: list[str] = []

    class Connection:
        """Records statements; of the first row "b" is false, of all rows "c" is."""

        def execute(self, sql: str) -> "Connection":
            statements.append(sql)
            return self

        def fetchall(self) -> list[tuple[bool, ...]]:
            return [(True, False, True)] if len(statements) == 1 else [(True, False)]

    assert failing_conditions(Connection(), "rows", ["a", "b", "c"]) == {"b", "c"}
    assert len(statements) == 2
    assert failing_conditions(Connection(), "rows", []) == set()
    assert len(statements) == 2


def _kinds(records: Any) -> set[str]:
    """Return the kinds of the typed tables that records have."""
    connection = records._connection
    found = connection.execute(
        "SELECT table_name, table_type FROM information_schema.tables "
        "WHERE table_schema = 'typed' AND table_catalog = current_database()"
    ).fetchall()
    return {kind for table, kind in found if records.has(table)}
