"""The attacker submits a solved program again, under tags that it invents.

The first submission of each tag gets a bonus, and no rule asks what the tag means: the same program
with an invented tag is worth more than with the usual one. A second tag on a problem is worth
points to all who solved it.
"""

from itertools import islice

from agon.attacks.dojo.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Submit each solved program again on the first day."""
    if season.day == 1:
        for number, (problem, program) in enumerate(
            islice(season.own_programs(), int(plan["problems"]))
        ):
            season.submit(problem, program.source, tag=f"method of my own {number}")


STRATEGY = Strategy(
    name="tag-farming",
    description=__doc__,
    source="document 002, 6.3: tags may be gamed",
    controls="own correct programs",
    knows="the published bonus",
    goal="rank+1",
    plans=tuple({"problems": problems} for problems in (1, 2, 3, 5, 10, 20, 60)),
    act=act,
)
