"""A bot fails to answer where it expects to lose.

Where a match without an answer is void, it keeps its wins. The share is that of all losses which
it sees coming, for example by the prompt; half of them is more than a bot can know.
"""

from agon.attacks.arena.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Answer only a part of what would be lost, from the first day."""
    season.forfeits[season.attacker_bot] = plan["share"]


STRATEGY = Strategy(
    name="void-dodging",
    description=__doc__,
    source="spec attack, Catalogue; spec arena-live, A round, step by step (forfeit)",
    controls="the own bot",
    knows="the prompt, and some of what it cannot answer",
    goal="top-10%",
    plans=tuple({"share": share} for share in (0.05, 0.1, 0.2, 0.35, 0.5)),
    act=act,
)
