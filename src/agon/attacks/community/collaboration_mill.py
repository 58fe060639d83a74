"""Further accounts write prompts for a benchmark of one's own.

Each counts as a collaborator, at 10 points without a ceiling, and three of them make the bonus for
benchmarks.
"""

from agon.attacks.community.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Write prompts with each further account, and collect them in a benchmark.

    Where collaborators need quality prompts, the accounts like each other's.
    """
    rules, puppets = season.rules, int(plan["puppets"])
    each = max(1, rules.min_collaborator_prompts)
    likes = rules.min_positive_feedbacks if rules.min_collaborator_prompts else 0
    likers = season.likers(each, likes)
    puppets = max(puppets, likers + 1) if likes else puppets
    season.join(puppets)
    if season.day == 1:
        for number in range(puppets * each):
            season.write(season.account(number // each), number)
        season.collect(
            season.attacker_id, [season.prompt(number * each) for number in range(puppets)]
        )
    pairs = [
        (
            season.account((owner + 1 + slot % likers) % puppets),
            season.prompt(owner * each + slot // likes),
        )
        for owner in range(puppets)
        for slot in range(each * likes)
    ]
    for account, prompt in season.today(pairs):
        season.rate(account, [prompt])


STRATEGY = Strategy(
    name="collaboration-mill",
    description=__doc__,
    source="document 000, Collaboration: distinct users × 10; Benchmark Creator: three creators",
    controls="further accounts",
    knows="the published rules",
    goal="rank+1",
    plans=tuple({"puppets": puppets} for puppets in (1, 2, 5, 10, 30, 100)),
    act=act,
)
