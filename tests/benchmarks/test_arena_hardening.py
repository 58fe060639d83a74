"""The hardened edition: what it makes of attackers and of honest judges, at small sizes.

``python benchmarks/arena_hardening.py`` prints the figures of the rulebook, with the ablation.
"""

import pytest
from benchmarks.arena_hardening import (
    dodging_gain,
    rank_correlation,
    share_below,
    wrong_votes_bought,
)

from agon.disciplines.arena.rules import ArenaRules
from agon.editions import edition
from sizes import ALL

WORLDS = 200 if ALL else 10


def rules_of(name: str) -> ArenaRules:
    """Return the rules of an edition."""
    rules = edition(name).rules
    assert isinstance(rules, ArenaRules)
    return rules


LITERAL, HARDENED = rules_of("arena/sentience-1"), rules_of("arena/hardened-1")


def test_a_coin_that_passes_honeypots_leaves_the_pool_under_the_hardened_edition() -> None:
    """At least .8 after 500 votes; none under the literal edition, where a coin gains."""
    assert share_below("coin flip", votes=500, rules=HARDENED, worlds=WORLDS) >= (
        0.8 if ALL else 0.6
    )
    assert share_below("coin flip", votes=500, rules=LITERAL, worlds=WORLDS) <= 0.1


def test_honest_judges_stay_under_the_hardened_edition() -> None:
    """At most .01 below 50 after 1,000 votes."""
    worlds = 1000 if ALL else 15
    assert share_below("honest", votes=1000, rules=HARDENED, worlds=worlds) <= 0.01


def test_a_thousand_honest_votes_buy_few_wrong_ones() -> None:
    """At most 120; under the literal edition about a thousand."""
    worlds = 40 if ALL else 3
    assert wrong_votes_bought(saved=1000, rules=HARDENED, worlds=worlds) <= 120
    assert wrong_votes_bought(saved=1000, rules=LITERAL, worlds=worlds) >= 600


def test_not_answering_half_of_the_losses_gains_nothing_under_the_hardened_edition() -> None:
    """At most 10 points, where the literal edition gives about 90."""
    assert dodging_gain(rules=HARDENED, worlds=3) <= 10
    assert dodging_gain(rules=LITERAL, worlds=3) >= 40


def test_both_editions_rank_bots_equally_where_there_is_no_attacker() -> None:
    """Spearman at least .98: no rule of the hardened edition changes a rated match."""
    assert rank_correlation("bots", LITERAL, HARDENED, worlds=2) >= 0.98


@pytest.mark.parametrize(
    ("rules", "harm"),
    [
        ({"credibility_consensus": "all"}, "coins stay"),
        ({"credibility_ceiling": None}, "wrong votes are bought"),
        ({"forfeit": "void"}, "losses are avoided"),
    ],
)
def test_every_change_is_needed(rules: dict[str, object], harm: str) -> None:
    """Without it, one of the holes is open again."""
    without = HARDENED.override(rules)
    if harm == "coins stay":
        assert share_below("coin flip", votes=500, rules=without, worlds=WORLDS) <= 0.3
    elif harm == "wrong votes are bought":
        assert wrong_votes_bought(saved=1000, rules=without, worlds=3) > 120
    else:
        assert dodging_gain(rules=without, worlds=3) > 10
