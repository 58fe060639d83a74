"""Attack a contest's rules in simulation: what each known attack costs, gains, and risks.

A strategy (:mod:`agon.attacks.strategy`) plays in a season next to honest participants; the runner
(:mod:`agon.attacks.runner`) scores the season with and without it. Pure: seeds in, results out.
"""
