"""The attacker submits its program under every common tag before others do.

Only the first submission of a tag gets the bonus: one user with all tags of a problem takes it from
those who solve the problem later by the method that a tag names.
"""

from itertools import islice
from typing import get_args

from agon.attacks.dojo.season import Season
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines.dojo.classifier import Tag


def act(season: Season, plan: Plan) -> None:
    """Submit each solved program under all tags at the beginning."""
    if season.day == 1:
        for problem, program in islice(season.own_programs(), int(plan["problems"])):
            for tag in get_args(Tag):
                season.submit(problem, program.source, tag=tag)


STRATEGY = Strategy(
    name="resubmission-races",
    description=__doc__,
    source="document 002, 6.2: the first of a tag",
    controls="own correct programs",
    knows="the common tags",
    goal="rank+1",
    plans=tuple({"problems": problems} for problems in (1, 3, 10, 60)),
    act=act,
)
