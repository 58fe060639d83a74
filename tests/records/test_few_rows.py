"""Few rows are read in the engine that a process shares, and stored as typed tables there."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import agon
from agon.disciplines import discipline
from agon.records import raw, reading
from agon.records.look_alikes import value_findings
from records.recorder import Recorder

TUTORIAL = Path(__file__).parents[2] / "examples" / "tutorial"

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


@pytest.mark.parametrize("source", ["folder", "rows"])
def test_few_rows_are_read_by_few_statements(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planning one takes longer than reading a few rows, so one asks of all tables at once."""
    recorders: list[Recorder] = []
    attach = raw._attach

    def recorded(*arguments: Any) -> Recorder:
        recorders.append(Recorder(attach(*arguments)))
        return recorders[-1]

    monkeypatch.setattr(raw, "_attach", recorded)
    files = len([*TUTORIAL.glob("*.csv")]) if source == "folder" else 0
    records = agon.read_records("community", TUTORIAL if files else {"users": [{"id": 1}]})
    verbs = Counter(sql.split()[0] for recorder in recorders for sql in recorder.statements)
    # What does not look exact, whether ids are integers, and what is wrong.
    assert verbs["SELECT"] <= 3
    typed = len(discipline("community").schema.tables)
    assert verbs["CREATE"] <= files + typed + 1
    assert verbs["DROP"] <= files + 1
    assert verbs.keys() <= {"SELECT", "CREATE", "DROP", "SET", "PRAGMA"}
    setting = "SELECT current_setting('enable_optimizer')"
    assert recorders[-1].execute(setting).fetchall() == [(True,)]  # for the facts' queries
    before = sum(len(recorder.statements) for recorder in recorders)
    assert records.sha256
    # Which values there are, and whether ids are integers; the rows are not read by execute().
    assert sum(len(recorder.statements) for recorder in recorders) <= before + 3
    before = len(recorders[-1].statements)
    assert value_findings(records) == []
    assert len(recorders[-1].statements) == before + 1
    records.close()


def _kinds(records: Any) -> set[str]:
    """Return the kinds of the typed tables that records have."""
    connection = records._connection
    found = connection.execute(
        "SELECT table_name, table_type FROM information_schema.tables "
        "WHERE table_schema = 'typed' AND table_catalog = current_database()"
    ).fetchall()
    return {kind for table, kind in found if records.has(table)}
