"""The detectors: power and false alarms at small sizes; ``make test-all`` measures them in full.

``agon attack detectors arena`` prints the figures of the rulebook.
"""

import numpy as np
import pytest

from agon.attacks.arena.judges import FINDS, JudgeCase, judge_power
from agon.disciplines.arena.checks.detectors import favorite_bot, literal_power, low_agreement
from agon.disciplines.arena.history import others_consensus
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.simulation.behaviors import draw_votes
from agon.kernel.tails import beta_binomial_lower_tails, binomial_tail, mixed_binomial_tail
from sizes import ALL, size

RULES = ArenaRules(detector_false_alarms=0.01)
"""As the hardened edition states it."""

REPEATS = 300 if ALL else 10


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("case", "power"),
    [
        (JudgeCase("low-agreement", "coin flip", 200), 0.85),
        (JudgeCase("low-agreement", "always wrong", 50), 0.99),
        (JudgeCase("favorite-bot", "always for one bot", 20), 0.95),
    ],
)
def test_dishonest_judges_are_detected(case: JudgeCase, power: float) -> None:
    """Measured over 250 worlds: .89, 1.00 and 1.00, at .1 to .8 % false alarms."""
    share, alarms = judge_power(case, worlds=REPEATS)
    assert share >= (power if ALL else power - 0.1)
    assert alarms <= (0.01 if ALL else 0.02)


@pytest.mark.sample(1)
@pytest.mark.parametrize("code", FINDS)
def test_honest_specialists_are_not_detected(code: str) -> None:
    """A judge who only sees the strongest bot votes for it often, as the others do."""
    share, alarms = judge_power(JudgeCase(code, "specialist", 100), worlds=REPEATS)
    assert share <= (0.015 if ALL else 0.1)  # 0.01 within the error of 300 worlds
    assert alarms <= (0.01 if ALL else 0.02)


def test_a_ring_of_five_is_detected_after_ten_exposures_each() -> None:
    """Measured over 60 worlds: .99 of its judges, .92 of them without the rule for groups."""
    share, alarms = judge_power(
        JudgeCase("favorite-bot", "always for one bot", 10, ring=5), worlds=size(60, at_least=4)
    )
    assert share >= (0.95 if ALL else 0.8)
    assert alarms <= (0.01 if ALL else 0.02)


def test_the_literal_rule_is_blind_among_many_bots() -> None:
    """More than 10 of 50 votes, against a judge always for one bot: .998, .42, .009, 4e-6."""
    powers = [literal_power(bots, votes=50, above=10) for bots in (5, 10, 20, 50)]
    assert powers == pytest.approx([0.998, 0.416, 0.0094, 3.7e-6], rel=0.05)


def test_findings_state_threshold_literal_power_and_votes() -> None:
    """An organizer reads what the finding compares, and how far the seed's own rule would see."""
    facts = draw_votes("always for one bot", votes=20, bots=50, seed=1)
    (favorite,) = favorite_bot(facts, RULES)
    assert "at most 1.0% of honest judges" in favorite.message
    assert "always for one of 50 bots with probability 3.7e-06" in favorite.message
    assert favorite.value == favorite.records[0].count == 20
    facts = draw_votes("always wrong", votes=50, seed=1)
    (low,) = low_agreement(facts, RULES)
    assert "at most 1.0% of honest judges" in low.message
    agreed, decided = (int(word) for word in low.message.split() if word.isdigit())
    assert low.value == pytest.approx(agreed / decided, abs=1e-6)
    assert low.records[0].count == decided - agreed


def test_the_detectors_do_not_run_where_no_edition_states_them() -> None:
    """Released editions keep their findings."""
    facts = draw_votes("always wrong", votes=50, seed=1)
    assert [*low_agreement(facts, ArenaRules()), *favorite_bot(facts, ArenaRules())] == []


def test_the_others_consensus_is_that_of_the_votes_without_the_own_one() -> None:
    """Compared with counting, over all votes of a world."""
    facts = draw_votes("honest", votes=50, judges=5, seed=1)
    votes, others = facts.votes, others_consensus(facts)
    for number in range(0, len(votes), 7):
        rest = votes.side[(votes.match == votes.match[number])
                          & (votes.judge != votes.judge[number])].tolist()  # fmt: skip
        expected = rest[0] if len(set(rest)) == 1 else -1
        assert others[number] == expected


def test_tails_agree_with_a_simulation() -> None:
    """Sums of binomials, and binomials of a drawn chance, against a million draws."""
    dice = np.random.default_rng(1)
    chance = dice.beta(3, 1.5, 10**6)  # mean 2/3, variance 2/3 × 1/3 / 5.5
    draws = dice.binomial(9, chance)
    tails = beta_binomial_lower_tails(
        [2, 5, 9], trials=[9, 9, 9], mean=2 / 3, deviation=(2 / 9 / 5.5) ** 0.5
    )
    assert tails == pytest.approx([(draws <= k).mean() for k in (2, 5, 9)], abs=2e-3)
    total = dice.binomial(4, 0.3, 10**6) + dice.binomial(3, 0.8, 10**6)
    mixed = [mixed_binomial_tail(k, trials=[4, 3], chances=[0.3, 0.8]) for k in (0, 4, 7)]
    assert mixed == pytest.approx([(total >= k).mean() for k in (0, 4, 7)], abs=2e-3)
    assert mixed_binomial_tail(3, trials=[5], chances=[0.4]) == pytest.approx(
        binomial_tail(3, trials=5, chance=0.4)
    )
    with pytest.raises(ValueError, match="variance between 0 and"):
        beta_binomial_lower_tails([1], trials=[2], mean=0.5, deviation=0.5)
