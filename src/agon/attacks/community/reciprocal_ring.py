"""All accounts of a circle rise.

No account is a mere fan: each has prompts of its own, and gives feedback to several others.
"""

from agon.attacks.community.season import Season
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines.community.attackers import ATTACKS


def act(season: Season, plan: Plan) -> None:
    """Write a few prompts with each account; like those of the next accounts in the circle."""
    prompts, likes = int(plan["prompts"]), int(season.rules.min_positive_feedbacks)
    givers = season.likers(prompts, likes)
    members = max(int(plan["members"]), givers + 1)
    season.join(members - 1)
    ring = [season.attacker_id, *(season.account(number) for number in range(members - 1))]
    if season.day == 1:
        for number in range(members * prompts):
            season.write(ring[number // prompts], number)
    pairs = [
        (
            ring[(index + 1 + slot % givers) % members],
            season.prompt(index * prompts + slot // likes),
        )
        for index in range(members)
        for slot in range(prompts * likes)
    ]
    for account, prompt in season.today(pairs):
        season.rate(account, [prompt])


STRATEGY = Strategy(
    name="reciprocal-ring",
    description=f"An attacker {ATTACKS['reciprocal-ring']}.\n\n{__doc__}",
    source="document 000, Quality Prompts: a like counts without regard to who gives it",
    controls="further accounts, each with prompts",
    knows="the published rules",
    goal="rank+1",
    plans=tuple(
        {"members": members, "prompts": prompts}
        for members, prompts in ((4, 1), (4, 3), (5, 5), (6, 10), (6, 20), (6, 40))
    ),
    act=act,
)
