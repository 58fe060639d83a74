"""Find the columns of battles whose rows mean no more than three texts say."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from agon.app.importers.arena_battles import CATEGORIES, PLAYED, TIMES
from agon.app.importers.battle_columns import present_columns, read_by_alias
from agon.app.importers.battle_outcomes import OUTCOMES, SIDES, WINNER
from agon.records.names.mapping import SourceMapping
from agon.records.values.words import choice_of


@dataclass(frozen=True)
class PlainColumns:
    """The columns of battles whose rows mean no more than three texts say.

    Attributes:
        model_a, model_b, winner: the source's names.
        categories, times: other known columns, on which ratings do not depend.
    """

    model_a: str
    model_b: str
    winner: str
    categories: tuple[str, ...]
    times: Mapping[str, str]

    @staticmethod
    def meaning(word: str) -> str | None:
        """Return the result that a word means by itself; None: it is not known, or counts more."""
        return choice_of(WINNER, word)


def plain_columns(table: pa.Table, mapping: SourceMapping) -> PlainColumns | None:
    """Return the columns of battles that can be counted by value; None: rows say more.

    Prompts, weights and shares say more, as does a mapping of values.
    """
    stated = set(mapping.columns.values())
    if replace(mapping, columns={}) or mapping.keep or stated - set(table.column_names):
        return None
    present = present_columns(table, [*OUTCOMES, *PLAYED, *CATEGORIES], mapping)
    aliases = read_by_alias(present, mapping)
    read_as = {found: own for own, found in aliases.items()}
    columns = {read_as.get(own, own): name for own, name in present.items()}
    said = {name for name in columns if name in {*OUTCOMES, *PLAYED}}
    if said - {*TIMES} != {*SIDES, "winner"} or len({*columns.values()}) < len(columns):
        return None
    return PlainColumns(
        model_a=columns["model_a"],
        model_b=columns["model_b"],
        winner=columns["winner"],
        categories=tuple(columns[name] for name in CATEGORIES if name in columns),
        times={name: columns[name] for name in TIMES if name in columns},
    )
