"""The seed's formulas with its vectors, and the laws of the credibility walk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.arena.facts import facts_of
from agon.disciplines.arena.formulas import (
    consensus,
    credibility_after,
    credibility_path,
    expected_score,
    k_factor,
    rating_change,
)
from agon.disciplines.arena.history import ratings_of, results_of
from agon.disciplines.arena.ratings.rating_history import rating_history
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.records import read_rows
from disciplines.arena.arenas import Tables, arenas
from sizes import size


@pytest.mark.parametrize(
    ("rating", "opponent", "score", "k", "change"),
    [
        (1200, 1000, 1, 32, 8),
        (1000, 1200, 0, 32, -8),
        (1000, 1200, 1, 32, 24),
        (1200, 1000, 0, 32, -24),
        (1000, 1000, 1, 32, 16),
        (1000, 1000, 0, 32, -16),
        (1400, 1000, 1, 32, 3),
        (1000, 1400, 0, 32, -3),
        (1200, 1000, 1, 16, 4),
        (1000, 1200, 0, 16, -4),
        (1000, 1000, 0.5, 32, 0),
    ],
)
def test_rating_changes_are_those_of_the_seed(
    rating: float, opponent: float, score: float, k: float, change: float
) -> None:
    """The vectors of the spec page, each from both sides."""
    assert rating_change(rating, opponent, score, k=k, round_changes=True, scale=400.0) == change


def test_expectations_are_those_of_the_seed() -> None:
    """1200 against 1000 is expected to win 0.76 of the time, the other 0.24."""
    assert expected_score(1200, 1000, scale=400.0) == pytest.approx(0.76, abs=0.0005)
    assert expected_score(1000, 1200, scale=400.0) == pytest.approx(0.24, abs=0.0005)


def test_k_halves_after_thirty_matches_not_at_the_thirtieth() -> None:
    """Counted are the rated matches before this one."""
    ks = [k_factor(n, k_new=32, k_established=16, games_established=30) for n in (29, 30)]
    assert ks == [32, 16]


@given(st.lists(st.sampled_from("abt"), max_size=9))
def test_the_consensus_is_the_single_most_voted(sides: list[str]) -> None:
    """Any panel size; no single maximum is a tie; an empty panel has no verdict."""
    counts = [sides.count(side) for side in "abt"]
    code = int(consensus([counts])[0])
    if not sides:
        assert code == -1
    elif max(counts) == sorted(counts)[-2]:
        assert code == 2
    else:
        assert code == int(np.argmax(counts))


walks = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-60, 40), st.sampled_from([30, 30, 30, 50])),
    max_size=30,
)


@settings(max_examples=size(100), deadline=None)
@given(
    walks,
    st.lists(st.integers(0, 150), min_size=4, max_size=4),
    st.integers(0, 30),
    st.sampled_from([None, 120]),
)
def test_the_walk_is_the_single_step_repeated_and_resumes_anywhere(
    events: list[tuple[int, int, int]], start: list[int], cut: int, ceiling: int | None
) -> None:
    """Both forms equal max(floor, min(ceiling, c + change)) step by step, and can be resumed."""
    state = list(start)
    after = []
    for judge, change, floor in events:
        state[judge] = credibility_after(state[judge], change, floor=floor, ceiling=ceiling)
        after.append(state[judge])
    columns = [np.array(column, dtype=np.int64) for column in zip(*events, strict=True)] or [
        np.zeros(0, dtype=np.int64)
    ] * 3
    walk = credibility_path(start, *columns, ceiling=ceiling)
    assert walk.after.tolist() == after
    assert walk.credibility.tolist() == state
    prefix = credibility_path(start, *(column[:cut] for column in columns), ceiling=ceiling)
    rest = credibility_path(
        prefix.credibility, *(column[cut:] for column in columns), ceiling=ceiling
    )
    assert [*prefix.after.tolist(), *rest.after.tolist()] == after
    assert rest.credibility.tolist() == state


@settings(max_examples=size(30), deadline=None)
@given(arenas(), st.booleans())
def test_trails_end_where_ratings_do_and_equal_k_is_zero_sum(
    tables: Tables,
    round_changes: bool,  # noqa: FBT001 - Hypothesis gives arguments by name
) -> None:
    """Retraced ratings are the same to the last bit; without newcomers points only change hands."""
    rules = ArenaRules(round_changes=round_changes, games_established=0)
    facts = facts_of(read_rows(SCHEMA, tables))
    ratings = ratings_of(facts, results_of(facts, rules), rules)
    history = rating_history(ratings, start=rules.elo_start)
    last = dict.fromkeys(range(len(facts.bots)), rules.elo_start)
    for row in range(len(ratings.match)):
        a, b = int(ratings.a[row]), int(ratings.b[row])
        assert (history.before_a[row], history.before_b[row]) == (last[a], last[b])
        last[a] += ratings.change_a[row]
        last[b] += ratings.change_b[row]
        assert ratings.change_a[row] + ratings.change_b[row] == 0
    assert list(last.values()) == ratings.rating.tolist()
