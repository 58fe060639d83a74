"""Files as people have them are read right, or refused with a message, and nothing is silent.

``table.jsonl`` has a line for each file: the idea, the door (the format of an import, or discipline
and table), options, and the outcome: the rows as they are read with notes and findings, or the
codes and places of the issues. A new report becomes a file and a line.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from files.reading import outcome

HERE = Path(__file__).parent
TABLE = [json.loads(line) for line in (HERE / "table.jsonl").read_text("utf-8").splitlines()]


def test_the_corpus_is_large_and_complete() -> None:
    """Every file has a line, and every line a file and an idea."""
    assert len(TABLE) >= 200
    assert sorted(row["file"] for row in TABLE) == sorted(
        file.name for file in (HERE / "data").iterdir()
    )
    assert all(row["idea"] for row in TABLE)


@pytest.mark.sample(8)
@pytest.mark.parametrize("row", TABLE, ids=[row["file"] for row in TABLE])
def test_a_file_has_its_outcome(row: dict[str, Any], tmp_path: Path) -> None:
    """The outcome of each was read by a person when the line was written."""
    read = outcome(HERE / "data" / row["file"], row["door"], row.get("options", {}), tmp_path)
    assert read.splitlines() == row["outcome"]
