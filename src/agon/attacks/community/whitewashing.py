"""A user leaves an account with a bad name, and begins again with a fresh one.

The new account has no history, so nothing counts against it. Its prompts are liked by further
accounts until it stands above the old one: the price is that of a clean name.
"""

from agon.attacks.community.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Write prompts with the fresh account alone; further accounts like them."""
    index = int(plan["likes"])
    season.join(1 + season.likers(index, index))
    if season.day == 1:
        for number in range(index):
            season.write(season.account(0), number)
    for account, prompt in season.today(season.likes(index, index, opinion=1)):
        season.rate(account, [prompt])


STRATEGY = Strategy(
    name="whitewashing",
    description=__doc__,
    source="Friedman and Resnick, The Social Cost of Cheap Pseudonyms (2001)",
    controls="a fresh account, and further ones that like its prompts",
    knows="the published rules",
    goal="rank+1",
    plans=tuple({"likes": count} for count in (1, 2, 3, 5, 8, 12, 16, 20, 30, 50)),
    act=act,
)
