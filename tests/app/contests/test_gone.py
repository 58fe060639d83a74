"""Test that rows that refer to voided rows do not count, for each reference of a discipline."""

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any

import pytest

from agon.app.analysis.score import Result, score
from agon.app.replay.replica import ContestReplica
from agon.disciplines import BUILT_IN, discipline
from agon.editions import default_edition, editions
from agon.errors import AgonError
from agon.ledger.entry import Draft, encode_entry, genesis
from agon.records import read_rows
from agon.records.checks.dependencies import dependencies_of
from agon.records.raw import MemoryEngine
from app.contests.histories import AT
from records.naive import without_dangling

SIZES = {"community": 10, "challenge": 300, "dojo": 90, "arena": 60}
REFERRED = sorted(
    {
        (of, dependency.other_table)
        for of in BUILT_IN
        for _, dependencies in dependencies_of(discipline(of).schema)
        for dependency in dependencies
    }
)
"""The tables of each discipline that rows refer to."""


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    """Start one engine for all contests."""
    engine = MemoryEngine()
    yield engine
    engine.close()


@cache
def _rows(of: str) -> list[tuple[str, dict[str, Any]]]:
    """Simulate records in which every table that is referred to has rows."""
    simulated = discipline(of).simulate(size=SIZES[of], seed=3, attacks=[]).tables
    tables = {name: [_plain(row) for row in table.to_pylist()] for name, table in simulated.items()}
    if of == "challenge":
        tables["competitions"] = [{"id": name, "emission_share": 0.5} for name in ("main", "b")]
        for row in tables["submissions"][::3]:
            row["competition"] = "b"
    if of == "community":
        tables["provider_models"] = [
            {"id": f"m{number}", "model": f"m-{number}"} for number in range(9)
        ]
        for number, row in enumerate(tables["responses"]):
            row["model_id"] = f"m{number % 9}"
    return [(name, row) for name, rows in tables.items() for row in rows]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
        if value is not None
    }


def _lines(of: str, voided: list[int]) -> list[tuple[int, bytes]]:
    """Write a ledger of all the rows, from entry 2 on, of which some are voided in the end."""
    lines, head = _records(of)
    body = {"seqs": voided, "subjects": [], "change": None, "reason": "r"}
    return [*lines, _entry("records-voided", body, seq=len(lines) + 1, previous=head)[0]]


@cache
def _records(of: str) -> tuple[list[tuple[int, bytes]], bytes]:
    """Write a ledger of all the rows, from entry 2 on; return it with its head."""
    created: dict[str, Any] = {
        "contest": "c",
        "discipline": of,
        "title": "C",
        "edition": default_edition(of),
        "overrides": {},
        "series": None,
        "season": None,
        "visibility": "public",
        "description": "",
        "boards": [discipline(of).boards[0]],
    }
    bodies = [("contest-created", created)]
    bodies += [("record-added", {"table": table, "row": row}) for table, row in _rows(of)]
    lines, head = [], genesis("c")
    for seq, (kind, body) in enumerate(bodies, start=1):
        line, head = _entry(kind, body, seq=seq, previous=head)
        lines.append(line)
    return lines, head


def _entry(
    kind: str, body: dict[str, Any], *, seq: int, previous: bytes
) -> tuple[tuple[int, bytes], bytes]:
    entry = encode_entry(
        Draft(kind=kind, body=body, at=AT, by="user:a"), seq=seq, previous=previous
    )
    return (seq, entry.line), entry.sha256


def _boards(result: Result) -> dict[str, str]:
    """Return the hash of every board, or why there is none."""
    hashes = {}
    names = [name for name in result.discipline.boards if "<" not in name]
    if result.discipline.name == "dojo":
        problems = result.records.sql("SELECT id::VARCHAR AS id FROM problems ORDER BY ALL")
        names += [f"problem:{name}" for name in problems["id"].to_pylist()]
    for name in names:
        try:
            hashes[name] = result.board(name).sha256
        except AgonError as error:
            hashes[name] = str(error)
    return hashes


@pytest.mark.exhaustive
@pytest.mark.parametrize(("of", "table"), REFERRED)
def test_what_refers_to_voided_rows_does_not_count(
    of: str, table: str, engine: MemoryEngine
) -> None:
    """Each board is that of the records without the voided rows and the rows that need them."""
    positions = [seq for seq, (name, _) in enumerate(_rows(of), start=2) if name == table]
    voided = positions[1 : 1 + max(1, len(positions) // 4)]
    live = ContestReplica("c", engine=engine)
    live.catch_up(_lines(of, voided))
    remaining: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for seq, (name, row) in enumerate(_rows(of), start=2):
        if seq not in voided:
            remaining.setdefault(name, []).append((seq, row))
    schema = discipline(of).schema
    expected_rows = without_dangling(schema, remaining)
    assert sum(map(len, expected_rows.values())) < len(_rows(of)) - len(voided)
    records = live.records()
    for name, rows in expected_rows.items():
        assert records.arrow(name, ["_row"])["_row"].to_pylist() == [seq for seq, _ in rows]
    alone = read_rows(
        schema, {name: [row for _, row in rows] for name, rows in expected_rows.items()}
    )
    expected = score(of, alone)
    assert _boards(live.result()) == _boards(expected)
    assert live.result().fingerprint == expected.fingerprint
    alone.close()
    live.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize(("of", "table"), REFERRED)
def test_a_table_voided_completely_is_scored_or_rejected(
    of: str, table: str, engine: MemoryEngine
) -> None:
    """Under each edition: an unexpected error would stop the contest's worker permanently."""
    positions = [seq for seq, (name, _) in enumerate(_rows(of), start=2) if name == table]
    live = ContestReplica("c", engine=engine)
    live.catch_up(_lines(of, positions))
    for edition in editions(of):
        try:
            outcomes = list(_boards(score(of, live.records(), edition=edition)).values())
        except AgonError as error:
            outcomes = [str(error)]
        assert outcomes, edition
        assert all(outcomes), edition
    live.close()
