"""Set the community's rules: points, thresholds, open choices and opt-ins (document 000)."""

from typing import Any, Literal

from agon.disciplines.community.hardening_rules import HardeningRules
from agon.kernel.rules import rule

_BONUSES = "document 000, One-Time Bonuses"
_POINTS = "document 000, Continuous Point Components"
_PROPOSED = "document 000, Additional Proposed Metrics"
_CONFIG = "document 000, Default Coefficients"
_FUTURE = "document 000, Future Enhancements"
_OPTIONAL = "Optional in the source document."
_OFF = "Off in the source document."
_PAGE = "community page, components"
_REVIEW = "scores0001; community page, contributor and reviewer boards"
_FINDINGS = "community page, integrity findings"

Role = Literal["owner", "admin", "collaborator", "reviewer"]


def _points(default: float, meaning: str, reason: str, source: str = _BONUSES) -> Any:
    return rule(default, meaning=meaning, reason=reason, source=source, ge=0, le=1_000_000)


def _least(default: int, meaning: str, reason: str, source: str = _CONFIG) -> Any:
    return rule(default, meaning=meaning, reason=reason, source=source, ge=1, le=1_000_000)


def _share(default: float, meaning: str, reason: str, source: str) -> Any:
    return rule(default, meaning=meaning, reason=reason, source=source, ge=0, le=1)


def _correlation(default: float, meaning: str, reason: str, source: str = _REVIEW) -> Any:
    return rule(default, meaning=meaning, reason=reason, source=source, ge=-1, le=1)


def _opt_in(meaning: str, reason: str, source: str) -> Any:
    return rule(default=False, meaning=meaning, reason=reason, source=source)


def _choice(default: Any, meaning: str, reason: str, source: str = _PAGE) -> Any:
    return rule(default, meaning=meaning, reason=reason, source=source)


