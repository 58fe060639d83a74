"""The rules of how sure ratings are: what is compared, against what, and what depends on what."""

from typing import Literal

from agon.kernel.rules import Rules, rule

_INTERVALS = "spec ranking, Intervals and ranks"
_MODELS = "spec ranking, Models"


class RatingRules(Rules):
    """The rules of Bradley–Terry intervals, ranks and tiers; none of them moves Elo."""

    simultaneous: Literal["none", "neighbours", "pairs"] = rule(
        "neighbours",
        since="0.1",
        meaning="Which comparisons hold all at once at the level of confidence: none (each by "
        "itself), those of bots next to each other (apart, tiers, votes needed), or all pairs (the "
        "ranges of ranks too).",
        reason="A reader of a board looks at all its neighbors; of twenty comparisons at 95 % one "
        "is wrong by chance.",
        source=_INTERVALS,
    )
    comparison_draws: int = rule(
        10_000,
        since="0.1",
        meaning="Draws of all ratings for the critical value of simultaneous comparisons; where "
        "they are too many bots to draw, a bound (Šidák) takes their place.",
        reason="They fix the critical value to about 0.01.",
        source=_INTERVALS,
        ge=100,
        le=1_000_000,
    )
    cluster: Literal["auto", "none", "prompt", "judge", "both"] = rule(
        "auto",
        since="0.1",
        meaning="Which rated matches depend on one another: those of one prompt, of one judge, of "
        "either (both), or none; auto: those of one prompt where prompts repeat and are 20 or "
        "more.",
        reason="Three annotators of one question say less than those of three questions.",
        source=_INTERVALS,
    )
    ties: Literal["half", "davidson", "rao-kupper"] = rule(
        "half",
        since="0.1",
        meaning="What a tie is to Bradley–Terry: half a win for each side, or an outcome of its "
        "own by the model of Davidson or of Rao and Kupper, with a fitted parameter.",
        reason="Half a win needs no model of ties, and is right on average.",
        source=_MODELS,
    )
    position: Literal["ignored", "fitted"] = rule(
        "ignored",
        since="0.1",
        meaning="Whether the advantage of the side that is shown first is fitted with the "
        "strengths; without votes that is side a.",
        reason="Where sides are drawn an advantage falls on all bots alike.",
        source=_MODELS,
    )
    control: str = rule(
        "",
        since="0.1",
        meaning="Styles that ratings are controlled for, with commas between them: columns NAME_a "
        "and NAME_b of the matches, or NAME with a difference; length, headers, lists, bold and "
        "code are counted in the responses where there is no such column, and always in those of a "
        "contest, which keeps no other columns.",
        reason="The source document rates answers as judges see them, style included.",
        source=_MODELS,
        max_length=1000,
    )
    control_form: Literal["relative", "difference"] = rule(
        "relative",
        since="0.1",
        meaning="What is controlled for: (a − b)/(a + b), or a − b; each divided by its standard "
        "deviation.",
        reason="Twice as long means the same of short answers and of long ones.",
        source=_MODELS,
    )
    center: str = rule(
        "weighted",
        since="0.1",
        meaning="What has the rating elo_start: the mean of all bots weighted by their matches "
        "(weighted), their plain mean (mean), or the bot of this id.",
        reason="In a plain mean a newcomer with one match has the weight of everybody else, so "
        "that all ratings move with it and are as uncertain as it is.",
        source=_INTERVALS,
        min_length=1,
        max_length=200,
    )
