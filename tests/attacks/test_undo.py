"""After an attack's records were removed, honest participants stand where they stood."""

from typing import Any

import pyarrow as pa
import pytest

from agon.attacks.catalog import lab_of
from agon.attacks.runner import Runner, select
from agon.attacks.tables import append_rows, without_accounts
from agon.attacks.undo import undo
from agon.disciplines import discipline
from agon.disciplines.arena.rules import ArenaRules
from agon.editions import edition
from agon.records import read_rows


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "attack", "size"),
    [
        ("community/scores0002-1", "reciprocal-ring", 30),
        ("challenge/term-1", "dust-validators", 12),
        ("challenge/term-1", "sybil-miners", 12),
        ("dojo/0.1", "resubmission-races", 20),
    ],
)
def test_an_undone_attack_leaves_nothing(name: str, attack: str, size: int) -> None:
    """Ranks and scores are those of the season without it, which it had changed."""
    lab = lab_of(name.partition("/")[0])
    runner = Runner(lab, lab.simulate(size=size, seed=1), edition(name).rules)
    [strategy] = select(lab, [attack])
    plan = strategy.plans[-1]
    assert runner.run_plan(strategy, plan, goal="rank+1").harm.honest_moved > 0
    [board] = undo(runner, strategy, plan)
    assert (board.moved, board.worst, board.points) == (0, 0, 0)


@pytest.mark.exhaustive
def test_votes_of_attackers_are_removed_exactly_and_other_matches_are_a_residue() -> None:
    """Both boards of the arena: votes added to the same matches leave nothing.

    In a season pairs and panels depend on the ratings, so that honest bots meet others than
    they would have met: this is not in any record, and the lab states it.
    """
    arena, lab = discipline("arena"), lab_of("arena")
    honest = dict(arena.simulate(size=300, seed=1, attacks=()).tables)
    votes = honest["votes"]
    matches = honest["matches"]["id"].to_pylist()
    columns: dict[str, Any] = {
        name: [votes[name][0].as_py()] * len(matches) for name in votes.column_names
    }
    columns |= {"match_id": matches, "judge_id": ["attacker"] * len(matches)}
    columns |= {"id": list(range(10**9, 10**9 + len(matches)))} if "id" in columns else {}
    as_text = votes.set_column(
        votes.column_names.index("judge_id"), "judge_id", votes["judge_id"].cast(pa.string())
    )
    attacked = {**honest, "votes": append_rows(as_text, pa.table(columns))}
    undone = without_accounts(arena.schema, attacked, ["attacker"], actors=lab.actors)
    assert undone["votes"].num_rows == votes.num_rows < attacked["votes"].num_rows
    boards = []
    for tables in (honest, undone):
        with read_rows(arena.schema, tables) as records:
            scored = arena.score(records, ArenaRules())
            boards.append([scored.board(board).rows() for board in lab.undone_boards])
    assert boards[0] == boards[1]

    runner = Runner(lab, lab.simulate(size=12, seed=1), ArenaRules())
    [strategy] = select(lab, ["target-rigging"])
    elo, bradley_terry = undo(runner, strategy, strategy.plans[0])
    assert (elo.board, bradley_terry.board) == lab.undone_boards
    assert elo.points > 0
