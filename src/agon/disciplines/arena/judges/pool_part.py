"""Explain whether a judge is in the pool."""

from agon.disciplines.arena.facts import Facts
from agon.disciplines.arena.formulas import Ints
from agon.disciplines.arena.history import Credibilities
from agon.disciplines.arena.judges.pool import candidates_of, newest_time, obstacles
from agon.disciplines.arena.rules import ArenaRules
from agon.kernel.explanations import Part


def pool_part(
    judge: int, facts: Facts, games: Ints, credibilities: Credibilities, rules: ArenaRules
) -> Part:
    """Return whether the judge is in the pool, and everything that is missing.

    A judge who fell below the level stays out of the pool until reinstated.
    """
    (candidate,) = candidates_of(
        facts, games, credibilities, rules, only={str(facts.judges.ids[judge])}
    )
    reasons = obstacles(candidate, at=newest_time(facts), rules=rules)
    level, credibility = rules.credibility_active, candidate.credibility
    missing = list(reasons)
    if candidate.is_inactive or credibility < level:
        missing[-1] = "an operator's reinstatement"  # the credibility is the last obstacle
        if not candidate.is_inactive:  # it begins below the level
            missing[-1] = f"{level - credibility} more credibility, or {missing[-1]}"
    return Part(
        "standing",
        0.0,
        {"credibility": credibility},
        {"credibility_active": level},
        f"{credibility} is {'below' if credibility < level else 'at least'} {level}"
        + (f"; not active: {'; '.join(reasons)}." if reasons else ": active."),
        threshold=level,
        missing="; ".join(missing) or None,
    )
