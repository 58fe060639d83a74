"""Judges vote for one bot whenever it plays, and honestly otherwise.

Each judge is another account, because an owner's judge never judges its own bot.
"""

from agon.attacks.arena.season import Conduct, Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Open the accounts on the first day; from then on they vote for the own bot."""
    if season.is_first:
        for _ in range(int(plan["judges"])):
            season.conduct[season.join()] = Conduct(favored=(season.attacker_bot,))


STRATEGY = Strategy(
    name="target-rigging",
    description=__doc__,
    source="Min et al., Improving Your Model Ranking on Chatbot Arena by Vote Rigging (2025)",
    controls="further accounts whose bots judge",
    knows="the published rules; the answers of the own bot",
    goal="top-10%",
    plans=tuple({"judges": judges} for judges in (1, 2, 4, 8, 16, 32)),
    act=act,
)
