"""Many accounts judge without reading, and vote for one bot whenever it plays.

They toss a coin elsewhere, so that each costs no work; they recognize honeypots by their wording.
"""

from agon.attacks.arena.season import Conduct, Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Open the accounts on the first day."""
    if season.is_first:
        for _ in range(int(plan["judges"])):
            season.conduct[season.join()] = Conduct(
                favored=(season.attacker_bot,), otherwise="coin"
            )


STRATEGY = Strategy(
    name="sybil-judges",
    description=__doc__,
    source="Douceur, The Sybil Attack (2002)",
    controls="further accounts whose bots judge",
    knows="the templates of honeypots; the answers of the own bot",
    goal="top-10%",
    plans=tuple({"judges": judges} for judges in (1, 2, 4, 8, 16, 32)),
    act=act,
)
