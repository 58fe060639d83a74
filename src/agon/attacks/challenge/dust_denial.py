"""More validators than the honest ones, with dust as stake, take the score of rivals away.

A majority of identities reports nearly 0 for the rivals ahead: all honest reports on them are
outliers, and the stake that is left is too little for a score (rule min_stake_fraction), so they
are paid nothing. On its own agent it agrees with the others.
"""

from agon.attacks.challenge.season import Season
from agon.attacks.challenge.validators import agree, join, majority, near
from agon.attacks.strategy import Plan, Strategy

DUST = 0.001
"""The share of stake that all identities hold together."""

LOW = 0.02
"""About what they report of rivals; each a few tasks more or less, so that none is a copy."""


def act(season: Season, plan: Plan) -> None:
    """Join in the first epoch; report nearly 0 for the nearest rivals ahead."""
    if season.is_first:
        join(season, identities=majority(season), share=DUST)
    estimates = season.estimates
    own = estimates[season.attacker_agent]
    ahead = [index for index in season.rivals.tolist() if not estimates[index] < own]
    uids = list(dict.fromkeys(season.miner_of(index) for index in reversed(ahead)))
    chosen = set(uids[: int(plan["rivals"])])
    denied = [index for index in ahead if season.miner_of(index) in chosen]
    validators = [row["id"] for row in season.validators]
    agree(season, validators, but=denied)
    for validator in validators:
        season.report(validator, denied, [near(season, LOW) for _ in denied])


STRATEGY = Strategy(
    name="dust-denial",
    description=__doc__,
    source="document 001, Min Stake % after outliers are left out",
    controls="one validator more than there are honest ones, and a thousandth of the stake",
    knows="the published rules; the reports of the epoch before",
    goal="rank+1",
    plans=tuple({"rivals": rivals} for rivals in (1, 3, 10, 10_000)),
    act=act,
)
