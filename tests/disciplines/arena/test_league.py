"""What must hold of a live arena, on a simulated league (spec arena live, What must hold)."""

from statistics import fmean

import pytest

from agon.disciplines.arena.simulation.population import characters_of
from disciplines.arena.league import League, normal_league, spearmans
from sizes import ALL, size


@pytest.fixture(scope="module")
def mixed() -> list[League]:
    """Play leagues with honest judges, liars and coin flippers: one, ten in full size."""
    characters = characters_of(honest=24, wrong=3, coin_flips=3)
    leagues = [
        normal_league(size(100), characters, seed=f"mixed {number}", pairing="spread")
        for number in range(10 if ALL else 1)
    ]
    for league in leagues:
        league.play_rounds(size(5_000, at_least=2_000))
    return leagues


@pytest.mark.sample(1)
@pytest.mark.parametrize("pairing", ["nearest", "spread"])
def test_honest_judges_rank_bots_by_their_strength(pairing: str) -> None:
    """Spearman of Elo at least .93, of Bradley–Terry .97; no honest judge leaves the pool.

    Measured with 100 bots, 30 judges and 5,000 matches: .979 and .992, with both pairings.
    """
    league = normal_league(size(100), characters_of(honest=30), seed="1", pairing=pairing)
    league.play_rounds(size(5_000))
    correlations = spearmans(league)
    assert correlations["bots"] >= 0.93
    assert correlations["bradley-terry"] >= 0.97
    assert league.inactive == set()


def test_dishonest_judges_leave_the_pool_and_honest_ones_stay(mixed: list[League]) -> None:
    """Measured over ten leagues: always wrong 1.00 after 100 votes, coin flips .83 after 200."""
    assert fmean(league.share_below("always wrong", votes=100) for league in mixed) >= 0.98
    flips = fmean(league.share_below("coin flip", votes=200) for league in mixed)
    assert flips >= (0.70 if ALL else 0.33)
    inactive = {league.characters[judge] for league in mixed for judge in league.inactive}
    assert inactive == {"always wrong", "coin flip"}


def test_a_league_played_round_by_round_scores_as_its_records_do(mixed: list[League]) -> None:
    """The state that panels were drawn from is the one that the records give."""
    league = mixed[0]
    scored = league.scored()
    ratings = {row["id"]: row["score"] for row in scored.board("bots").rows()}
    assert ratings == {f"b{n}": rating for n, rating in enumerate(league.ratings)}
    credibilities = {row["id"]: row["score"] for row in scored.board("judges").rows()}
    assert credibilities == {
        f"j{n}": credibility for n, credibility in enumerate(league.credibility) if league.voted[n]
    }
