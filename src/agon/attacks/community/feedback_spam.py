"""One account rates everything, for the points of activity.

Half a point for each feedback has no ceiling, and prompts of five creators in three benchmarks
earn two bonuses. Clicks are spread over a week, half a minute apart.
"""

from agon.attacks.community.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Like prompts of other users, and responses beyond a day's limit, spread over the records."""
    count, most = int(plan["feedbacks"]), season.rules.daily_feedbacks
    season.rate(season.attacker_id, season.today(season.others_prompts(count)))
    if most and season.rules.feedback_targets == "all":
        season.rate(
            season.attacker_id, season.today(season.others_responses(count)), table="response"
        )


STRATEGY = Strategy(
    name="feedback-spam",
    description=__doc__,
    source="document 000, Feedback Activity: count × 0.5 has no ceiling",
    controls="nothing but its account",
    knows="the ids of prompts and responses",
    goal="rank+1",
    plans=tuple({"feedbacks": count} for count in (1, 3, 10, 30, 100, 300, 1000, 3000)),
    act=act,
)
