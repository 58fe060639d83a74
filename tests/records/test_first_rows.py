"""Test that blank rows before the names are skipped, and that lines stay those of the file."""

from pathlib import Path

import pytest

from agon.app.analysis.records import inspect_records

NAMES, GOOD, BAD = "id,created_at", "1,2026-01-01", "2,soon"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("", 0),
        ("\n", 1),
        ("\r\n\r\n", 2),
        (",\n", 1),
        (";;;\n  \n", 2),
        ("\t\n\n\n", 3),
        ("sep=,\n", 1),
        ("\nsep=,\n\n", 3),
        ("\ufeff\n,,\n", 2),
        (" , \n", 1),
        ("sep=,\r\n", 1),
        ("\n\r\n", 2),
    ],
)
def test_a_file_may_begin_with_blank_rows(tmp_path: Path, before: str, lines: int) -> None:
    """A sheet that begins in its second row is saved so; its faults are looked up by line."""
    file = tmp_path / "users.csv"
    file.write_text(f"{before}{NAMES}\n{GOOD}\n", newline="")
    records, issues = inspect_records("community", tmp_path)
    with records:
        assert (issues, records.count("users")) == ([], 1)
    file.write_text(f"{before}{NAMES}\n{GOOD}\n{BAD}\n", newline="")
    records, issues = inspect_records("community", tmp_path)
    with records:
        assert [(issue.line, issue.row, issue.column) for issue in issues] == [
            (lines + 3, 2, "created_at")
        ]
