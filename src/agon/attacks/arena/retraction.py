"""Versions of a bot are tried in private accounts, and all but the best are withdrawn.

Only one account is left on the day the board counts, with the luck of the best of several.
"""

from agon.attacks.arena.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Open the accounts on the first day; withdraw on the day of the plan."""
    if season.is_first:
        for _ in range(int(plan["versions"])):
            season.join()
    if season.day == int(plan["day"]):
        best = season.best()
        for bot in season.accounts:
            if bot != best:
                season.withdraw(bot)


STRATEGY = Strategy(
    name="retraction",
    description=__doc__,
    source="Singh et al., The Leaderboard Illusion (2025)",
    controls="further accounts with versions of one bot",
    knows="the board of the day before",
    goal="top-10%",
    plans=tuple({"versions": versions, "day": 10} for versions in (1, 4, 9, 26)),
    act=act,
)
