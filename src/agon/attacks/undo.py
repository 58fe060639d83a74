"""Undo an attack: without the attacker's records, honest participants stand where they stood."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agon.attacks.lab import SeasonRecords
from agon.attacks.runner import Runner
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines import discipline
from agon.kernel.rounding import publish
from agon.records import Schema, read_rows

Tables = Mapping[str, pa.Table]


@dataclass(frozen=True)
class Undo:
    """What is left of an attack on one board after its records were removed.

    Attributes:
        board: its name.
        moved: number of honest participants whose rank differs from that without the attack.
        worst: most ranks by which one of them differs.
        points: largest difference of a score.
    """

    board: str
    moved: int
    worst: int
    points: float


def without_accounts(
    schema: Schema, tables: Tables, accounts: Iterable[str], *, actors: Mapping[str, str]
) -> Tables:
    """Return tables without the rows of some accounts, and without rows that refer to such rows.

    Args:
        schema: of the tables.
        tables: the records.
        accounts: the ids to remove.
        actors: of tables whose rows belong to accounts, the column that names the account.

    Example:
        >>> from agon.disciplines.dojo.records import SCHEMA
        >>> tables = {"submissions": pa.table({"id": [1, 2], "user_id": ["ada", "bob"]})}
        >>> remaining = without_accounts(SCHEMA, tables, ["bob"], actors={"submissions": "user_id"})
        >>> remaining["submissions"]["id"].to_pylist()
        [1]
    """
    named = pa.array(list(accounts), pa.string())
    removed: dict[str, pa.Array] = {}
    remaining = dict(tables)
    is_complete = False
    while not is_complete:
        is_complete = True
        for table in schema:
            if table.name not in remaining:
                continue
            rows = remaining[table.name]
            drop = pa.array([False] * rows.num_rows)
            if actors.get(table.name) in rows.column_names:
                drop = pc.or_(drop, _is_in(rows[actors[table.name]], named))
            for column in table.columns:
                of = (column.references or "").partition(".")[0]
                if of in removed and column.name in rows.column_names:
                    drop = pc.or_(drop, _is_in(rows[column.name], removed[of]))
            if pc.any(drop).as_py():
                is_complete = False
                remaining[table.name] = rows.filter(pc.invert(drop))
                if "id" in rows.column_names:
                    ids = rows.filter(drop)["id"].cast(pa.string()).combine_chunks()
                    removed[table.name] = pa.concat_arrays([*_known(removed, table.name), ids])
    return remaining


def undo(runner: Runner, strategy: Strategy[Any], plan: Plan) -> tuple[Undo, ...]:
    """Return what is left of an attack after its records were removed, for each board of the lab.

    The boards of the remaining records are compared with those of the season in which the attacker
    takes part honestly, also without the attacker's records.
    """
    seasons = (runner.play(strategy, plan), runner.play(None, {}, wait=strategy.wait))
    now, before = (_boards(runner, season) for season in seasons)
    return tuple(
        _difference(board, now[board], before[board]) for board in runner.lab.undone_boards
    )


def _boards(runner: Runner, season: SeasonRecords) -> Mapping[str, Mapping[str, tuple[int, float]]]:
    """Return rank and score of each honest participant on the boards of the remaining records."""
    of, epoch = discipline(runner.lab.discipline), season.epochs[-1]
    tables = without_accounts(
        of.schema, season.tables(epoch), season.accounts, actors=runner.lab.actors
    )
    honest = set(season.honest)
    with read_rows(of.schema, tables) as records:
        scored = of.score(records, runner.lab.rules_at(runner.rules, epoch))
        return {
            board: {
                str(row["id"]): (row["rank"], row["score"])
                for row in scored.board(board).rows()
                if str(row["id"]) in honest
            }
            for board in runner.lab.undone_boards
        }


def _difference(
    board: str, now: Mapping[str, tuple[int, float]], before: Mapping[str, tuple[int, float]]
) -> Undo:
    both = now.keys() & before.keys()
    ranks = [abs(now[name][0] - before[name][0]) for name in both]
    points = [abs(now[name][1] - before[name][1]) for name in both]
    alone = len(now.keys() ^ before.keys())
    moved = sum(rank > 0 for rank in ranks) + alone
    return Undo(board, moved, max(ranks, default=0), publish(max(points, default=0.0)))


def _is_in(column: Any, names: pa.Array) -> Any:
    return pc.is_in(pc.cast(column, pa.string()), value_set=names).combine_chunks()


def _known(removed: Mapping[str, pa.Array], name: str) -> list[pa.Array]:
    return [removed[name]] if name in removed else []
