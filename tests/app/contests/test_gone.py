"""Check that nothing a void leaves behind counts, for every reference of every discipline."""

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any

import pytest

from agon.app.analysis.score import Result, score
from agon.app.replay.replica import ContestReplica
from agon.disciplines import BUILT_IN, discipline
from agon.editions import default_edition
from agon.errors import AgonError
from agon.ledger.entry import Draft, encode_entry, genesis
from agon.records import read_rows
from agon.records.dependencies import dependencies_of
from agon.records.raw import Engine
from app.contests.histories import AT
from records.naive import without_dangling

SIZES = {"community": 10, "challenge": 300, "dojo": 90, "arena": 60}
REFERRED = sorted(
    {
        (of, one.other_table)
        for of in BUILT_IN
        for _, dependencies in dependencies_of(discipline(of).schema)
        for one in dependencies
    }
)
"""Every table of every discipline that some row refers to."""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """Start one engine for all contests."""
    engine = Engine()
    yield engine
    engine.close()


@cache
def _rows(of: str) -> list[tuple[str, dict[str, Any]]]:
    """Simulate records in which every table that is referred to has rows."""
    made = discipline(of).simulate(size=SIZES[of], seed=3, attacks=[]).tables
    tables = {name: [_plain(row) for row in table.to_pylist()] for name, table in made.items()}
    if of == "challenge":
        tables["competitions"] = [{"id": name, "emission_share": 0.5} for name in ("main", "b")]
        for row in tables["submissions"][::3]:
            row["competition"] = "b"
    if of == "community":
        tables["provider_models"] = [{"id": f"m{one}", "model": f"m-{one}"} for one in range(9)]
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
    body = {"seqs": voided, "subjects": [], "change": None, "reason": "r"}
    bodies.append(("records-voided", body))
    lines, head = [], genesis("c")
    for seq, (kind, body) in enumerate(bodies, start=1):
        entry = encode_entry(
            Draft(kind=kind, body=body, at=AT, by="user:a"), seq=seq, previous=head
        )
        lines.append((seq, entry.line))
        head = entry.sha256
    return lines


def _boards(result: Result) -> dict[str, str]:
    """Return the hash of every board, or why there is none."""
    found = {}
    names = [name for name in result.discipline.boards if "<" not in name]
    if result.discipline.name == "dojo":
        problems = result.records.sql("SELECT id::VARCHAR AS id FROM problems ORDER BY ALL")
        names += [f"problem:{name}" for name in problems["id"].to_pylist()]
    for name in names:
        try:
            found[name] = result.board(name).sha256
        except AgonError as error:
            found[name] = str(error)
    return found


@pytest.mark.parametrize(("of", "table"), REFERRED)
def test_what_refers_to_voided_rows_does_not_count(of: str, table: str, engine: Engine) -> None:
    """Every board is that of the records without the voided rows and all that needs them."""
    places = [seq for seq, (name, _) in enumerate(_rows(of), start=2) if name == table]
    voided = places[1 : 1 + max(1, len(places) // 4)]
    live = ContestReplica("c", engine=engine)
    live.catch_up(_lines(of, voided))
    left: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for seq, (name, row) in enumerate(_rows(of), start=2):
        if seq not in voided:
            left.setdefault(name, []).append((seq, row))
    schema = discipline(of).schema
    kept = without_dangling(schema, left)
    assert sum(map(len, kept.values())) < len(_rows(of)) - len(voided)
    shown = live.records()
    for name in kept:
        assert shown.arrow(name, ["_row"])["_row"].to_pylist() == [seq for seq, _ in kept[name]]
    alone = read_rows(schema, {name: [row for _, row in rows] for name, rows in kept.items()})
    expected = score(of, alone)
    assert _boards(live.result()) == _boards(expected)
    assert live.result().fingerprint == expected.fingerprint
    alone.close()
    live.close()


@pytest.mark.parametrize(("of", "table"), REFERRED)
def test_a_table_voided_as_a_whole_is_scored_or_refused(
    of: str, table: str, engine: Engine
) -> None:
    """An error of ours would stop the contest's worker for good."""
    places = [seq for seq, (name, _) in enumerate(_rows(of), start=2) if name == table]
    live = ContestReplica("c", engine=engine)
    live.catch_up(_lines(of, places))
    try:
        told = list(_boards(live.result()).values())
    except AgonError as error:
        told = [str(error)]
    assert told
    assert all(told)
    live.close()
