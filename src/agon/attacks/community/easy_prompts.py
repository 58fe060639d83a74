"""Many easy prompts, each with just the likes that make it a quality prompt.

Each is worth 5 points without a limit, whether a model fails on it or not.
"""

from agon.attacks.community.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Write a flood of prompts on the first day; accounts like each within the week."""
    season.write_liked(int(plan["prompts"]), likes=int(season.rules.min_positive_feedbacks))


STRATEGY = Strategy(
    name="easy-prompts",
    description=__doc__,
    source="document 000, Quality Prompts: count × 5 has no ceiling",
    controls="as many accounts as likes are needed",
    knows="the published thresholds",
    goal="rank+1",
    plans=tuple({"prompts": prompts} for prompts in (1, 3, 10, 30, 100, 300, 1000)),
    act=act,
)
