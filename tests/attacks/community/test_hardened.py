"""Each rule of ``community/hardened-1`` makes attacks dearer that no other one does."""

from functools import cache, partial
from typing import Any

import pytest

from agon.attacks.catalog import lab_of
from agon.attacks.runner import select
from agon.disciplines import discipline
from agon.editions import edition
from agon.kernel.statistics import spearman
from agon.records import read_rows
from attacks.worlds import world_of

LAB = lab_of("community")
COMMUNITY = discipline("community")

honest_world = partial(world_of, "community", size=30)
LITERAL, HARDENED = (edition(f"community/{name}").rules for name in ("scores0002-1", "hardened-1"))
PLANS = {"easy-prompts": 2, "self-feedback": 2, "feedback-spam": 5, "collaboration-mill": 1}
"""A plan of each attack, by its place."""


@cache
def _effort(name: str, without: str | None) -> tuple[int, float]:
    """Return the number of accounts of a plan, and minus its points."""
    rules: Any = HARDENED
    if without is not None:
        rules = HARDENED.override({without: getattr(LITERAL, without)})
    strategy = select(LAB, [name])[0]
    played: Any = LAB.play(honest_world(), rules, strategy, strategy.plans[PLANS[name]], 0)
    with read_rows(COMMUNITY.schema, played.tables(played.epochs[-1])) as records:
        standing = played.standing(COMMUNITY.score(records, rules))
    return len(played.accounts), -standing.points


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("rule", "attack"),
    [
        ("likes_per_creator", "easy-prompts"),
        ("self_feedback", "self-feedback"),
        ("daily_feedbacks", "feedback-spam"),
        ("min_collaborator_prompts", "collaboration-mill"),
    ],
)
def test_each_rule_off_alone_makes_its_attack_cheaper(rule: str, attack: str) -> None:
    """It needs fewer accounts, or wins more points with as many."""
    assert _effort(attack, rule) < _effort(attack, None)


def test_no_other_rule_differs() -> None:
    """So that these and the finding are the whole difference."""
    names = type(HARDENED).model_fields
    differing = {name for name in names if getattr(HARDENED, name) != getattr(LITERAL, name)}
    assert differing == {
        "likes_per_creator", "self_feedback", "daily_feedbacks", "min_collaborator_prompts",
        "target_groups",
    }  # fmt: skip


@pytest.mark.exhaustive
def test_ranks_without_attackers_stay() -> None:
    """The rulebook states the correlation for larger communities."""
    with read_rows(COMMUNITY.schema, honest_world().tables) as records:
        scores = [
            {
                row["id"]: row["score"]
                for row in COMMUNITY.score(records, rules).board("user-score").rows()
            }
            for rules in (LITERAL, HARDENED)
        ]
    first = list(scores[0].values())
    second = [scores[1][name] for name in scores[0]]
    assert spearman(first, second, confidence=0.95).value >= 0.98
