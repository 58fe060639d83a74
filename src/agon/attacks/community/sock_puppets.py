"""Further accounts of one person like each of its prompts.

The h-index grows with the square: h prompts with h likes each need h accounts and are worth
h² × 2 points, besides those of each quality prompt. Likes are given over a week, so that there is
no burst.
"""

from agon.attacks.community.season import Season, product
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Write as many prompts as there are puppets; each puppet likes all of them."""
    puppets = int(plan["puppets"])
    season.join(puppets)
    prompts = [season.prompt(number) for number in range(puppets)]
    if season.day == 1:
        for number in range(puppets):
            season.write(season.own, number)
    accounts = [season.account(number) for number in range(puppets)]
    for account, prompt in season.today(product(accounts, prompts)):
        season.rate(account, [prompt])


STRATEGY = Strategy(
    name="sock-puppets",
    description=__doc__,
    source="Douceur, The Sybil Attack (2002); seed 000, H-Index Bonus",
    controls="further accounts",
    knows="the published rules",
    goal="rank+1",
    plans=tuple({"puppets": puppets} for puppets in (3, 5, 8, 12, 20, 30, 50)),
    act=act,
)
"""The strategy."""
