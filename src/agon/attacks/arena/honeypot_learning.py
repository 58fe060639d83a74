"""A judge tosses a coin and recognizes honeypots by their wording.

It saves the work of judging and stays in the pool: honeypots are the only answers that it reads.
"""

from agon.attacks.arena.season import Conduct, Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Toss a coin in a share of the matches, from the first day."""
    season.conduct[season.attacker_bot] = Conduct(otherwise="coin", share=plan["share"])


STRATEGY = Strategy(
    name="honeypot-learning",
    description=__doc__,
    source="Checco et al., Adversarial Attacks on Crowdsourcing Quality Control (JAIR 2020)",
    controls="the own judge",
    knows="the templates of honeypots",
    goal="unnoticed",
    plans=tuple({"share": share} for share in (1.0, 0.75, 0.5, 0.25)),
    act=act,
)
