"""Write CSV that a spreadsheet opens without computing anything."""

import re
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER: Final = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")


def escape_formula(text: str) -> str:
    r"""Put an apostrophe before text that a spreadsheet would take for a formula.

    Example:
        >>> escape_formula('=HYPERLINK("x")'), escape_formula("-5"), escape_formula("ada")
        ('\'=HYPERLINK("x")', '-5', 'ada')
    """
    if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        return "'" + text
    return text
