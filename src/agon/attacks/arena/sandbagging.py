"""A bot loses on purpose at first, is paired with weak bots, and then wins against them.

The K-factor is higher for a bot's first matches, so that it falls quickly; what it wins back later
comes from opponents that are weaker than it is.
"""

from agon.attacks.arena.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Play 600 points below the own strength for some days."""
    weak = season.day < plan["days"]
    season.offsets[season.attacker_bot] = -600.0 if weak else 0.0
    if weak:
        season.actions.append((season.day, "sandbagging", 1))


STRATEGY = Strategy(
    name="sandbagging",
    description=__doc__,
    source="Elo, The Rating of Chessplayers (1978), on rating manipulation; FIDE handbook B.02",
    controls="the own bot",
    knows="the published rules",
    goal="top-10%",
    plans=tuple({"days": days} for days in (1, 2, 4)),
    act=act,
)
