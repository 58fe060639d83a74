"""More validators than the honest ones, with little stake, turn the honest reports into outliers.

Median and MAD count validators, not stake: a majority of identities that agree decides what is
an outlier, and the honest reports on its own agent are left out. What is left needs the least
share of stake (rule min_stake_fraction) to count, so that is the price; below it the agent has
no score (see dust-denial).
"""

from agon.attacks.challenge.season import Season
from agon.attacks.challenge.validators import agree, join, majority, near
from agon.attacks.strategy import Plan, Strategy

TOP = 0.98
"""About what they report; each a few tasks more or less, so that none is a copy."""


def act(season: Season, plan: Plan) -> None:
    """Join in the first epoch as a majority; report 1 for the own agent, the median else."""
    if season.is_first:
        join(season, identities=majority(season), share=plan["share"])
    validators = [row["id"] for row in season.validators]
    agree(season, validators, but=[season.attacker_agent])
    for validator in validators:
        season.report(validator, [season.attacker_agent], near(season, TOP))


STRATEGY = Strategy(
    name="dust-validators",
    description=__doc__,
    source="document 001, Median Absolute Deviation: counts validators, and not their stake",
    controls="one validator more than there are honest ones, and a share of the stake",
    knows="the published rules; the reports of the epoch before",
    goal="rank+1",
    plans=tuple({"share": share} for share in (0.01, 0.1, 0.2, 0.3, 0.31)),
    act=act,
)
