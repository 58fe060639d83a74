"""An empty program is a program: in every format that distinguishes it from a missing one."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import agon
from agon.disciplines.dojo.records import SCHEMA, SUBMISSIONS
from agon.records import InvalidRecords, read_rows
from agon.records.rows import row_checker

SUBMISSION: dict[str, Any] = {
    "id": "s", "problem_id": "p", "user_id": "u", "created_at": "2026-01-01T00:00:00Z",
    "source": "", "verdict": "wrong_answer", "terms_matched": 100,
}  # fmt: skip
EMPTY = hashlib.sha256(b"").hexdigest()


def write(folder: Path, form: str, rows: list[dict[str, Any]]) -> Path:
    """Write the tables of a season in a format."""
    (folder / "problems.csv").write_text("id\np\n")
    file = folder / f"submissions.{form}"
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), file)
    elif form == "ndjson":
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        names = ",".join(rows[0])
        values = [",".join(str(value) for value in row.values()) for row in rows]
        file.write_text("\n".join([names, *values, ""]))
    return folder


def row_of(records: Any) -> dict[str, Any]:
    """Return the one row of the problem's board."""
    [row] = agon.score("dojo", records).board("problem:p").rows()
    return row


@pytest.mark.sample(2)
@pytest.mark.parametrize("form", ["ndjson", "parquet", "rows"])
def test_an_empty_source_is_judged_and_has_no_bytes(form: str, tmp_path: Path) -> None:
    """Folders of programs may have an empty file, and their records were refused as NDJSON."""
    rows = [SUBMISSION, {**SUBMISSION, "id": "t", "source": "x = 1"}]
    for few in (rows[:1], rows):
        if form == "rows":
            records: Any = read_rows(SCHEMA, {"problems": [{"id": "p"}], "submissions": few})
        else:
            records = str(write(tmp_path, form, few))
        row = row_of(records)
        assert (row["submission_id"], row["l_chars"], row["base"]) == ("s", 0, 200)
    assert row_checker(SUBMISSIONS).issues(SUBMISSION) == []


@pytest.mark.parametrize("missing", [None, "left out"])
def test_a_missing_source_is_still_an_issue(missing: str | None, tmp_path: Path) -> None:
    """CSV has one notation for both; there an empty value is a missing one."""
    row = {**SUBMISSION, "source": missing}
    if missing is not None:
        del row["source"]
    for form, rows in (("ndjson", [row]), ("csv", [SUBMISSION])):
        folder = tmp_path / form
        folder.mkdir()
        with pytest.raises(InvalidRecords, match="give the source, or both"):
            agon.score("dojo", str(write(folder, form, rows)))
    assert [issue.column for issue in row_checker(SUBMISSIONS).issues(row)] == ["source"]


def test_a_recorded_hash_stands_for_a_source_that_is_withheld(tmp_path: Path) -> None:
    """Published records have empty sources next to hashes, as before."""
    withheld = {**SUBMISSION, "source_hash": "ab" * 32, "l_chars": 80}
    assert row_of(str(write(tmp_path, "ndjson", [withheld])))["l_chars"] == 80
    own = {**SUBMISSION, "source_hash": EMPTY, "l_chars": 0}
    assert row_of(str(write(tmp_path, "ndjson", [own])))["l_chars"] == 0
