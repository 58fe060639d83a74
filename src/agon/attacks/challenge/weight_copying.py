"""A validator runs no task and reports what another one reported the epoch before.

It is paid for its stake and saves the work. To hide, it moves a part of the numbers by as much as
one task, so that they are no longer equal.
"""

import numpy as np

from agon.attacks.challenge.season import Season
from agon.attacks.challenge.validators import join
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines.challenge.simulate import TASKS


def act(season: Season, plan: Plan) -> None:
    """Join in the first epoch; in every epoch repeat the victim's public reports."""
    if season.is_first:
        join(season, identities=1, share=0.1)
    copied = season.reports[int(season.stakes.argmax())]
    public = np.flatnonzero(~np.isnan(copied))
    steps = season.dice.choice([-1, 1], len(public)) / TASKS
    moved = season.dice.random(len(public)) < plan["moved"]
    scores = np.clip(copied[public] + np.where(moved, steps, 0.0), 0.0, 1.0)
    season.report(season.validators[0]["id"], public, scores)


STRATEGY = Strategy(
    name="weight-copying",
    description=__doc__,
    source="Opentensor Foundation, Weight Copying in Bittensor (2024)",
    controls="one validator with a tenth of the stake",
    knows="the reports of the epoch before",
    goal="unnoticed",
    plans=tuple({"moved": moved} for moved in (0.0, 0.5, 1.0)),
    act=act,
)
