"""Escape text in CSV files so that spreadsheets do not run it as a formula."""

import re
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")


def escape_formula(text: str) -> str:
    r"""Return text with an apostrophe in front where a spreadsheet would run it as a formula.

    Example:
        >>> escape_formula('=HYPERLINK("x")'), escape_formula("-5"), escape_formula("ada")
        ('\'=HYPERLINK("x")', '-5', 'ada')
    """
    if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        return "'" + text
    return text
