"""Test that cursors come back as they were given, and nothing else passes for one."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agon.app.contests.boards.cursors import Cursor
from agon.errors import Unreadable


@given(st.integers(0, 10**17), st.integers(0, 10**9), st.integers(0, 1000))
def test_a_cursor_is_read_back(snapshot: int, start: int, count: int) -> None:
    """A page is asked for by exactly the place another page named."""
    cursor = Cursor(snapshot, start, count)
    assert Cursor.read(str(cursor)) == cursor


@given(st.text(max_size=40))
def test_what_no_page_gave_is_refused_in_words(text: str) -> None:
    """Cursors come from strangers; they get a sentence and never a traceback."""
    with pytest.raises(Unreadable, match="next or previous"):
        Cursor.read(f"{text}!")
    with suppress(Unreadable):
        Cursor.read(text)


@pytest.mark.parametrize("text", ["", "=", "YjEuMS4y", "é", "YjEuMS4yLjM=\n", "\ud800"])
def test_broken_cursors_are_refused(text: str) -> None:
    """Cut, padded or foreign text is no place on a board."""
    with pytest.raises(Unreadable):
        Cursor.read(text)
