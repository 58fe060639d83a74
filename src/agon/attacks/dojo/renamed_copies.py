"""Other solvers give the attacker their programs, which it submits with other names.

Without comments and with short names a copy is shorter than its original, so that it gets a larger
bonus for brevity.
"""

import ast
import builtins
from itertools import islice

from agon.attacks.dojo.season import Season
from agon.attacks.dojo.source_sharing import SOLVERS
from agon.attacks.strategy import Plan, Strategy

_KEPT = {*dir(builtins), "solver"}


def act(season: Season, plan: Plan) -> None:
    """Submit a renamed copy for each problem that is not solved."""
    if season.day == 1:
        for problem in islice(season.open_problems(), int(plan["problems"])):
            for user in season.solvers(SOLVERS):
                if program := season.program_of(user, problem):
                    season.submit(problem, rename(program.source), tag=program.tag)
                    break


def rename(source: str) -> str:
    r"""Return a program whose variables have other names, without comments.

    Example:
        >>> rename("def solver():\n    total = 1  # begin\n    return [total] * 200\n")
        'def solver():\n    v0 = 1\n    return [v0] * 200\n'
    """
    tree = ast.parse(source)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    stored = [node.id for node in nodes if isinstance(node.ctx, ast.Store)]
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    changeable = dict.fromkeys(name for name in stored if name not in _KEPT | parameters)
    names = {name: f"v{number}" for number, name in enumerate(changeable)}
    for node in nodes:
        node.id = names.get(node.id, node.id)
    return ast.unparse(tree) + "\n"


STRATEGY = Strategy(
    name="renamed-copies",
    description=__doc__,
    source="document 002, 7: repeated sources; Schleimer et al., Winnowing, SIGMOD 2003",
    controls="the programs of other solvers",
    knows="that equal sources are reported",
    goal="rank+1",
    plans=tuple({"problems": problems} for problems in (1, 2, 3, 5, 10, 30)),
    act=act,
)
