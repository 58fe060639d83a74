"""The community's lab: what an attacker adds to records, and what its strategies gain."""

from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from agon.attacks.catalog import lab_of
from agon.attacks.runner import Runner, select
from agon.disciplines import discipline
from agon.disciplines.community.attackers import ATTACKS
from agon.disciplines.community.rules import CommunityRules
from agon.records import read_rows
from attacks.worlds import world_of

LAB = lab_of("community")
RULES = CommunityRules()
SCHEMA = discipline("community").schema
honest_world = partial(world_of, "community", size=30)


def _text(table: pa.Table) -> pa.Table:
    """Return a table whose ids are text."""
    for at, field in enumerate(table.schema):
        if field.name == "id" or field.name.endswith("_id"):
            table = table.set_column(at, field.name, table[field.name].cast(pa.string()))
    return table


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", [strategy.name for strategy in LAB.strategies])
def test_an_attack_adds_valid_rows_and_changes_none(name: str) -> None:
    """On the first day too: nothing refers to what is written later."""
    strategy = select(LAB, [name])[0]
    played = LAB.play(honest_world(), RULES, strategy, strategy.plans[0], 0)
    for day in (1, played.epochs[-1]):
        tables = played.tables(day)
        for table, rows in honest_world().tables.items():
            assert tables[table].slice(0, rows.num_rows).select(rows.column_names) == rows
        with read_rows(SCHEMA, tables) as records:
            board = discipline("community").score(records, RULES).board("user-score")
            assert len(board.rows()) >= 30
    assert played.actions_until(played.epochs[-1]) == sum(played.effort.actions.values())
    assert len(played.accounts) == 1 + played.effort.accounts["user"]
    assert not set(played.accounts) & set(played.honest)


def test_an_attack_of_the_simulation_is_described_once() -> None:
    """A ring, likes of own prompts and prompts at the thresholds are in both."""
    described = {strategy.name: strategy.meaning for strategy in LAB.strategies}
    both = described.keys() & ATTACKS.keys()
    assert both == {"reciprocal-ring", "self-feedback", "threshold-hugging"}
    assert all(described[name] == f"An attacker {ATTACKS[name]}." for name in both)


@pytest.mark.exhaustive
def test_the_attacker_is_the_user_in_the_middle() -> None:
    """So that the price of a rank does not depend on a draw."""
    played: Any = LAB.play(honest_world(), RULES, None, {}, 0)
    with read_rows(SCHEMA, played.tables(1)) as records:
        standing = played.standing(discipline("community").score(records, RULES))
    assert standing.rank == 16
    assert len(standing.ranks) == 29


def _result(world: Any, name: str, *, at: int = 0, **rules: Any) -> Any:
    strategy = select(LAB, [name])[0]
    runner = Runner(LAB, world, RULES.override(rules))
    return runner.run_plan(strategy, strategy.plans[at], goal="rank+1")


@pytest.mark.exhaustive
def test_ids_of_real_records_may_be_text() -> None:
    """They are compared as given; the price is the same."""
    tables = {name: _text(table) for name, table in honest_world().tables.items()}
    with read_rows(SCHEMA, tables) as records:
        observed = LAB.observe(records, seed=1)
    assert observed.attacker_id == honest_world().attacker_id
    as_text, as_number = (
        _result(world, "collaboration-mill") for world in (observed, honest_world())
    )
    assert as_text == as_number
    assert as_text.gain.ranks > 0


@pytest.mark.exhaustive
def test_a_rule_takes_most_points_of_its_attack() -> None:
    """Where feedback on own prompts is ignored, they lack a like; two still raise an h-index."""
    literal = _result(honest_world(), "self-feedback", at=2)
    closed = _result(honest_world(), "self-feedback", at=2, self_feedback="ignore")
    assert "self-feedback" in {detection.finding for detection in literal.detected}
    assert 0 <= closed.gain.points < literal.gain.points / 4


def test_dislikes_take_no_rank_away() -> None:
    """User scores count likes alone."""
    result = _result(honest_world(), "bad-mouthing")
    assert (result.reached, result.gain.ranks) == (False, 0)
