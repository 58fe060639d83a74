"""Rows that are sent alone have the normal form of rows in a file."""

from typing import Any

import pytest

from agon.disciplines import discipline
from agon.records.normal import normal_form
from agon.records.rows import row_checker


@pytest.mark.parametrize(
    ("word", "side"),
    [("Ann ", "a"), (7, "b"), (7.0, "b"), ("7", "b"), ("draw", "tie"), ("model_b", "b"),
     ("a", "a"), ("carl", "carl"), (None, None)],
)  # fmt: skip
def test_a_winner_may_be_the_name_on_a_side(word: Any, side: Any) -> None:
    """Public files name the winner; a row that is sent alone is read as one of a file."""
    table = discipline("arena").schema.table("matches")
    row = {"id": 1, "played_at": "2026-01-01", "bot_a": "ann", "bot_b": 7, "kind": "rated",
           "winner": word}  # fmt: skip
    form, checker = normal_form(table), row_checker(table)
    assert form.row(row).get("winner") == side
    columns = {name: (value,) for name, value in row.items()}
    assert form.rows(columns, [row])[0].get("winner") == side
    codes = [issue.code for issue in checker.issues(row)]
    assert codes == (["unknown-value"] if word == "carl" else [])


@pytest.mark.parametrize("word", ["B", "model_b", "right"])
def test_a_winner_that_may_be_either_side_is_refused(word: str) -> None:
    """Bots called A and B are not silently taken for sides."""
    table = discipline("arena").schema.table("matches")
    row = {"id": 1, "played_at": "2026-01-01", "bot_a": word.lower(), "bot_b": "x", "kind": "rated",
           "winner": word}  # fmt: skip
    normal = normal_form(table).row(row)
    assert normal["winner"] == word
    checker = row_checker(table)
    assert not checker.accepts({name: (value,) for name, value in normal.items()}, 1)
    [issue] = checker.issues(row)
    assert issue.code == "ambiguous-value"
    assert "may mean the side b or the name on the other side" in issue.reason
