"""Set the rules of the community that later editions switch on."""

from agon.kernel.rules import Rules, rule

_FINDINGS = "community page, integrity findings"


class HardeningRules(Rules):
    """The rules of hardened editions; each has its measured effect in the rulebook."""

    target_groups: bool = rule(
        default=False,
        since="0.3",
        meaning="Whether the check target-group runs.",
        reason="Users who like one creator's prompts each look like a fan; together they do not. "
        "The seed has no such check.",
        source=_FINDINGS,
    )
