"""Accounts of one person stand in a circle, and each likes the prompts of the next few.

No account is a mere fan: each has prompts of its own, and gives feedback to several others. All
of them rise.
"""

from agon.attacks.community.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Write a few prompts with each account; like those of the next accounts in the circle."""
    members, prompts = int(plan["members"]), int(plan["prompts"])
    season.join(members - 1)
    ring = [season.own, *(season.account(number) for number in range(members - 1))]
    if season.day == 1:
        for number in range(members * prompts):
            season.write(ring[number // prompts], number)
    likes = [
        (ring[at], season.prompt((at + step) % members * prompts + number))
        for at in range(members)
        for step in range(1, season.rules.min_positive_feedbacks + 1)
        for number in range(prompts)
    ]
    for account, prompt in season.today(likes):
        season.rate(account, [prompt])


STRATEGY = Strategy(
    name="reciprocal-ring",
    description=__doc__,
    source="seed 000, Quality Prompts: a like counts without regard to who gives it",
    controls="further accounts, each with prompts",
    knows="the published rules",
    goal="rank+1",
    plans=tuple(
        {"members": members, "prompts": prompts}
        for members, prompts in ((4, 3), (5, 5), (6, 10), (6, 20), (6, 40))
    ),
    act=act,
)
"""The strategy."""
