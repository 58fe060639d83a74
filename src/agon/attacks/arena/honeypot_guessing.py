"""A judge tosses a coin where honeypots show texts that no one could see before.

It does what honeypot-learning does, and recognizes the share of honeypots that an arena with texts
of its own is measured by: one in ten. With the other nine it tosses its coin.
"""

from agon.attacks.arena.season import Conduct, Season
from agon.attacks.strategy import Plan, Strategy

RECOGNIZED = 0.1
"""Share of the texts of a bank that a judge recognizes at most (issue 30)."""


def act(season: Season, plan: Plan) -> None:
    """Toss a coin in a share of the matches, from the first day."""
    season.conduct[season.attacker_bot] = Conduct(
        otherwise="coin", share=plan["share"], passes=RECOGNIZED
    )


STRATEGY = Strategy(
    name="honeypot-guessing",
    description=__doc__,
    source="Checco et al., Adversarial Attacks on Crowdsourcing Quality Control (JAIR 2020)",
    controls="the own judge",
    knows="the templates of honeypots, which the arena does not show",
    goal="unnoticed",
    plans=tuple({"share": share} for share in (1.0, 0.75, 0.5, 0.25)),
    act=act,
)
