"""Say in which columns of each discipline's tables people stand, as its boards name them."""

from collections.abc import Mapping
from typing import Final

from agon.disciplines import NAMES, discipline

_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "community": ("users.id",),
    "challenge": ("submissions.miner_uid", "validators.id"),
    "dojo": ("submissions.user_id",),
    "arena": ("bots.id", "judges.id", "votes.judge_id", "reinstatements.judge_id"),
}


def _with_references(of: str) -> tuple[tuple[str, str], ...]:
    """Add to the columns that name people those that refer to them."""
    named = _COLUMNS[of]
    columns = [tuple(name.split(".", 1)) for name in named]
    columns += [
        (table.name, column.name)
        for table in discipline(of).schema
        for column in table.columns
        if column.references in named
    ]
    return tuple((table, column) for table, column in columns)


PEOPLE: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    of: _with_references(of) for of in NAMES
}
"""The ``(table, column)`` that hold people's ids, by discipline."""
