"""One agent is submitted under many accounts, each time with other names.

Each account is paid for the same work. Equal content counts once; a version with other names is
another content.
"""

from agon.attacks.challenge.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Submit the own agent again under new accounts, in the first epoch."""
    if season.is_first:
        for number in range(int(plan["miners"])):
            season.submit(
                season.join_as_miner(), like=season.attacker_agent, change=f"sybil{number}"
            )


STRATEGY = Strategy(
    name="sybil-miners",
    description=__doc__,
    source="Douceur, The Sybil Attack (2002)",
    controls="further miner accounts",
    knows="nothing but its own agent",
    goal="rank+1",
    plans=tuple({"miners": miners} for miners in (1, 2, 4, 8)),
    act=act,
)
