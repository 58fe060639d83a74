"""Simulations are seeded and valid, and come with the truth."""

import numpy as np
import pytest

from agon.disciplines.community import DISCIPLINE
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import score
from agon.disciplines.community.simulate import ATTACKS, Density, simulate
from agon.errors import NotFound
from agon.kernel.statistics import spearman
from agon.records import read_rows


def test_equal_arguments_give_equal_records_and_another_seed_others() -> None:
    """A simulation can be quoted by its arguments."""
    one, same = (simulate(size=50, seed=3, attacks=list(ATTACKS)) for _ in range(2))
    other = simulate(size=50, seed=4, attacks=list(ATTACKS))
    assert all(one.tables[name].equals(same.tables[name]) for name in one.tables)
    assert one.truth["people"].equals(same.truth["people"])
    assert not one.tables["quick_feedbacks"].equals(other.tables["quick_feedbacks"])


def test_records_pass_validation_and_ids_are_numbers() -> None:
    """Anyone who tries agon on them must not first repair them; number ids join fastest."""
    made = simulate(size=60, seed=1, attacks=list(ATTACKS))
    records = read_rows(DISCIPLINE.schema, made.tables)
    assert records.arrow("users")["id"].type == "int64"
    assert made.tables["prompts"].num_rows > 600
    assert abs(made.tables["quick_feedbacks"].num_rows - 6000) < 600
    assert made.tables["scores"].num_rows == 6000


def test_the_density_states_how_many_records_there_are() -> None:
    """Benchmarks simulate communities of other shapes."""
    density = Density(prompts=5, feedbacks=50, responses=2, scores=3)
    made = simulate(size=60, seed=1, density=density).tables
    read_rows(DISCIPLINE.schema, made).close()
    rows = {name: made[name].num_rows for name in ("prompts", "responses", "scores")}
    assert rows == {"prompts": 300, "responses": 600, "scores": 1800}
    assert 2700 < made["quick_feedbacks"].num_rows <= 3000


def test_the_truth_names_every_user_once_and_attackers_by_role() -> None:
    """The truth, which a scorer must not read, is separate from the records."""
    made = simulate(size=60, seed=1, attacks=["reciprocal-ring"])
    people = made.truth["people"]
    assert sorted(people["id"].to_pylist()) == list(range(1, 65))
    roles = people["role"].to_pylist()
    assert roles.count("reciprocal-ring") == 4
    assert roles.count("honest") == 60


def test_honest_users_do_not_rate_their_own_prompts() -> None:
    """Otherwise self-feedback could not be distinguished from chance."""
    made = simulate(size=30, seed=5, attacks=[])
    creator = dict(
        zip(
            made.tables["prompts"]["id"].to_pylist(),
            made.tables["prompts"]["uploader_id"].to_pylist(),
            strict=True,
        )
    )
    rows = made.tables["quick_feedbacks"].to_pylist()
    assert all(creator.get(row["prompt_id"]) != row["user_id"] for row in rows)


def test_skill_shows_in_the_contributor_board() -> None:
    """A simulation whose truth does not matter would prove nothing."""
    made = simulate(size=300, seed=6, attacks=[])
    board = score(read_rows(DISCIPLINE.schema, made.tables), CommunityRules()).board("contributor")
    rows = {row["id"]: row for row in board.rows()}
    people = [row for row in made.truth["people"].to_pylist()
              if rows[str(row["id"])]["counts"]["reviewed_prompts"] >= 5]  # fmt: skip
    mean = [rows[str(row["id"])]["components"]["quality"]
            / rows[str(row["id"])]["counts"]["reviewed_prompts"] for row in people]  # fmt: skip
    assert (
        spearman(np.array(mean), np.array([row["skill"] for row in people]), confidence=0.95).value
        > 0.8
    )


def test_an_unknown_attack_is_rejected_with_a_suggestion() -> None:
    """A misspelt name must not run a peaceful simulation."""
    with pytest.raises(NotFound, match="did you mean self-feedback"):
        simulate(size=50, seed=1, attacks=["self-feedbak"])


def test_too_few_users_are_rejected() -> None:
    """Ten is the least that can disagree."""
    with pytest.raises(ValueError, match="at least 10"):
        simulate(size=3, seed=1)
