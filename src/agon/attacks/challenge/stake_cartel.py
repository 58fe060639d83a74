"""As many validators as the honest ones, with bought stake, report 1 for one miner.

Half of the identities stretch the spread of the reports so far that no report is an outlier; the
stake behind them then moves the mean. They report the public median of everything else.
"""

from agon.attacks.challenge.season import Season
from agon.attacks.challenge.validators import agree, join, majority, near
from agon.attacks.strategy import Plan, Strategy

TOP = 0.98
"""About what they report; each a few tasks more or less, so that none is a copy."""


def act(season: Season, plan: Plan) -> None:
    """Join in the first epoch; report 1 for the own agent once it has public reports."""
    if season.is_first:
        join(season, identities=majority(season) - 1, share=plan["share"])
    validators = [row["id"] for row in season.validators]
    agree(season, validators, but=[season.attacker_agent])
    for validator in validators:
        season.report(validator, [season.attacker_agent], near(season, TOP))


STRATEGY = Strategy(
    name="stake-cartel",
    description=__doc__,
    source="opentensor/subtensor, docs/consensus.md: a cartel of validators by stake",
    controls="as many validators as there are honest ones, and a share of the stake",
    knows="the published rules; the reports of the epoch before",
    goal="rank+1",
    plans=tuple({"share": share} for share in (0.05, 0.1, 0.2, 0.35, 0.5, 0.66)),
    act=act,
)
