"""Set the rules of the community that later editions switch on."""

from agon.kernel.rules import Rules, rule

_FINDINGS = "community page, integrity findings"
_HARDENED = "community page, the hardened edition"


class HardeningRules(Rules):
    """The rules of hardened editions; each has its measured effect in the rulebook."""

    likes_per_creator: int | None = rule(
        None,
        since="0.1",
        meaning="Most prompts of one creator on which a user's positive feedback makes quality "
        "prompts and the h-index, the first ones by time; none: all.",
        reason="The original rules have no limit, so three accounts make any number of them.",
        source=_HARDENED,
        ge=1,
        le=1_000_000,
    )
    daily_feedbacks: int | None = rule(
        None,
        since="0.1",
        meaning="Most feedbacks of a user on one UTC day that count, the first ones, of those on "
        "prompts and of those on responses and scores each; none: all.",
        reason="The original rules have no limit: half a point for each click.",
        source=_HARDENED,
        ge=1,
        le=1_000_000,
    )
    min_collaborator_prompts: int = rule(
        0,
        since="0.1",
        meaning="Quality prompts that a user needs to count as a collaborator of others.",
        reason="The source document counts any user: ten accounts with a prompt each are 100 "
        "points.",
        source=_HARDENED,
        ge=0,
        le=1_000_000,
    )
    target_groups: bool = rule(
        default=False,
        since="0.1",
        meaning="Whether the check target-group runs.",
        reason="Users who like one creator's prompts each look like a fan; together they do not. "
        "The source document has no such check.",
        source=_FINDINGS,
    )
