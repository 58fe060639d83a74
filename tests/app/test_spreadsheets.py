"""Test that text which a spreadsheet would compute is text in every CSV that agon writes."""

import pytest

from agon.app.spreadsheets import escape_formula


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_text_that_begins_like_a_formula_is_escaped(sign: str) -> None:
    """Spreadsheets also read full-width signs and text after a line end as formulas."""
    assert escape_formula(f"{sign}HYPERLINK(1)") == f"'{sign}HYPERLINK(1)"


@pytest.mark.parametrize("text", ["-5", "+1.5", "-0,5", "ada", ""])
def test_numbers_and_plain_text_are_unchanged(text: str) -> None:
    """An apostrophe before every negative number would spoil the column."""
    assert escape_formula(text) == text
