"""The rules of a live arena: who plays, how long answers and votes may take, what faults cost."""

from typing import Literal

from agon.kernel.rules import Rules, rule

_LIVE = "spec arena-live, A round, step by step"


class LiveRules(Rules):
    """The rules of rounds that the service plays; none of them changes how records are scored."""

    bots_per_owner: int = rule(
        1,
        since="0.1",
        meaning="Number of bots an owner may register.",
        reason="The source document has one account, one bot.",
        source="document 003, Key Takeaways",
        ge=1,
        le=1000,
    )
    answer_seconds: float = rule(
        30,
        since="0.1",
        meaning="Seconds in which both bots must answer, all attempts together.",
        reason="The source document sets no time; a retry must not buy any.",
        source=_LIVE,
        gt=0,
        le=86_400,
    )
    vote_seconds: float = rule(
        60,
        since="0.1",
        meaning="Seconds in which a judge must vote before another one replaces it.",
        reason="The source document sets no time; people need longer than programs.",
        source=_LIVE,
        gt=0,
        le=86_400,
    )
    max_answer_chars: int = rule(
        400,
        since="0.1",
        meaning="Longest answer, in characters; a longer one is cut.",
        reason="The source document sets no length; a longer answer must not be worth more.",
        source="spec arena, A match",
        ge=1,
        le=100_000,
    )
    forfeit: Literal["void", "loss"] = rule(
        "void",
        since="0.1",
        meaning="What a match becomes if one bot does not answer: nothing, or a loss of that bot.",
        reason="The source document rates answers only; so no rating moves without one.",
        source=_LIVE,
    )
    forfeits_paused: int = rule(
        3,
        since="0.1",
        meaning="Forfeits in a row after which a bot is paused.",
        reason="The source document has no pause; a bot that is down must not wait for its "
        "opponents.",
        source=_LIVE,
        ge=1,
        le=1000,
    )
    prompts_unseen: int = rule(
        20,
        since="0.1",
        meaning="Number of a bot's last prompts that it is not asked again.",
        reason="The source document does not say how prompts are drawn; a known prompt can be "
        "prepared for.",
        source=_LIVE,
        ge=0,
        le=10_000,
    )
    honeypot_weak_share: float = rule(
        0,
        since="0.1",
        meaning="Probability that the robotic side of a honeypot is the answer of a known weak bot "
        "that is asked besides, where there is one; 0: a text of the contest, or a template.",
        reason="The source document's honeypot is an obviously robotic text; a real answer "
        "cannot be learned by its wording or looked up, and a judge may prefer it in good faith.",
        source=_LIVE,
        ge=0,
        le=1,
    )
    honeypot_weak_distance: float = rule(
        400,
        since="0.1",
        meaning="Rating distance below the real side from which a bot counts as weak.",
        reason="The source document has no such honeypots; 400 points are odds of 10 to 1.",
        source=_LIVE,
        ge=0,
    )
    model_conflict: Literal["tie", "next"] = rule(
        "next",
        since="0.1",
        meaning="What follows when the order of the answers changes a model's vote: its vote is a "
        "tie, or the next model judges; when none is left the match is void.",
        reason="The source document does not say; a judge that chooses by position must move no "
        "rating, and a tie moves ratings that differ.",
        source=_LIVE,
    )
