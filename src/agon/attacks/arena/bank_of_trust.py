"""Judges vote honestly for days, and then spend their credibility on wrong votes for one bot.

The more is saved up, the more wrong votes it pays for before the judge leaves the pool.
"""

from agon.attacks.arena.season import Conduct, Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Open the accounts on the first day; turn on the day of the plan."""
    if season.is_first:
        for _ in range(int(plan["judges"])):
            season.join()
    if season.day == int(plan["day"]):
        for judge in season.accounts[1:]:
            season.conduct[judge] = Conduct(favored=(season.attacker_bot,), otherwise="wrong")


STRATEGY = Strategy(
    name="bank-of-trust",
    description=__doc__,
    source="Dellarocas, Reputation Mechanisms (2006), on milking a reputation",
    controls="further accounts whose bots judge",
    knows="the published rules; the answers of the own bot",
    goal="top-10%",
    plans=tuple({"judges": judges, "day": 7} for judges in (2, 4, 8, 16)),
    act=act,
)
