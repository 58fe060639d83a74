"""Count the battles of a data frame by pair and result, without a table of single matches.

Bradley–Terry needs no more of a million battles than how often each pair had each result; models
of ties and styles need each battle's, and its columns of numbers. Where
the meaning of every row follows from its three texts alone, distinct texts are checked instead of
rows. Any other frame, and any that has a fault, is read row by row by
:mod:`agon.app.importers.arena_battles`, which says what is wrong.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from agon.app.importers.arena_battles import MAX_TIME_S
from agon.app.importers.plain_battles import PlainColumns, plain_columns
from agon.kernel.boards import id_order
from agon.kernel.ratings.pair_counts import PairCounts, sum_pairs
from agon.records.names.mapping import SourceMapping
from agon.records.names.matching import fold_name

_MAX_CELLS: Final = 1 << 22  # of names × names × words: 32 MB of counts
_EXACT: Final = 2**53  # whole numbers up to it are floats
_SCORES: Final = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5}


@dataclass(frozen=True, eq=False)
class CountedBattles:
    """The battles of a frame.

    Attributes:
        names: the models, in the order of ids.
        pairs: the outcomes of every pair of them.
        side_a, side_b, winner: of each battle, as a code of the frame.
        of_a, of_b: the model's number by the code of a side.
        scores: side a's score by the code of the winner.
    """

    names: pa.Array
    pairs: PairCounts
    side_a: np.ndarray
    side_b: np.ndarray
    winner: np.ndarray
    of_a: np.ndarray
    of_b: np.ndarray
    scores: np.ndarray

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the numbers of both models and side a's score of each battle."""
        return self.of_a[self.side_a], self.of_b[self.side_b], self.scores[self.winner]


def count_battles(table: pa.Table, *, mapping: SourceMapping) -> CountedBattles | None:
    """Count battles by pair and result; None: they have to be read row by row.

    Example:
        >>> from agon.records.names.mapping import NO_MAPPING
        >>> rows = [{"model_a": "b", "model_b": "a", "winner": word} for word in ("tie", "left")]
        >>> made = count_battles(pa.Table.from_pylist(rows), mapping=NO_MAPPING)
        >>> made.names.to_pylist(), made.pairs.won_j.tolist(), made.pairs.tied.tolist()
        (['a', 'b'], [1], [1])
    """
    columns = plain_columns(table, mapping)
    if columns is None or not table.num_rows or not _are_sound(columns, table):
        return None
    sides = (columns.model_a, columns.model_b, columns.winner)
    coded = [each for each in (_codes(table[name]) for name in sides) if each is not None]
    if len(coded) < len(sides):
        return None
    (of_a, a), (of_b, b), (words, word) = coded
    scores = _scores(columns, words, pa.concat_arrays([of_a, of_b]))
    if scores is None or len(of_a) * len(of_b) * len(words) > _MAX_CELLS:
        return None
    names = pc.unique(pa.concat_arrays([of_a, of_b]))
    names = names.take(pa.array(np.argsort(id_order(names))))
    cells = (a * len(of_b) + b) * len(words) + word
    times = np.bincount(cells, minlength=len(of_a) * len(of_b) * len(words))
    met = np.flatnonzero(times)
    pair, result = np.divmod(met, len(words))
    side_a, side_b = np.divmod(pair, len(of_b))
    number_a, number_b = (pc.index_in(own, value_set=names).to_numpy() for own in (of_a, of_b))
    first, second = number_a[side_a], number_b[side_b]
    if (first == second).any():
        return None
    pairs = sum_pairs(first, second, scores[result], times[met], players=len(names))
    return CountedBattles(names, pairs, a, b, word, number_a, number_b, scores)


