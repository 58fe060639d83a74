"""Further accounts dislike prompts of other users.

User scores count likes alone, so that a dislike takes no user score away. The contributor board,
where dislikes subtract, is not attacked here.
"""

from agon.attacks.community.season import Season, product
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Dislike some prompts of others with each further account."""
    puppets = int(plan["puppets"])
    season.join(puppets)
    accounts = [season.account(number) for number in range(puppets)]
    prompts = season.others_prompts(int(plan["prompts"]))
    for account, prompt in season.today(product(accounts, prompts)):
        season.rate(account, [prompt], opinion="negative")


STRATEGY = Strategy(
    name="bad-mouthing",
    description=__doc__,
    source="Dellarocas, Immunizing Online Reputation Reporting Systems (2000)",
    controls="further accounts",
    knows="the ids of prompts",
    goal="rank+1",
    plans=({"puppets": 5, "prompts": 100},),
    act=act,
)
