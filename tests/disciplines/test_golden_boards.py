"""The hash of every board of every edition on bundled, simulated and tutorial records.

A hash that moves is a changed score: it needs a new edition, never a new number here.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agon.disciplines import BUILT_IN, discipline
from agon.disciplines.capabilities import ScoredRecords
from agon.editions import edition, editions
from agon.errors import NotScorable
from agon.records import Records, read, read_rows

GOLDEN = Path(__file__).with_name("golden_boards.json")
TUTORIAL = Path(__file__).parents[2] / "examples" / "tutorial"
SIZES = {"community": 40, "challenge": 1000, "dojo": 200, "arena": 600}
OPT_INS: Mapping[str, Mapping[str, Any]] = {
    "community": dict.fromkeys(
        ("diversity", "consistency", "comments", "review_quality", "impact", "nominations",
         "flags", "tiers", "achievements"),
        True,
    )
    | {"time_decay_half_life_days": 30, "self_feedback": "ignore"},
    "challenge": {"evaluation_window": 3, "min_validators": 2, "exclude_outliers": False},
}  # fmt: skip
"""Rules that differ from the edition in a second scoring."""


@cache
def simulated(name: str) -> Records:
    """Return simulated records with every attack of a discipline."""
    chosen = discipline(name)
    made = chosen.simulate(size=SIZES[name], seed=7, attacks=tuple(chosen.attacks))
    return read_rows(chosen.schema, {name: rows.to_pylist() for name, rows in made.tables.items()})


def sources(name: str, full_name: str) -> Iterator[tuple[str, Records]]:
    """Yield the records to score under an edition: its first example, simulated, tutorial."""
    schema = discipline(name).schema
    yield "example", read_rows(schema, edition(full_name).examples[0].records)
    yield "simulated", simulated(name)
    if name == "community":
        yield "tutorial", read(schema, TUTORIAL)


def hashes(name: str, full_name: str) -> dict[str, str]:
    """Return the hash of each board, or the error in its place."""
    chosen, result = discipline(name), {}
    for source, records in sources(name, full_name):
        for rules, changes in (("edition", {}), ("opt-ins", OPT_INS.get(name))):
            if changes is None:
                continue
            scored = chosen.score(records, edition(full_name).with_rules(changes))
            for board in chosen.boards:
                names = problem_boards(records) if ":" in board else [board]
                for one in names:
                    result[f"{source}/{rules}/{one}"] = hash_of(scored, one)
    return result


def problem_boards(records: Records) -> list[str]:
    """Return the boards of the first two problems."""
    rows = records.sql("SELECT id::VARCHAR AS id FROM problems ORDER BY 1 LIMIT 2")
    return [f"problem:{row}" for row in rows["id"].to_pylist()]


def hash_of(scored: ScoredRecords, board: str) -> str:
    """Return a board's hash, or why there is none."""
    try:
        return scored.board(board).sha256
    except NotScorable as error:
        return type(error).__name__


@pytest.mark.parametrize("full_name", [full for name in BUILT_IN for full in editions(name)])
def test_no_board_of_an_edition_ever_changes(full_name: str) -> None:
    """Whatever is rewritten, the published numbers of a released edition stay, byte for byte."""
    stored = json.loads(GOLDEN.read_text())
    assert hashes(full_name.partition("/")[0], full_name) == stored[full_name]


def test_the_golden_hashes_know_every_edition_and_board() -> None:
    """A new edition or board gets its hashes here when it is released."""
    stored = json.loads(GOLDEN.read_text())
    assert stored.keys() == {full for name in BUILT_IN for full in editions(name)}
    for full_name, result in stored.items():
        boards = {key.rpartition("/")[2].partition(":")[0] for key in result}
        chosen = discipline(full_name.partition("/")[0])
        assert boards == {board.partition(":")[0] for board in chosen.boards}


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_column_of_a_board_has_a_meaning(name: str) -> None:
    """A heading of one word is guessed at; a meaning of no column is out of date."""
    chosen, used = discipline(name), set()
    rules = edition(next(iter(editions(name)))).with_rules(dict(OPT_INS.get(name, {})))
    scored: Any = chosen.score(simulated(name), rules)
    for board in chosen.boards:
        full = board if ":" not in board else f"problem:{scored.judgement.facts.problems.ids[0]}"
        for column in scored.board(full).table.column_names:
            if column in {"rank", "id", "components", "counts", "percentiles"}:
                continue
            meaning = chosen.traits.meaning(full, column)
            assert meaning is not None, (board, column)
            used.add(meaning)
            assert set(meaning.rules) <= set(chosen.rules.model_fields), (board, column)
    unused = {key for key, meaning in chosen.traits.columns.items() if meaning not in used}
    by_rule = {"amount", "plain_score", "plain_rank"}  # with emission_total, and a model of ties
    by_records = {
        "reach",
        "hotkey",
    }  # where task results say what agents could reach; registrations
    assert unused <= by_rule | by_records, "no board has these columns"
