"""One validator with much stake reports its own miner as high as passes unflagged.

The bound of the outlier test can be computed from the public reports; a report just inside it
counts in full, with all of the validator's stake.
"""

from agon.attacks.challenge.season import Season
from agon.attacks.challenge.validators import agree, highest_unflagged, join
from agon.attacks.strategy import Plan, Strategy

MARGIN = 0.01
"""Distance from the bound, because the others' reports of this epoch are not public yet."""


def act(season: Season, plan: Plan) -> None:
    """Join in the first epoch; push the own agent once it has public reports."""
    if season.is_first:
        join(season, identities=1, share=plan["share"])
    validator = season.validators[0]["id"]
    agree(season, [validator], but=[season.attacker_agent])
    estimate = season.estimates[season.attacker_agent]
    if estimate == estimate:  # noqa: PLR0124 - it is a number once reports are public
        score = max(estimate, highest_unflagged(season, season.attacker_agent) - MARGIN)
        season.report(validator, [season.attacker_agent], score)


STRATEGY = Strategy(
    name="outlier-push",
    description=__doc__,
    source="document 001, Outlier Threshold: 3.5 MADs pass",
    controls="one validator with a share of the stake",
    knows="the published rules; the reports of the epoch before",
    goal="rank+1",
    plans=tuple({"share": share} for share in (0.05, 0.1, 0.2, 0.31, 0.45)),
    act=act,
)
