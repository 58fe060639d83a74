"""A user score with other counts is that of a user who has them."""

import pytest

from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.recounts import recount
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import Community, score
from agon.disciplines.community.simulate import ATTACKS, simulate
from agon.errors import Unreadable
from agon.kernel.explanations import Explanation
from agon.records import read_rows
from disciplines.community.test_oracle import ALL_ON, EASY
from sizes import sample

EVEN = CommunityRules().override({**EASY, **ALL_ON, "time_decay_half_life_days": None})


@pytest.fixture(scope="module")
def explanations() -> list[Explanation]:
    """The scores of a simulated community in which every component counts."""
    simulation = simulate(size=20, seed=5, attacks=list(ATTACKS))
    tables = {name: rows.to_pylist() for name, rows in simulation.tables.items()}
    community: Community = score(read_rows(SCHEMA, tables), EVEN)
    names = sample(community.board("user-score").table["id"].to_pylist(), at_least=8)
    return [community.explain(name, board="user-score") for name in names]


def counts_of(explanation: Explanation) -> dict[str, float]:
    """Return the count of each part."""
    return {part.name: part.inputs["count"] for part in explanation.parts}


def test_the_counts_of_another_user_give_the_score_of_that_user(
    explanations: list[Explanation],
) -> None:
    """A score computed by another formula than the engine's would promise what it does not pay."""
    assert len({explanation.score for explanation in explanations}) > 5
    for own, other in zip(explanations, [*explanations[1:], explanations[0]], strict=True):
        changed = recount(own, EVEN, counts_of(other))
        assert (changed.id, changed.rank, changed.score) == (own.id, own.rank, other.score)
        assert [part.points for part in changed.parts] == [part.points for part in other.parts]
        assert recount(own, EVEN, counts_of(own)).score == own.score
        assert recount(own, EVEN, {}) == own


def test_points_that_decay_count_further_ones_as_new(explanations: list[Explanation]) -> None:
    """What is done today has lost nothing yet."""
    own, name = explanations[0], "feedback_activity"
    part = next(part for part in own.parts if part.name == name)
    aged = Explanation(
        own.board, own.id, 1, 5.0,
        (type(part)(name, 5.0, {"count": 10, "weight": 5.0}, part.rules, ""),), own.places,
    )  # fmt: skip
    worth = EVEN.feedback_activity_coefficient
    for count, weight in ((10, 5.0), (13, 8.0), (4, 2.0), (0, 0.0)):
        changed = recount(aged, EVEN, {name: count})
        assert changed.score == pytest.approx(weight * worth)
    assert recount(aged, EVEN, {name: 13}).parts[0].inputs == {"count": 13, "weight": 8.0}


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"feedback_activty": 1}, "did you mean feedback_activity"),
        ({"h_index": 1.5}, "expected a whole number of h_index from 0 to 1,000,000,000, got 1.5"),
        ({"h_index": -1}, "got -1"),
        ({"h_index": 1e10}, "got 1e"),
        ({"impact": -0.5}, "expected impact from 0"),
        ({"review_quality": 2}, "from -1 to 1, got 2"),
        ({"review_quality": float("nan")}, "got nan"),
        ({"h_index": float("inf")}, "got inf"),
    ],
)
def test_a_count_that_cannot_be_is_an_error(
    explanations: list[Explanation], counts: dict[str, float], message: str
) -> None:
    """A score for an h-index of 1.5 has no meaning."""
    with pytest.raises(Unreadable, match=message):
        recount(explanations[0], EVEN, counts)