def number_columns(
    table: pa.Table, names: Collection[str], *, mapping: SourceMapping
) -> dict[str, pa.Array] | None:
    """Return the columns that a frame has of some, as numbers; None: they have to be read by row.

    That is so where a value is missing or not a number, or a column has a name of battles, or one
    that differs from another column's in its spelling alone.

    Example:
        >>> from agon.records.names.mapping import NO_MAPPING
        >>> rows = {"model_a": ["a", "b"], "model_b": ["b", "a"], "winner": ["tie", "left"]}
        >>> frame = pa.table(rows | {"length_a": [1, 2], "length_b": [3, None]})
        >>> made = number_columns(frame, ["length_a", "length"], mapping=NO_MAPPING)
        >>> made["length_a"].to_pylist()
        [1.0, 2.0]
        >>> number_columns(frame, ["length_b"], mapping=NO_MAPPING) is None
        True
    """
    wanted = {fold_name(name) for name in names}
    found = [name for name in table.column_names if fold_name(name) in wanted]
    known = plain_columns(table, mapping)
    if known is None or set(found) - set(names) or len({*found}) < len(found):
        return None
    if set(found) & {*known.categories, *known.times.values(), *mapping.columns.values()}:
        return None
    made = {name: _numbers(table[name]) for name in found}
    return None if any(each is None for each in made.values()) else made


def _numbers(column: pa.ChunkedArray) -> pa.Array | None:
    """Return a column as floats; None: not every value is a number that a float tells apart."""
    if column.null_count or not (kinds.is_integer(column.type) or kinds.is_float64(column.type)):
        return None
    ends = pc.min_max(column).as_py()
    if not -_EXACT <= ends["min"] <= ends["max"] <= _EXACT:
        return None
    if kinds.is_floating(column.type) and not pc.all(pc.is_finite(column)).as_py():
        return None
    return column.cast(pa.float64()).combine_chunks()


def _codes(column: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray] | None:
    """Return the distinct texts of a column and the number of each row's; None: not all are."""
    if kinds.is_string_view(column.type):
        column = column.cast(pa.large_string())
    if not (kinds.is_string(column.type) or kinds.is_large_string(column.type)):
        return None
    if column.null_count:
        return None
    encoded = column.combine_chunks().dictionary_encode()
    distinct = encoded.dictionary.cast(pa.string())
    if pc.any(pc.equal(pc.utf8_trim(distinct, characters=" "), "")).as_py():
        return None  # a blank is a fault
    return distinct, encoded.indices.to_numpy()


def _scores(columns: PlainColumns, words: pa.Array, names: pa.Array) -> np.ndarray | None:
    """Return side a's score by word; None: a word may be a name, or is not known by itself."""
    meanings = [columns.meaning(word) for word in words.to_pylist()]
    if any(meaning not in _SCORES for meaning in meanings):
        return None
    called = {fold_name(name) for name in names.to_pylist()}
    if any(fold_name(word) in called for word in words.to_pylist()):
        return None
    return np.array([_SCORES[meaning] for meaning in meanings if meaning is not None])


def _are_sound(columns: PlainColumns, table: pa.Table) -> bool:
    """Return whether the columns on which ratings do not depend surely have no fault."""
    of_categories = (table[name].type for name in columns.categories)
    return all(
        kinds.is_string(counts)
        or kinds.is_large_string(counts)
        or kinds.is_string_view(counts)
        or kinds.is_boolean(counts)
        or kinds.is_integer(counts)
        for counts in of_categories
    ) and all(_are_times(own, table[name]) for own, name in columns.times.items())


def _are_times(own: str, column: pa.ChunkedArray) -> bool:
    """Return whether all values of a column are times, those of numbers in seconds."""
    if column.null_count:
        return False
    if own != "tstamp":
        return bool(kinds.is_timestamp(column.type))
    if not (kinds.is_floating(column.type) or kinds.is_integer(column.type)):
        return False
    ends = pc.min_max(column).as_py()
    whole = not kinds.is_floating(column.type) or pc.all(pc.is_finite(column)).as_py()
    return bool(whole and ends["min"] >= 0 and ends["max"] <= MAX_TIME_S)
