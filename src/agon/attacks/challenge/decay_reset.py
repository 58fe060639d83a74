"""One validator pushes the best agent of a stale competition over the improvement threshold.

Nobody submits anything better, and the burn grows. A report inside the outlier bound raises the
mean of the best agent by the threshold. Where any agent may end the decay (``improvement_by``), it
ends for all miners, the attacker's included, without any progress.
"""

from agon.attacks.challenge.season import Season
from agon.attacks.challenge.validators import highest_unflagged, join
from agon.attacks.strategy import Plan, Strategy

WAIT = 20
"""Epochs without an honest submission: the grace of 10, and a burn of 50 %."""


def act(season: Season, plan: Plan) -> None:
    """Wait; in the last epoch but one join, and push the best public agents of the others."""
    if season.now < season.end - 1:
        return
    if not season.validators:
        join(season, identities=1, share=plan["share"])
    best = season.rivals[: int(plan["agents"])].tolist()
    for submission in best:
        score = highest_unflagged(season, submission)
        season.report(season.validators[0]["id"], [submission], score)


STRATEGY = Strategy(
    name="decay-reset",
    description=__doc__,
    source="document 001, Decay Reset and Outlier Threshold",
    controls="one validator with a share of the stake",
    knows="the published rules; the reports of the epoch before",
    goal="share",
    plans=tuple({"share": share, "agents": 3} for share in (0.05, 0.1, 0.2, 0.31, 0.45)),
    act=act,
    wait=WAIT,
)
