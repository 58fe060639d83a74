"""Collect how the values of a request's rows were read, and which of them look like others.

The sentences are those about a source that is read as a whole: a person who sends the same rows at
another door reads the same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agon.records import Column, Kind, Table
from agon.records.conditions import Columns
from agon.records.look_alikes import (
    MAX_GROUPS,
    MAX_LENGTH,
    MISSING_WORDS,
    ODDITIES,
    Oddity,
    fold_look,
    look_alike,
    missing_words,
    oddities_of,
)
from agon.records.values.conversion_notes import (
    read_as_utc,
    read_numbers_as_times,
    read_truths,
    read_words,
)
from agon.records.values.json_values import epoch_unit, has_no_zone
from agon.records.values.words import EXACT_TRUTHS, StatedWords

_MISSING_WORDS: Final = frozenset(MISSING_WORDS)
_MAX_WORDS: Final = 1_000
_MAX_DISTINCT: Final = 20_000


@dataclass
class _ReadColumn:
    """How the values of one column were read."""

    words: dict[tuple[str, str], int] = field(default_factory=dict)
    names: int = 0
    truths: dict[str, str] = field(default_factory=dict)
    units: set[int] = field(default_factory=set)
    has_no_zone: bool = False


class ReadValues:
    """Collects values that were read as others, over the batches of a request.

    Example:
        >>> from agon.records import Column, Kind
        >>> values, vote = ReadValues(), Column("vote", Kind.TEXT, choices=("A", "B", "tie"))
        >>> values.add("votes.Vote", vote, ["draw", "A", "Draw"], ["tie", "A", "tie"])
        >>> values.notes
        ("votes.Vote: read 'Draw' as tie (1 row), 'draw' as tie (1 row)",)
    """

    def __init__(self) -> None:
        self._columns: dict[str, _ReadColumn] = {}

    def add(self, label: str, column: Column, sent: Iterable[Any], read: Iterable[Any]) -> None:
        """Add values of a column as they were sent, and in normal form.

        Args:
            label: table and column, as the request names them.
            column: the column.
            sent: the values as they were sent.
            read: the same in normal form.
        """
        pairs = [(one, other) for one, other in zip(sent, read, strict=True) if one != other]
        if not pairs:
            return
        read_column = self._columns.setdefault(label, _ReadColumn())
        if column.choices:
            _add_words(read_column, column, pairs)
        elif column.kind is Kind.TIMESTAMP:
            read_column.units.update(unit for one, _ in pairs if (unit := epoch_unit(one)))
            read_column.has_no_zone = read_column.has_no_zone or any(
                has_no_zone(one) for one, _ in pairs
            )
        elif column.kind is Kind.BOOLEAN:
            for one, other in pairs:
                is_new = isinstance(one, str) and one.lower() not in EXACT_TRUTHS
                if is_new and isinstance(other, bool) and len(read_column.truths) < _MAX_WORDS:
                    read_column.truths[one] = str(other).lower()

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about each column whose values were read as others."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        for label, read in self._columns.items():
            if read.words or read.names:
                yield read_words(label, _most_first(read.words), names=read.names)
            if read.truths:
                yield read_truths(label, read.truths)
            if read.units:
                yield read_numbers_as_times(label, sorted(read.units))
        zoneless = [label for label, read in self._columns.items() if read.has_no_zone]
        if zoneless:
            yield read_as_utc(zoneless)


def reads_values(column: Column) -> bool:
    """Return whether values of a column may be read as others, which a note says."""
    return bool(column.choices) or column.kind in {Kind.TIMESTAMP, Kind.BOOLEAN}


def _add_words(read_column: _ReadColumn, column: Column, pairs: Sequence[tuple[Any, Any]]) -> None:
    words = StatedWords(column)
    for one, other in pairs:
        if other not in column.choices:
            continue  # it is rejected later
        if words.meaning(str(one)) != other:
            read_column.names += 1
        elif (str(one), other) in read_column.words or len(read_column.words) < _MAX_WORDS:
            read_column.words[str(one), other] = read_column.words.get((str(one), other), 0) + 1


def _most_first(words: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    return dict(sorted(words.items(), key=lambda item: (-item[1], item[0])))


class ComparedTexts:
    """Collects the different texts of columns that are compared, over the batches of a request.

    A column of more than 20,000 different texts is content or has ids, and is not examined further.
    """

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, int]] = {}
        self._missing: dict[str, set[str]] = {}
        self._by_look: dict[str, dict[str, str]] = {}
        self._alike: dict[str, dict[str, list[str]]] = {}
        self._odd: dict[tuple[str, Oddity], list[str]] = {}

    def add(self, table: Table, columns: Columns) -> None:
        """Add the columns of some rows of a table, under the names of the schema."""
        for column in table.columns:
            values = columns.get(column.name)
            if values and _is_compared(column):
                name = f"{table.name}.{column.name}"
                self._add(name, values, has_ids=column.kind is Kind.ID)

    def _add(self, name: str, values: Sequence[Any], *, has_ids: bool) -> None:
        counts, looks = self._seen.setdefault(name, {}), self._by_look.setdefault(name, {})
        if len(counts) > _MAX_DISTINCT:
            return
        alike = self._alike.setdefault(name, {})
        missing = self._missing.setdefault(name, set())
        texts = [text for text in values if type(text) is str and 0 < len(text) <= MAX_LENGTH]
        distinct = set(texts)
        # What a text looks like is examined once: most batches repeat the texts of earlier ones.
        new = distinct.difference(counts)  # ``-`` would walk over all of the counts
        counts.update(dict.fromkeys(new, 0))
        for text in new:
            look = fold_look(text)
            first = looks.setdefault(look, text)
            if first is not text:
                alike.setdefault(look, [first]).append(text)
            if text.strip(" ").lower() in _MISSING_WORDS:
                missing.add(text)
            for oddity in oddities_of(text) if has_ids else ():
                odd = self._odd.setdefault((name, oddity), [])
                odd += [text] if len(odd) < MAX_GROUPS else []
        for text in missing & distinct:
            counts[text] += texts.count(text)

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence about texts that look like no value, and about each that looks like others."""
        return tuple(self._warnings())

    def _warnings(self) -> Iterator[str]:
        for name, counts in self._seen.items():
            missing = {text: count for text, count in counts.items() if count}
            if missing:
                listed = sorted(missing, key=lambda text: (-missing[text], text))[:MAX_GROUPS]
                yield missing_words(name, listed, sum(missing[text] for text in listed)).message
            groups = map(sorted, self._alike.get(name, {}).values())
            for texts in sorted(groups)[:MAX_GROUPS]:
                yield look_alike(name, texts).message
            for oddity in ODDITIES:
                if odd := self._odd.get((name, oddity)):
                    yield oddity.finding(name, sorted(odd)).message


def _is_compared(column: Column) -> bool:
    if column.kind is Kind.TEXT:
        return not column.choices
    return column.kind is Kind.ID and column.references is None
