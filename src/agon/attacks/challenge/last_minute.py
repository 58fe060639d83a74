"""In the last epoch a miner submits many versions of the best agent; the luckiest counts.

Nobody can answer any more. Each version is measured on other random tasks, and a miner's best
submission counts, so that the best of many passes the original by luck.
"""

from agon.attacks.challenge.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Submit versions of the best agent with a public source in the last epoch."""
    if season.is_last:
        for number in range(int(plan["versions"])):
            for best in season.disclosed[:1].tolist():
                season.submit(season.miners[0], like=best, change=f"version{number}")


STRATEGY = Strategy(
    name="last-minute",
    description=__doc__,
    source="Blum and Hardt, The Ladder (arXiv 1502.04585): the best of many submissions is luck",
    controls="its own miner account",
    knows="the source of public agents",
    goal="first",
    plans=tuple({"versions": versions} for versions in (1, 4, 16)),
    act=act,
)
