"""A befriended judge recognizes a bot by its style, now and then, and votes for it.

No secret sign is needed: who knows the prompts and other answers of the bot can guess. The less
often it guesses right, the less it looks like rigging.
"""

from agon.attacks.arena.season import Conduct, Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Open one account on the first day."""
    if season.is_first:
        for _ in range(int(plan["judges"])):
            season.conduct[season.join()] = Conduct(
                favored=(season.attacker_bot,), recognized=plan["recognized"]
            )


STRATEGY = Strategy(
    name="style-recognition",
    description=__doc__,
    source="Huang et al., Exploring and Mitigating Adversarial Manipulation of Voting-Based "
    "Leaderboards (2025)",
    controls="accounts of friends whose bots judge",
    knows="other answers of the own bot",
    goal="top-10%",
    plans=tuple(
        {"judges": judges, "recognized": recognized}
        for judges in (1, 4, 16)
        for recognized in (0.5, 0.9)
    ),
    act=act,
)
