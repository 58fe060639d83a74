"""Read a list of people to invite: text with one of them per line."""

import csv
from typing import Final

from agon.errors import Unreadable

_PERSON: Final = ("user", "note")
_HEADERS: Final = frozenset({"user", "id"})


def read_people(text: str) -> list[dict[str, str]]:
    r"""Return the people in a list: one per line as ``id`` or ``id,note``, a header is optional.

    Raises:
        Unreadable: the list is empty, or lines have more values, with all of their numbers.

    Example:
        >>> read_people("ada,Ada Lovelace\nbob")
        [{'user': 'ada', 'note': 'Ada Lovelace'}, {'user': 'bob'}]
    """
    rows = [(number, [cell.strip() for cell in row])
            for number, row in enumerate(csv.reader(text.splitlines()), start=1)
            if any(cell.strip() for cell in row)]  # fmt: skip
    if rows and rows[0][1][0].lower() in _HEADERS:
        rows = rows[1:]
    if not rows:
        raise Unreadable(
            "the list is empty; write one id per line, such as ada or ada,Ada Lovelace"
        )
    long = [number for number, row in rows if len(row) > len(_PERSON)]
    if long:
        raise Unreadable(
            f"line {', '.join(map(str, long))}: more than an id and a note; write one person per "
            "line, such as ada,Ada Lovelace"
        )
    return [{name: cell for name, cell in zip(_PERSON, row, strict=False) if cell}
            for _, row in rows]  # fmt: skip
