"""Other solvers give the attacker their programs, which it submits as they are.

A group of which each member solves some problems together solves all of them.
"""

from itertools import islice

from agon.attacks.dojo.season import Season
from agon.attacks.strategy import Plan, Strategy

SOLVERS = 20
"""Solvers whom the attacker knows."""


def act(season: Season, plan: Plan) -> None:
    """Submit the first program that a solver has for each problem that is not solved."""
    if season.day == 1:
        for problem in islice(season.open_problems(), int(plan["problems"])):
            for user in season.solvers(SOLVERS):
                if program := season.program_of(user, problem):
                    season.submit(problem, program.source, tag=program.tag)
                    break


STRATEGY = Strategy(
    name="source-sharing",
    description=__doc__,
    source="document 002, 7: repeated sources",
    controls="the programs of other solvers",
    knows="who would share",
    goal="rank+1",
    plans=tuple({"problems": problems} for problems in (1, 2, 3, 5, 10, 30)),
    act=act,
)
