"""Decisions: each page has its number, a status and a date, and the index lists it."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
PAGES = sorted(FOLDER.glob("0*.md"))
STATUS = re.compile(
    r"\*(?:Accepted on \d{4}-\d{2}-\d{2}"
    r"|Superseded by \[\d{4}\]\((?P<other>0\S+\.md)\) on \d{4}-\d{2}-\d{2})\.\*"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_decision_states_its_number_its_status_and_a_date(page: Path) -> None:
    """A reader sees first whether it still holds."""
    title, empty, status = page.read_text(encoding="utf-8").splitlines()[:3]
    assert title.startswith(f"# {page.name[:4]} ")
    assert empty == ""
    match = STATUS.fullmatch(status)
    assert match is not None, status
    assert match["other"] is None or (FOLDER / match["other"]).is_file()


def test_the_index_lists_every_decision() -> None:
    """And no page that is not there."""
    listed = re.findall(r"^\| \[\d{4}\]\((\S+)\)", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert listed == [page.name for page in PAGES]
