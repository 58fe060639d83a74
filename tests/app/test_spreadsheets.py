"""Text that a spreadsheet would compute is text in every CSV that agon writes."""

import pytest

from agon.app.spreadsheets import escape_formula


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_what_begins_as_a_formula_is_defused(sign: str) -> None:
    """Spreadsheets take full-width signs and text behind a line end for formulas, too."""
    assert escape_formula(f"{sign}HYPERLINK(1)") == f"'{sign}HYPERLINK(1)"


@pytest.mark.parametrize("text", ["-5", "+1.5", "-0,5", "ada", ""])
def test_numbers_and_plain_text_stay(text: str) -> None:
    """An apostrophe before every negative number would spoil the column."""
    assert escape_formula(text) == text
