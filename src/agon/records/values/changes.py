"""Collect what is converted in a table before its values are read as their kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agon.records.issues import RowIssue
from agon.records.raw import literal
from agon.records.values.words import WHOLE_NAME


@dataclass
class TableChanges:
    """What is converted in one table.

    Attributes:
        values: SQL of new values by column.
        types: their types.
        notes: a sentence about each.
        issues: rows that cannot be converted.
        zoneless: columns of times without a zone.
    """

    values: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    issues: list[RowIssue] = field(default_factory=list)
    zoneless: list[str] = field(default_factory=list)

    def replace(self, column: str, value: str, note: str, kind: str = "VARCHAR") -> None:
        """Replace the values of a column; without a note if there is no sentence."""
        self.values[column], self.types[column] = value, kind
        if note:
            self.notes.append(note)


def names_of_sides(text: str, sides: Sequence[str]) -> list[str]:
    """Return SQL of whether a text is the name on each side.

    The name 1 may be written 1.0, unless the name on another side is 1.0.
    """
    name, *names = (f"lower(trim({one}))" for one in (text, *sides))
    is_exact = f"coalesce({name} IN ({', '.join(names)}), false)"
    whole, *wholes = (
        f"regexp_replace({one}, {literal(f'^{WHOLE_NAME}$')}, '\\1')" for one in (name, *names)
    )
    return [
        f"({name} = {each} OR ({whole} = {each_whole} AND NOT {is_exact}))"
        for each, each_whole in zip(names, wholes, strict=True)
    ]


def text_read_as(text: str, read: Mapping[str, str]) -> str:
    """Return SQL of a text that is read as another one."""
    if not read:
        return text
    whens = " ".join(f"WHEN {literal(word)} THEN {literal(read[word])}" for word in read)
    return f"CASE {text} {whens} ELSE {text} END"
