"""How few matches change a rank: proved by a refit; and Elo's noise floor, measured."""

from importlib.resources import files
from typing import Any

import numpy as np
import pytest

import agon
from agon.disciplines.arena.ratings.robustness import (
    elo_bands,
    noise_floors,
    rank_robustness,
)
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.figures import RankRobustness
from agon.kernel.ratings.elo import EloState, fold


@pytest.fixture(scope="module")
def crowd() -> Any:
    """Return the crowd's votes of llmfao, scored with each vote as a match."""
    source = files("agon.examples") / "llmfao"
    imported = agon.import_records("comparisons", str(source), unit="votes")
    return agon.score("arena", imported, overrides={"bradley_terry_regularisation": 0.0})


@pytest.fixture(scope="module")
def ranks(crowd: Any) -> list[RankRobustness]:
    """Return the robustness of the crowd's first ranks."""
    scored = crowd.scored
    return rank_robustness(scored.facts, scored.ratings, scored.strengths, crowd.rules, ranks=5)


def test_few_of_the_crowd_s_votes_change_the_first_ranks(ranks: list[RankRobustness]) -> None:
    """The published bounds are at most 16, 1, 3, 2 and 1 votes; a refit finds fewer for one."""
    assert [each.matches for each in ranks] == [13, 1, 3, 2, 1]
    assert ranks[0].bot == "GPT 4"
    assert ranks[0].share == pytest.approx(13 / 8931)


def test_ranks_change_without_the_votes_and_not_without_one_fewer(
    crowd: Any, ranks: list[RankRobustness]
) -> None:
    """The proof is another fit of the records that remain, from their file on."""
    table = crowd.records.sql("SELECT * FROM matches").to_pylist()
    bots = crowd.records.sql("SELECT * FROM bots").to_pylist()
    for each in ranks[:2]:
        assert len(each.left_out) == each.matches
        orders = []
        for left_out in (set(each.left_out), set(each.left_out[1:])):
            remaining = [row for row in table if str(row["id"]) not in left_out]
            battles = [
                {"model_a": row["bot_a"], "model_b": row["bot_b"], "winner": row["winner"]}
                for row in remaining
            ]
            rated = agon.rate(battles, method="bradley-terry",
                              overrides={"bradley_terry_regularisation": 0.0})  # fmt: skip
            score = {row["id"]: row["score"] for row in rated.rows()}
            orders.append(score[each.next] > score[each.bot])
        assert orders == [True, False]
    assert len(bots) == 59


def test_a_rank_that_no_match_decides_has_no_number() -> None:
    """A bot that always won has no finite rating without its only loss, so nothing is proved."""
    battles = [{"model_a": "ann", "model_b": "bob", "winner": "a"}] * 3
    battles += [{"model_a": "ann", "model_b": "bob", "winner": "b"}]
    result = agon.rate(battles, overrides={"bradley_terry_regularisation": 0.0}).result
    scored: Any = result.scored
    [only] = rank_robustness(scored.facts, scored.ratings, scored.strengths, scored.rules)
    assert (only.bot, only.next, only.matches) == ("ann", "bob", None)


def test_without_matches_there_are_no_ranks() -> None:
    """A new contest has a page as well."""
    match = {"id": "m", "played_at": None, "bot_a": "ann", "bot_b": "bob", "kind": "skipped"}
    bots = [{"id": name, "name": name, "owner_id": None, "qualified_at": None}
            for name in ("ann", "bob")]  # fmt: skip
    scored: Any = agon.score("arena", {"bots": bots, "matches": [match]}).scored
    assert rank_robustness(scored.facts, scored.ratings, scored.strengths, scored.rules) == []
    assert elo_bands(scored.facts, scored.ratings, scored.rules) == []


def test_ratings_wander_as_far_as_the_noise_floor_says() -> None:
    """Bots of equal strength: the deviation of their ratings is the square root of K s / 2."""
    dice = np.random.default_rng(5)
    bots, matches = 200, 40_000
    a = dice.integers(0, bots, matches)
    b = (a + dice.integers(1, bots, matches)) % bots
    rules = ArenaRules(k_new=16, k_established=16, round_changes=False)
    state = fold(
        EloState.fresh(bots, start=1000.0), a, b, dice.integers(0, 2, matches).astype(float),
        k_new=16, k_established=16, games_established=30, scale=400, start=1000,
        round_changes=False,
    ).state  # fmt: skip
    assert np.std(state.ratings) == pytest.approx(noise_floors(rules)[0].deviation, rel=0.15)


def test_ranks_within_the_noise_are_named(crowd: Any) -> None:
    """Fifty-nine bots with some hundred votes each: most of their Elo ranks are noise."""
    bands = elo_bands(crowd.scored.facts, crowd.scored.ratings, crowd.rules, ranks=3)
    _, established = noise_floors(crowd.rules)
    for rank, band in enumerate(bands, start=1):
        assert band.rank_low <= rank <= band.rank_high
        assert band.high - band.low == pytest.approx(2 * established.width)
    assert [band.rating for band in bands] == sorted((band.rating for band in bands), reverse=True)
    assert bands[1].rank_high > 5
