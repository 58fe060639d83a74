"""One program plays under many accounts, and the account with the highest rating counts.

Ratings vary by chance; the best of several is above the mean. Nobody votes otherwise.
"""

from agon.attacks.arena.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Open the accounts on the first day."""
    if season.is_first:
        for _ in range(int(plan["clones"])):
            season.join()


STRATEGY = Strategy(
    name="best-of-clones",
    description=__doc__,
    source="Singh et al., The Leaderboard Illusion (2025)",
    controls="further accounts with the same bot",
    knows="nothing but its own bot",
    goal="top-10%",
    plans=tuple({"clones": clones} for clones in (1, 4, 9, 26)),
    act=act,
)
