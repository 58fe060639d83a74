"""A miner submits the best public agent as its own: byte for byte, or with other names.

Equal content counts for its first miner only. A version with other names has another hash and is
paid as much as the original.
"""

from agon.attacks.challenge.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Copy the best agent with a public source in the first epoch."""
    if season.is_first:
        for best in season.disclosed[:1].tolist():
            season.submit(season.miners[0], like=best, change="copy", copy=not plan["renamed"])


STRATEGY = Strategy(
    name="duplicate-agents",
    description=__doc__,
    source="challenge, step 1: equal content_hash",
    controls="its own miner account",
    knows="the source of public agents",
    goal="rank+1",
    plans=({"renamed": 0}, {"renamed": 1}),
    act=act,
)
