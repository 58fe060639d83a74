"""An organization of one's own affiliates its founder.

The bonus is paid once; a user who has an affiliation gains nothing.
"""

from agon.attacks.community.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Affiliate the own account on the first day."""
    if season.day == 1:
        for _ in range(int(plan["affiliations"])):
            season.affiliate(season.attacker_id)


STRATEGY = Strategy(
    name="affiliation-mill",
    description=__doc__,
    source="document 000, Affiliation Bonus: 50 points for any organization",
    controls="an organization",
    knows="the published rules",
    goal="rank+1",
    plans=({"affiliations": 1},),
    act=act,
)
