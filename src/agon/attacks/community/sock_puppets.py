"""Further accounts of one person like each of its prompts.

The h-index grows with the square: h prompts with h likes each need h accounts and are worth
h² × 2 points, besides those of each quality prompt. Likes are given over a week, so that there is
no burst.
"""

from agon.attacks.community.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Write some prompts, each with as many likes of puppets as there are prompts."""
    index = int(plan["puppets"])
    season.write_liked(index, likes=index)


STRATEGY = Strategy(
    name="sock-puppets",
    description=__doc__,
    source="Douceur, The Sybil Attack (2002); document 000, H-Index Bonus",
    controls="further accounts",
    knows="the published rules",
    goal="rank+1",
    plans=tuple({"puppets": puppets} for puppets in (1, 2, 3, 5, 8, 12, 20, 30, 50)),
    act=act,
)
