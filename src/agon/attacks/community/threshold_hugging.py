"""The bonus for quality gives the cheapest points: a like more earns nothing."""

from agon.attacks.community.season import Season
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines.community.attackers import ATTACKS


def act(season: Season, plan: Plan) -> None:
    """Write the prompts that the bonus needs; buy the likes that each needs."""
    prompts = int(season.rules.min_quality_prompts * plan["times"])
    season.write_liked(prompts, likes=int(season.rules.min_positive_feedbacks))


STRATEGY = Strategy(
    name="threshold-hugging",
    description=f"An attacker {ATTACKS['threshold-hugging']}.\n\n{__doc__}",
    source="document 000, Quality Prompts Bonus: a step at three prompts with three likes",
    controls="as many accounts as likes are needed",
    knows="the published thresholds",
    goal="rank+1",
    plans=({"times": 1},),
    act=act,
)
