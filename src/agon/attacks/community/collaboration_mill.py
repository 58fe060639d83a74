"""Further accounts write prompts for a benchmark of one's own.

Each counts as a collaborator, at 10 points without a ceiling, and three of them make the bonus for
benchmarks.
"""

from agon.attacks.community.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Write one prompt with each further account, and collect them in a benchmark."""
    puppets = int(plan["puppets"])
    season.join(puppets)
    if season.day == 1:
        for number in range(puppets):
            season.write(season.account(number), number)
        season.collect(season.own, [season.prompt(number) for number in range(puppets)])


STRATEGY = Strategy(
    name="collaboration-mill",
    description=__doc__,
    source="seed 000, Collaboration: distinct users × 10; Benchmark Creator: three creators",
    controls="further accounts",
    knows="the published rules",
    goal="rank+1",
    plans=tuple({"puppets": puppets} for puppets in (2, 5, 10, 30, 100)),
    act=act,
)
"""The strategy."""
