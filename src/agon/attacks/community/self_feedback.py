"""An attacker who likes its own prompts needs one accomplice less.

Under rules that count feedback on own prompts.
"""

from agon.attacks.community.season import Season, product
from agon.attacks.strategy import Plan, Strategy
from agon.disciplines.community.attackers import ATTACKS


def act(season: Season, plan: Plan) -> None:
    """Write prompts; like them with the own account and with one puppet less than needed."""
    prompts, puppets = int(plan["prompts"]), int(season.rules.min_positive_feedbacks) - 1
    season.join(puppets)
    if season.day == 1:
        for number in range(prompts):
            season.write(season.attacker_id, number)
    accounts = [season.attacker_id, *(season.account(number) for number in range(puppets))]
    numbers = [season.prompt(number) for number in range(prompts)]
    for account, prompt in season.today(product(accounts, numbers)):
        season.rate(account, [prompt])


STRATEGY = Strategy(
    name="self-feedback",
    description=f"An attacker {ATTACKS['self-feedback']}.\n\n{__doc__}",
    source="document 000: nothing excludes feedback on own prompts",
    controls="one account less than likes are needed",
    knows="the published thresholds",
    goal="rank+1",
    plans=tuple({"prompts": prompts} for prompts in (1, 3, 10, 30, 100, 300)),
    act=act,
)