class CommunityRules(HardeningRules):
    """Every rule of the community's boards."""

    # One-time bonuses.
    affiliation_bonus: float = _points(
        50,
        "Points for belonging to a university or research organization.",
        "A verified affiliation makes throw-away accounts dearer.",
    )
    benchmark_creator_bonus: float = _points(
        100,
        "Points for owning a benchmark that several users wrote.",
        "Bringing contributors together is a contribution in itself.",
    )
    diverse_feedback_benchmarks_bonus: float = _points(
        30,
        "Points for feedback on prompts of several benchmarks.",
        "Reviewing more than one benchmark helps the community.",
    )
    diverse_feedback_users_bonus: float = _points(
        40,
        "Points for feedback on prompts of several creators.",
        "Reviews spread over many authors help more of them.",
    )
    quality_prompts_bonus: float = _points(
        75,
        "Points for several well-received prompts.",
        "One good prompt may be luck, several are not.",
    )
    difficult_prompts_bonus: float = _points(
        100,
        "Points for several well-received prompts that models get wrong.",
        "A prompt that shows what models cannot do is what a benchmark is for.",
    )
    sota_difficult_prompts_bonus: float = _points(
        150,
        "Points for several well-received prompts that state-of-the-art models get wrong.",
        "Prompts that the best models get wrong are the most informative.",
    )
    # Points per unit.
    h_index_coefficient: float = _points(
        2, "Points per squared h-index.", "The square rewards many good prompts at once.", _POINTS
    )
    quality_prompts_coefficient: float = _points(
        5, "Points per well-received prompt.", "Each further good prompt counts.", _POINTS
    )
    feedback_activity_coefficient: float = _points(
        0.5,
        "Points per feedback given.",
        "Little enough that mass feedback does not pay.",
        _POINTS,
    )
    collaboration_coefficient: float = _points(
        10,
        "Points per collaborator on benchmarks the user owns or administers.",
        "Benchmarks grow by working together.",
        _POINTS,
    )
    # Thresholds.
    min_positive_feedbacks: int = _least(
        3,
        "Positive feedbacks that make a prompt well received (a quality prompt).",
        "Three positives are more than a friend's.",
    )
    min_benchmark_contributors: int = _least(
        3,
        "Distinct creators a benchmark needs for the creator's bonus.",
        "Fewer than three are not a community.",
    )
    min_feedback_benchmarks: int = _least(
        3, "Distinct benchmarks the feedback must touch.", "Two may be one's own and a friend's."
    )
    min_feedback_users: int = _least(
        5, "Distinct creators the feedback must touch.", "Five is beyond a circle of friends."
    )
    min_quality_prompts: int = _least(
        3, "Quality prompts needed for their bonus.", "Three are a habit."
    )
    min_difficult_prompts: int = _least(
        3,
        "Difficult prompts needed for their bonus, and SOTA-difficult ones for theirs.",
        "The source document's configuration has one number for difficult and SOTA-difficult "
        "prompts, so one rule serves both.",
    )
    wrong_answer_threshold: float = _share(
        0.5,
        "A model is wrong on a prompt when the mean of its scores there is below this.",
        "Below one half the answer is more wrong than right; one half itself is not wrong.",
        _CONFIG,
    )
    min_wrong_models: int = _least(
        3,
        "Wrong models that make a quality prompt difficult.",
        "The source document has this three in its text only; it is a rule besides the thresholds.",
        _PAGE,
    )
    sota_models: tuple[str, ...] = rule(
        (
            "claude-sonnet-4.5",
            "gpt-4o",
            "gpt-o1",
            "gemini-2.0-flash",
            "gemini-2.0-pro",
            "deepseek-v3",
        ),
        meaning="State-of-the-art models, compared by normalized slug.",
        reason="The list of 2025-01-04, the version the source document carries.",
        source=_CONFIG,
    )
    # Choices the source document leaves open.
    wrong_answer_unit: Literal["models", "responses"] = _choice(
        "models",
        "What is counted as wrong on a prompt: models by their mean, or single responses.",
        "The condition speaks of three models; three answers of one model would show one "
        "weakness three times.",
    )
    self_feedback: Literal["count", "ignore"] = _choice(
        "count",
        "Whether feedback on one's own prompt counts, wherever feedback is counted.",
        "The source document nowhere leaves one's own prompts out; the finding self-feedback "
        "shows who uses that.",
    )
    repeated_feedback: Literal["latest", "all"] = _choice(
        "latest",
        "Whether a second feedback of a user on the same target replaces the first or adds to it.",
        "A second click is a change of mind, not a second opinion.",
    )
    feedback_targets: Literal["all", "prompts"] = _choice(
        "all",
        "Which feedback is activity: on prompts, responses and scores, or on prompts alone.",
        "The source document counts all quick feedbacks, and those are given on prompts, "
        "responses and scores.",
    )
    excluded_memberships: Literal["ignore", "count"] = _choice(
        "ignore",
        "Whether a prompt excluded from a benchmark still belongs to it.",
        "An owner who excludes a prompt removes it from the benchmark.",
    )
    deleted_sets: Literal["ignore", "count"] = _choice(
        "ignore",
        "Whether deleted benchmarks count.",
        "A deleted benchmark can no longer be reviewed, extended or found.",
    )
    owner_contribution: Literal["as_creator", "always", "never"] = _choice(
        "as_creator",
        "When the owner is one of a benchmark's distinct creators: having written a prompt in "
        "it, always, or never.",
        "The condition counts distinct creators of prompts; an owner who wrote one is one of "
        "them, an owner who wrote none is not.",
    )
    collaborator_roles: tuple[Role, ...] = _choice(
        ("owner", "admin", "collaborator"),
        "Roles on a benchmark that make a user a collaborator without a prompt in it.",
        "The source document includes co-authors by role; reviewers and users without a role are "
        "not co-authors.",
    )
    tie_ranks: Literal["shared", "distinct"] = _choice(
        "shared",
        "Whether equal scores share a rank (1, 2, 2, 4) or are ranked by id.",
        "Equal points are an equal rank; the id only fixes the order within it.",
    )
    # Components 12 to 15.
    diversity: bool = _opt_in(
        "Adds points per category of the benchmarks that hold the user's prompts.",
        _OPTIONAL,
        _PROPOSED,
    )
    diversity_coefficient: float = _points(
        8, "Points per category.", "Breadth of expertise.", _PROPOSED
    )
    consistency: bool = _opt_in(
        "Adds points per UTC month with a prompt or a feedback.", _OPTIONAL, _PROPOSED
    )
    consistency_coefficient: float = _points(
        3, "Points per active month.", "Sustained engagement.", _PROPOSED
    )
    comments: bool = _opt_in("Adds points per comment.", _OPTIONAL, _PROPOSED)
    comment_coefficient: float = _points(
        1, "Points per comment.", "Talk improves prompts.", _PROPOSED
    )
    review_quality: bool = _opt_in(
        "Adds points for agreement with the other reviewers.", _OPTIONAL, _PROPOSED
    )
    review_quality_coefficient: float = _points(
        50, "Points per unit of correlation.", "Good reviewers deserve a share.", _PROPOSED
    )
    min_review_correlation: float = _correlation(
        0.7, "Correlation from which reviewing earns points.", "As the source document.", _PROPOSED
    )
    # Contributor and reviewer boards.
    min_prompt_reviews: int = _least(
        3,
        "Minimum number of reviews a prompt needs to count on the contributor and reviewer boards.",
        "One or two opinions are noise.",
        _REVIEW,
    )
    contributor_affiliation_bonus: float = _points(
        10, "Points for affiliation on the contributor board.", "The algorithm's own.", _REVIEW
    )
    min_reviewer_prompts: int = rule(
        5,
        meaning="Prompts with enough reviews a reviewer must have rated to be ranked.",
        reason="A correlation over fewer is chance.",
        source=_REVIEW,
        ge=2,
        le=1_000_000,
    )
    reviewer_excellent: float = _correlation(
        0.7, "Correlation from which a reviewer is excellent.", "The algorithm's band."
    )
    reviewer_good: float = _correlation(
        0.3, "Correlation from which a reviewer is good.", "The algorithm's band."
    )
    reviewer_fair: float = _correlation(
        0.0, "Correlation from which a reviewer is fair; below is poor.", "The algorithm's band."
    )
    specialisation_margin: float = rule(
        10,
        meaning="Percentile points by which one board must lead for a user to specialize in it.",
        reason="The source document says that users may specialize, but not from when; a tenth "
        "of the field is visible.",
        source="community page, combined view",
        ge=0,
        le=100,
    )
    # Future enhancements, all off.
    time_decay_half_life_days: float | None = rule(
        None,
        meaning="Days after which a feedback or a quality prompt counts half; none: never.",
        reason="The source document proposes recency without a pace; off until one is set.",
        source=_FUTURE,
        gt=0,
        le=100_000,
    )
    flags: bool = _opt_in("Subtracts points per upheld flag.", _OFF, _FUTURE)
    flag_penalty: float = _points(
        20,
        "Points an upheld flag costs.",
        "The source document proposes the penalty without a number; "
        "four quality prompts is felt and can be made good.",
        _FUTURE,
    )
    nominations: bool = _opt_in("Adds points per nominating user.", _OFF, _FUTURE)
    nomination_coefficient: float = _points(
        5,
        "Points per other user who nominated this one.",
        "The source document proposes the bonus without a number; a nomination is worth a "
        "quality prompt.",
        _FUTURE,
    )
    impact: bool = _opt_in(
        "Adds points to quality prompts whose benchmarks others ran responses on.",
        _OFF,
        _FUTURE,
    )
    impact_coefficient: float = _points(
        5,
        "Points per quality prompt and doubling of 1 + the other users who ran responses.",
        "The source document proposes the weight without a number; one outside user doubles a "
        "quality prompt.",
        _FUTURE,
    )
    tiers: bool = _opt_in("Shows bronze, silver or gold by score.", _OFF, _FUTURE)
    tier_bronze: float = _points(
        100,
        "Score from which bronze.",
        "The source document names tiers without ranges; a bonus or two make bronze.",
        _FUTURE,
    )
    tier_silver: float = _points(
        500,
        "Score from which silver.",
        "Ranges are open in the source document; most bonuses but the hardest make silver.",
        _FUTURE,
    )
    tier_gold: float = _points(
        1000,
        "Score from which gold.",
        "Ranges are open in the source document; more than all bonuses together make gold.",
        _FUTURE,
    )
    achievements: bool = _opt_in(
        "Shows a badge per one-time bonus, with the time it was earned.",
        _OFF,
        _FUTURE,
    )
    cross_validation: bool = _opt_in(
        "Compares scores with users.reputation: Spearman's rho with its interval, as a finding.",
        _OFF,
        _FUTURE,
    )
    cross_validation_confidence: float = rule(
        0.95,
        meaning="Confidence of that interval.",
        reason="The field's custom.",
        source=_FUTURE,
        gt=0,
        lt=1,
    )
    sota_list: Literal["fixed", "dynamic"] = _choice(
        "fixed",
        "Whether state of the art is the list sota_models or the community's own best models.",
        "A list taken from the community's own results would move scores whenever a model is "
        "added.",
        _FUTURE,
    )
    sota_top: int = _least(6, "How many models a dynamic list holds.", "As the fixed one.", _FUTURE)
    sota_min_prompts: int = _least(
        10, "Prompts a model must have scores on to be listed.", "Fewer are luck.", _FUTURE
    )
    # Findings.
    finding_alpha: float = rule(
        0.001,
        meaning="Probability below which a finding is reported, after correction for multiple "
        "comparisons.",
        reason="Open in the source document; one false finding in a thousand checks of an honest "
        "community.",
        source=_FINDINGS,
        gt=0,
        le=0.5,
    )
    burst_minutes: float = rule(
        10,
        meaning="Length of the window in which a burst of feedback is detected.",
        reason="Long enough to distinguish reading from clicking.",
        source=_FINDINGS,
        gt=0,
        le=100_000,
    )
    burst_feedbacks: int = _least(
        30,
        "Feedbacks within one window that are a burst.",
        "Open in the source document; one feedback every twenty seconds is faster than reading.",
        _FINDINGS,
    )
    ring_positives: int = _least(
        3,
        "Minimum number of positives on another user's prompts that make a tie.",
        "Fewer may be courtesy.",
        _FINDINGS,
    )
    one_target_share: float = _share(
        0.8, "Share of feedback on one creator that is reported.", "Four in five.", _FINDINGS
    )
    one_target_feedbacks: int = _least(
        10, "Minimum number of a user's feedbacks for that check.", "Fewer are chance.", _FINDINGS
    )
    handle_length: int = _least(
        6,
        "Letters a handle must have to be compared.",
        "Short ones are similar by chance.",
        _FINDINGS,
    )
