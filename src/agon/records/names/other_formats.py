"""Say what to do with files whose format is known and not read."""

from pathlib import PurePath
from typing import Final

_AS_WORKBOOK: Final = "save it as .xlsx or as CSV"
_UNPACK: Final = "unpack it, or name it after what it holds, as in users.csv.zip"
_AS_CSV: Final = "export it as CSV or Parquet"
_GAMES: Final = "write its tags White, Black and Result as columns of a CSV file, a game per row"
_PACKED: Final = (".zip", ".gz", ".zst")
_REMEDIES: Final = {
    **dict.fromkeys((".xls", ".xlsb", ".ods", ".numbers"), _AS_WORKBOOK),
    **dict.fromkeys((*_PACKED, ".tar", ".tgz", ".7z", ".rar"), _UNPACK),
    **dict.fromkeys((".arrow", ".feather", ".avro", ".orc", ".pkl", ".rds", ".dta"), _AS_CSV),
    **dict.fromkeys((".sql", ".dump", ".html", ".pdf", ".xml", ".yaml", ".yml"), _AS_CSV),
    ".pgn": _GAMES,
}


def remedy_of(name: str) -> str:
    """Return what to do with a file of a known format that is not read; empty: there is none.

    Example:
        >>> remedy_of("Users.XLS"), remedy_of("users.csv.zip"), remedy_of("notes.md")
        ('save it as .xlsx or as CSV', '', '')
    """
    endings = [ending.lower() for ending in PurePath(name).suffixes]
    if not endings or (endings[-1] in _PACKED and len(endings) > 1):
        return ""
    return _REMEDIES.get(endings[-1], "")


def file_hint(name: str) -> str:
    """Return a question about a file that is not read, with what to do with it.

    Example:
        >>> file_hint("poeple.csv"), file_hint("people.ods")
        ('; there is poeple.csv: is it meant?', '; there is people.ods: save it as .xlsx or as CSV')
    """
    return f"; there is {name}: {remedy_of(name) or 'is it meant?'}"
