"""Judges vote for one bot, and against the bots just above it in every other match.

A vote counts also where the favored bot does not play: a rival that loses comes nearer.
"""

from agon.attacks.arena.season import Conduct, Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Open the accounts on the first day; each day oppose the next rivals on the public board."""
    if season.is_first:
        for _ in range(int(plan["judges"])):
            season.join()
    conduct = Conduct(favored=(season.attacker_bot,), opposed=season.rivals(int(plan["rivals"])),
                      recognized=0.9)  # fmt: skip
    for judge in season.accounts[1:]:
        season.conduct[judge] = conduct


STRATEGY = Strategy(
    name="omnipresent-rigging",
    description=__doc__,
    source="Min et al., Improving Your Model Ranking on Chatbot Arena by Vote Rigging (2025)",
    controls="further accounts whose bots judge; a classifier that knows nine answers in ten",
    knows="the published rules; the board of the day before",
    goal="top-10%",
    plans=tuple({"judges": judges, "rivals": 8} for judges in (1, 2, 4, 8, 16, 32)),
    act=act,
)
