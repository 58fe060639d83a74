"""Rate the battles of a large data frame without a table of matches: from counts, or columns."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from agon.app.importers.counted_battles import count_battles, number_columns
from agon.disciplines.arena.facts import UNKNOWN_TIME, Bots
from agon.disciplines.arena.history import Standings
from agon.disciplines.arena.ratings.clusters import NO_VERDICTS, Verdicts
from agon.disciplines.arena.ratings.covariates import controls, read_controls
from agon.disciplines.arena.ratings.modeled import is_modeled
from agon.disciplines.arena.ratings.strengths import strengths_board, strengths_of
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.boards import Board
from agon.records.names.mapping import SourceMapping

COUNTED_FROM: Final = 10_000
"""Number of rows from which counting saves time; fewer are read in a tenth of a second."""


def counted_board(table: pa.Table, rules: ArenaRules, *, mapping: SourceMapping) -> Board | None:
    """Return the Bradley–Terry board of battles; None: they have to be read row by row.

    It equals that of the rows. Without a model of ties or styles it depends on them through the
    counts of their pairs alone.

    Args:
        table: the battles.
        rules: of the fit and the intervals.
        mapping: how names of the table are read.

    Raises:
        NotScorable: as for the board of rows.
    """
    of_rows = rules.position == "fitted" or rules.cluster not in ("auto", "none")
    if of_rows or table.num_rows < COUNTED_FROM:
        return None
    counted = count_battles(table, mapping=mapping)
    columns = _control_columns(table, rules, mapping)
    if counted is None or columns is None:
        return None
    bots = _bots(counted.names)
    wins, losses, ties = counted.pairs.results()
    standings = Standings(wins, losses, ties, wins + losses + ties)

    def verdicts() -> Verdicts:
        if not is_modeled(rules):
            return NO_VERDICTS

        def read(names: Sequence[str], _type: str) -> list[pa.Array]:
            return [columns[name] for name in names]

        covariates = read_controls(rules, list(columns), read)
        return Verdicts(*counted.rows(), None, None, covariates=covariates)

    strengths = strengths_of(bots, standings, counted.pairs, rules, verdicts=verdicts)
    return strengths_board(bots, standings, strengths, rules)


def _control_columns(
    table: pa.Table, rules: ArenaRules, mapping: SourceMapping
) -> dict[str, pa.Array] | None:
    """Return the columns that the controls are read from; None: some control needs the rows."""
    sides = {name: {f"{name}_a", f"{name}_b"} for name in controls(rules)}
    wanted = {*sides, *(column for of_name in sides.values() for column in of_name)}
    if not wanted:
        return {}
    columns = number_columns(table, wanted, mapping=mapping)
    if columns is None or any(
        name not in columns and not of_name <= set(columns) for name, of_name in sides.items()
    ):
        return None
    return columns


def _bots(names: Any) -> Bots:
    """Return bots of which nothing but the name is known."""
    unknown = np.full(len(names), UNKNOWN_TIME)
    nobody = pa.nulls(len(names), pa.string())
    return Bots(names, names, nobody, unknown, np.zeros(len(names), dtype=bool), unknown)
