"""Test ``comparisons``: crowd votes on pairs of answers become matches, votes and audits."""

from pathlib import Path
from typing import Any

import pytest

import agon
from agon.app.examples import dataset
from agon.app.importers import import_records
from agon.disciplines import discipline
from agon.errors import Conflict, NotFound, Unreadable
from agon.records import InvalidRecords, read_rows

VOTES = """id,left,right,winner,worker
7,ann,bob,left,w1
7,ann,bob,tie,w2
7,bob,ann,left,w3
9,cy,ann,right,w1
"""


def rows(imported: Any, table: str) -> list[dict[str, Any]]:
    """Return an imported table's rows."""
    return list(imported.tables[table].to_pylist())


def written(folder: Path, text: str, name: str = "comparisons.csv") -> Path:
    """Write a file."""
    (folder / name).write_text(text)
    return folder / name


def test_a_pair_is_a_match_and_its_rows_are_votes(tmp_path: Path) -> None:
    """Workers are the judges; left is label A, with any bot."""
    imported = import_records("comparisons", written(tmp_path, VOTES))
    assert [(row["id"], row["bot_a"], row["bot_b"]) for row in rows(imported, "matches")] == [
        (7, "ann", "bob"),
        (9, "cy", "ann"),
    ]
    assert [
        (row["match_id"], row["judge_id"], row["shown_first"], row["vote"])
        for row in rows(imported, "votes")
    ] == [(7, "w1", "a", "A"), (7, "w2", "a", "tie"), (7, "w3", "b", "A"), (9, "w1", "a", "B")]
    assert {row["kind"] for row in rows(imported, "judges")} == {"person"}


def test_a_verdict_in_another_file_is_the_audit_of_its_pair(tmp_path: Path) -> None:
    """``gpt4-`` before the file's name, or named; sides follow the models, not the columns."""
    verdicts = "id,winner,left\n7,right,bob\n9,tie,cy\n"
    file = written(tmp_path, VOTES)
    written(tmp_path, verdicts, "gpt4-comparisons.csv")
    elsewhere = written(tmp_path, "id,winner\n7,right\n", "other.csv")
    records = import_records("comparisons", file)
    assert [row["audit_verdict"] for row in rows(records, "matches")] == ["a", "tie"]
    named = import_records("comparisons", file, audit=elsewhere)
    assert [row["audit_verdict"] for row in rows(named, "matches")] == ["b", None]


def test_as_votes_every_row_is_a_match(tmp_path: Path) -> None:
    """For methods that take one outcome at a time."""
    imported = import_records("comparisons", written(tmp_path, VOTES), unit="votes")
    assert set(imported.tables) == {"bots", "matches"}
    assert [row["winner"] for row in rows(imported, "matches")] == ["a", "tie", "a", "b"]


def test_without_workers_every_row_is_a_match(tmp_path: Path) -> None:
    """Votes without workers cannot be distinguished."""
    bare = "left,right,winner\nann,bob,left\nann,bob,left\n"
    imported = import_records("comparisons", written(tmp_path, bare))
    assert len(rows(imported, "matches")) == 2
    assert "votes" not in imported.tables


@pytest.mark.exhaustive
def test_llmfao_is_imported_completely() -> None:
    """8,931 votes of 124 workers on 2,139 pairs of answers by 59 models, all of them audited."""
    imported = import_records("comparisons", dataset("llmfao").folder)
    counts = {name: table.num_rows for name, table in imported.tables.items()}
    assert counts == {"owners": 29, "bots": 59, "judges": 124, "matches": 2139, "votes": 8931}
    assert imported.tables["matches"]["audit_verdict"].null_count == 0


@pytest.mark.exhaustive
def test_llmfao_by_votes_gives_the_published_rating() -> None:
    """Elo with K = 4 in the order of the file: 1095.5935481722963 for GPT 4."""
    imported = import_records("comparisons", dataset("llmfao").folder, unit="votes")
    records = read_rows(discipline("arena").schema, imported.tables)
    rules = {"k_new": 4, "k_established": 4, "round_changes": False}
    board = agon.score("arena", records, overrides=rules).board()
    assert board.row("GPT 4")["score"] == pytest.approx(1095.5935481722963, abs=5e-7)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("line", "column", "row"),
    [
        ("9,cy,ann,middle,w2", "winner", 5),
        ("9,cy,cy,left,w2", "right", 5),
        ("9,cy,ann,right,w1", "id, worker", 5),
        ("9,,ann,right,w2", "left", 5),
        ("9,cy,ann,right,", "worker", 5),
    ],
)
def test_an_invalid_comparison_is_named(tmp_path: Path, line: str, column: str, row: int) -> None:
    """File, row, column and value."""
    with pytest.raises(InvalidRecords) as error:
        import_records("comparisons", written(tmp_path, f"{VOTES}{line}\n"))
    assert (column, row) in [(issue.column, issue.row) for issue in error.value.issues]
    assert {issue.location for issue in error.value.issues} == {"comparisons.csv"}


def test_an_id_of_two_pairs_is_rejected(tmp_path: Path) -> None:
    """Votes on different pairs are not of one match."""
    with pytest.raises(InvalidRecords, match="different pairs"):
        import_records("comparisons", written(tmp_path, f"{VOTES}9,bob,ann,left,w4\n"))


def test_an_audit_of_no_pair_is_rejected(tmp_path: Path) -> None:
    """A verdict without a pair is a mistake."""
    file = written(tmp_path, VOTES)
    audit = written(tmp_path, "id,winner\n8,left\n", "audit.csv")
    with pytest.raises(InvalidRecords, match=r"audit\.csv, line 2 \(row 1\)"):
        import_records("comparisons", file, audit=audit)


def test_unknown_choices_are_rejected(tmp_path: Path) -> None:
    """They are not skipped."""
    file = written(tmp_path, VOTES)
    with pytest.raises(Unreadable, match="pairs, votes"):
        import_records("comparisons", file, unit="rows")  # type: ignore[arg-type]  # no unit
    with pytest.raises(Conflict, match="audit"):
        import_records("arena-battles", file, audit=file)
    with pytest.raises(NotFound, match=r"comparisons\.csv"):
        import_records("comparisons", dataset("llmfao").folder.parent)
