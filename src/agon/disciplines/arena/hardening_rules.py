"""The rules that close holes of the literal edition, off where an edition does not state them."""

from typing import Literal

from agon.disciplines.arena.guard_rules import GuardRules
from agon.kernel.rules import rule

_HARDENED = "spec attack, Hardened editions"


class HardeningRules(GuardRules):
    """The rules of hardened editions; each has its measured effect in the rulebook."""

    detector_false_alarms: float = rule(
        0,
        since="0.1",
        meaning="Share of honest judges that the checks low-agreement and favorite-bot may "
        "report; 0: they do not run.",
        reason="The source document has neither check; its own ones keep their thresholds.",
        source="spec attack, What must hold",
        ge=0,
        le=0.1,
    )
    plagiarism_scope: Literal["match", "contest"] = rule(
        "match",
        since="0.1",
        meaning="What an answer may not copy: the other answer of its match, or besides all "
        "earlier answers of others in the contest.",
        reason="The source document compares the two answers of a match; a copy of a published "
        "answer is not seen by that.",
        source="spec ranking, Judges",
    )
    credibility_consensus: Literal["all", "others"] = rule(
        "all",
        since="0.1",
        meaning="Whose votes a judge's vote is compared with: those of the whole panel, its own "
        "included, or those of the other judges, without effect where they are divided.",
        reason="The source document's majority is that of the whole panel; a vote that decides "
        "it agrees with itself, so that a coin gains.",
        source=_HARDENED,
    )
    credibility_ceiling: int | None = rule(
        None,
        since="0.1",
        meaning="Maximum credibility, applied after every single change; none: unlimited.",
        reason="The source document has a floor only; credibility without a ceiling is saved up "
        "and then spent on wrong votes.",
        source=_HARDENED,
        ge=0,
        le=1_000_000,
    )
