"""A judge votes for the worse answer in some matches, where audits seldom reach it.

An audit strikes only who voted with a consensus that it rejects; who votes against the consensus
loses one point at most. The share is as large as credibility allows.
"""

from agon.attacks.arena.season import Conduct, Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Vote wrong in a share of the matches, from the first day."""
    season.conduct[season.attacker_bot] = Conduct(otherwise="wrong", share=plan["share"])


STRATEGY = Strategy(
    name="audit-fishing",
    description=__doc__,
    source="spec attack, Catalogue; document 003, The Audit System",
    controls="the own judge",
    knows="the published rules",
    goal="unnoticed",
    plans=tuple({"share": share} for share in (1.0, 0.5, 0.25, 0.1)),
    act=act,
)
