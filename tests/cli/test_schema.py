"""``agon schema`` describes every table and column, so that users can write their own files."""

import csv

import pytest

from agon.disciplines import BUILT_IN, discipline
from cli.command import Cli


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_table_and_column_has_a_meaning(agon: Cli, name: str) -> None:
    """A name such as honeypot_real says nothing to who sees it first; nor does an empty value."""
    tables = agon("schema", name, "--format", "json").json()["tables"]
    assert [table["name"] for table in tables] == [table.name for table in discipline(name).schema]
    rows = [row for table in tables for row in table["columns"]]
    unexplained = [row["column"] for row in rows
                   if not row["meaning"] or bool(row["empty"]) != row["may_be_empty"]]  # fmt: skip
    assert unexplained == []
    assert all(table["meaning"] for table in tables)
    lines = agon("schema", name, "--format", "csv").out.splitlines()
    assert [row["column"] for row in csv.DictReader(lines)] == [row["column"] for row in rows]


def test_a_schema_fits_eighty_columns(agon: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read in a terminal."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = agon("schema", "arena", "matches").out.splitlines()
    assert (
        lines[0] == "matches · required · The matches between two bots, with their control matches."
    )
    text = "\n".join(" ".join(line.split()) for line in lines)
    winner = "winner text optional Result of a match without votes.\na, b, tie\nempty: score_a or"
    assert winner in text
    assert max(map(len, lines)) <= 80


def test_a_misspelt_table_gets_a_suggestion(agon: Cli) -> None:
    """Another name that databases have for a table is accepted."""
    ended = agon("schema", "arena", "voets")
    assert (ended.code, ended.err) == (
        3,
        "Error: arena has no table 'voets': did you mean votes?\n",
    )
    assert agon("schema", "community", "auth.users").out.startswith("users · required")
