"""Test that cursors are read as written, and other text is rejected."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.contests.boards.cursors import Cursor
from agon.errors import Unreadable


@given(st.integers(0, 10**17), st.integers(0, 10**9), st.integers(0, 1000))
def test_a_cursor_is_read_back(snapshot: int, start: int, count: int) -> None:
    """A page begins exactly where another page ended."""
    cursor = Cursor(snapshot, start, count)
    assert Cursor.read(str(cursor)) == cursor


@given(st.text(max_size=40))
def test_other_text_is_rejected_with_an_error_message(text: str) -> None:
    """Cursors come from unknown clients, who get a message and no traceback."""
    with pytest.raises(Unreadable, match="next or previous"):
        Cursor.read(f"{text}!")
    with suppress(Unreadable):
        Cursor.read(text)


@pytest.mark.parametrize("text", ["", "=", "YjEuMS4y", "é", "YjEuMS4yLjM=\n", "\ud800"])
def test_damaged_cursors_are_rejected(text: str) -> None:
    """Cut, padded or other text is not a position on a board."""
    with pytest.raises(Unreadable):
        Cursor.read(text)
