"""Every rule of the arena: ratings, credibility, panels, matchmaking, findings."""

from typing import Final, Literal

from agon.disciplines.arena.hardening_rules import HardeningRules
from agon.disciplines.arena.rating_rules import RatingRules
from agon.kernel.rules import rule

BOARDS: Final = ("bots", "judges", "bradley-terry")
"""The boards, the default first."""

_ELO = "document 003, 1. ELO Rating System"
_K_FACTOR = "document 003, K-Factor"
_MATCHMAKING = "document 003, Matchmaking"
_CONSTANTS = "document 003, Key Constants"
_CHANGES = "document 003, How Credibility Changes"
_AUDIT = "document 003, The Audit System"
_HONEYPOT = "document 003, The Honeypot System"
_ELIGIBILITY = "document 003, Requirements to Become a Judge"
_POOL = "document 003, Judge Pool Management"
_ANOMALY = "document 003, Anomaly Detection"
_COPYING = "document 003, Response Plagiarism Detection"
_PROTECTION = "document 003, Additional Protections"
_FLOW = "document 003, 5. The Complete Flow"
_RATINGS = "spec arena, Elo"
_MATCH = "spec arena, A match"
_LIVE = "spec arena-live, A round, step by step"
_FINDINGS = "spec arena, Integrity findings"


class ArenaRules(HardeningRules, RatingRules):
    """The rules of the arena, frozen; the reference edition has the source document's values."""

    # Elo
    elo_start: float = rule(
        1000,
        meaning="Rating of a bot before its first rated match.",
        reason="The source document's start; only differences of ratings mean anything.",
        source=_FLOW,
        ge=-100_000,
        le=100_000,
    )
    elo_scale: float = rule(
        400,
        meaning="Rating distance at which the odds are ten to one.",
        reason="The source document's scale, and that of chess.",
        source=_ELO,
        gt=0,
        le=100_000,
    )
    k_new: float = rule(
        32,
        meaning="K-factor of a bot with fewer than games_established rated matches.",
        reason="New bots reach their rating quickly.",
        source=_K_FACTOR,
        gt=0,
        le=10_000,
    )
    k_established: float = rule(
        16,
        meaning="K-factor of a bot from games_established rated matches on.",
        reason="A rating that rests on many matches should move less.",
        source=_K_FACTOR,
        gt=0,
        le=10_000,
    )
    games_established: int = rule(
        30,
        meaning="Rated matches before this one from which a bot counts as established.",
        reason="The source document's threshold; counted before the match, so the 30th still "
        "moves by k_new.",
        source=_K_FACTOR,
        ge=0,
    )
    round_changes: bool = rule(
        default=True,
        meaning="Whether each rating change is rounded to a whole number, half away from zero.",
        reason="The source document's examples give +8/−8 and +24/−24, whole numbers; the "
        "formula alone gives 7.69 and 24.31.",
        source="document 003, Example Scenarios",
    )
    audit_overturns: bool = rule(
        default=False,
        meaning="Whether the result of an audited match is the audit's verdict.",
        reason="The source document lists penalties for the judges and none for the bots: the "
        "match stands.",
        source=_AUDIT,
    )
    provisional_matches: int = rule(
        30,
        meaning="Rated matches below which a rating is marked provisional.",
        reason="The source document has no such mark; below its K threshold a rating has not "
        "converged.",
        source=_RATINGS,
        ge=0,
    )

    # Bradley–Terry
    bradley_terry_regularisation: float = rule(
        0,
        meaning="Tied matches every bot is taken to have played against an average bot; 0: only "
        "the largest group of bots whose matches determine ratings is rated (none never lost "
        "or never won against the others).",
        reason="The source document has Elo only; the additional rating is shown only where the "
        "matches determine one.",
        source=_RATINGS,
        ge=0,
        le=1000,
    )
    confidence: float = rule(
        0.95,
        meaning="Confidence of every interval.",
        reason="The source document gives no uncertainty; 95 % is what readers expect.",
        source=_RATINGS,
        gt=0,
        lt=1,
    )
    interval: Literal["sandwich", "bootstrap"] = rule(
        "sandwich",
        meaning="How Bradley–Terry intervals are made: robust covariance, or refits of resampled "
        "matches; never narrower than the model's own.",
        reason="The source document gives no uncertainty; the sandwich needs no dice.",
        source=_RATINGS,
    )
    bootstrap_rounds: int = rule(
        200,
        meaning="Refits of a bootstrap interval.",
        reason="The source document gives no uncertainty; 200 refits fix the ends to about a "
        "point.",
        source=_RATINGS,
        ge=20,
        le=100_000,
    )
    bootstrap_seed: int = rule(
        0,
        meaning="Number that the draws of the bootstrap follow from.",
        reason="Any number will do as long as it is always the same.",
        source=_RATINGS,
        ge=0,
    )

    # Credibility
    credibility_start: int = rule(
        100,
        meaning="Credibility of a judge before its first vote.",
        reason="The source document's starting score.",
        source=_CONSTANTS,
        ge=0,
        le=1_000_000,
    )
    credibility_active: int = rule(
        50,
        meaning="Credibility from which a judge is active.",
        reason="The source document's threshold.",
        source=_CONSTANTS,
        ge=0,
        le=1_000_000,
    )
    credibility_floor: int = rule(
        30,
        meaning="Minimum credibility, applied after every single change.",
        reason="The source document does not let a judge drop below 30; so the floor applies "
        "after every single change.",
        source=_CONSTANTS,
        ge=0,
        le=1_000_000,
    )
    credibility_agree: int = rule(
        1,
        meaning="Credibility gained by a vote with the consensus of a rated match.",
        reason="The source document's +1.",
        source=_CHANGES,
        ge=0,
        le=10_000,
    )
    credibility_disagree: int = rule(
        1,
        meaning="Credibility lost by a vote against the consensus of a rated match.",
        reason="The source document's −1.",
        source=_CHANGES,
        ge=0,
        le=10_000,
    )
    credibility_audit: int = rule(
        10,
        meaning="Credibility lost by every judge who voted with a consensus the audit rejects.",
        reason="The source document does not say that the consensus gain is taken back, so it "
        "stays: net −9.",
        source=_AUDIT,
        ge=0,
        le=10_000,
    )
    credibility_honeypot: int = rule(
        20,
        meaning="Credibility lost by a vote for the robotic side of a honeypot.",
        reason="The source document's −20.",
        source=_HONEYPOT,
        ge=0,
        le=10_000,
    )

    # A match
    max_prompt_chars: int = rule(
        400,
        meaning="Longest prompt, in characters.",
        reason="The source document sets no length; both bots should be able to answer at once.",
        source=_MATCH,
        ge=1,
    )
    honeypot_probability: float = rule(
        0.05,
        meaning="Probability that a match is a honeypot; drawn before anything else.",
        reason="The source document's 5 %.",
        source="document 003, Match Probabilities",
        ge=0,
        le=1,
    )
    audit_probability: float = rule(
        0.10,
        meaning="Probability that a rated match is audited.",
        reason="The source document's 10 %; honeypots have their answer already and are never "
        "audited.",
        source="document 003, Match Probabilities",
        ge=0,
        le=1,
    )
    judges_per_match: int = rule(
        3,
        meaning="Judges drawn for a match; fewer eligible ones mean an API panel.",
        reason="The source document's three: the smallest panel with a majority and a dissent.",
        source="document 003, The Consensus System",
        ge=1,
        le=1001,
    )
    plagiarism_jaccard: float = rule(
        0.9,
        meaning="Share of common words (Jaccard) from which two responses count as copied; 1: only "
        "the same words count, each as often (equal fingerprints).",
        reason="The source document has “too similar” after comparing fingerprints, which only "
        "equal texts share; nine words in ten is that similar.",
        source=_COPYING,
        gt=0,
        le=1,
    )

    # Matchmaking
    matchmaking_range: float = rule(
        200,
        meaning="Rating distance within which opponents are preferred, inclusive.",
        reason="The source document's ±200.",
        source=_MATCHMAKING,
        ge=0,
    )
    matchmaking_order: Literal["ascending", "descending"] = rule(
        "ascending",
        meaning="Whether the lowest or the highest rating chooses first.",
        reason="The source document sorts by rating and does not define which end chooses first.",
        source=_MATCHMAKING,
    )
    pairing: Literal["nearest", "spread"] = rule(
        "nearest",
        meaning="How a round is paired: each with the nearest, or with games, opponents and sides "
        "spread evenly.",
        reason="The source document's pairing is the nearest; neighbors then meet each other "
        "again and again.",
        source=_LIVE,
        since="0.1",
    )

    # Who may judge
    account_age_days: float = rule(
        7,
        meaning="Age of the owner's account, in days, from which its bots may judge.",
        reason="The source document's 7 days keep throw-away accounts out.",
        source=_ELIGIBILITY,
        ge=0,
    )
    judge_min_matches: int = rule(
        5,
        meaning="Rated matches a bot has completed before it may judge.",
        reason="The source document's 5 matches.",
        source=_ELIGIBILITY,
        ge=0,
    )
    min_judge_pool: int = rule(
        10,
        meaning="Eligible judges below which the arena says that its pool is small, and continues.",
        reason="The source document needs ten active judges and does not define what happens "
        "below; stopping would punish the bots.",
        source=_POOL,
        ge=0,
    )
    qualification_required: bool = rule(
        default=True,
        meaning="Whether a bot plays only after a panel took it for a person; off: at once.",
        reason="Among friends no bot has to prove anything before the first match.",
        source=_LIVE,
        since="0.1",
    )
    qualification_interval_minutes: int = rule(
        60,
        meaning="Minutes between two attempts of one bot to qualify.",
        reason="The source document sets no pace; one attempt per hour makes guessing slow.",
        source="spec arena, Qualification",
        ge=0,
    )

    # Findings
    recent_votes: int = rule(
        50,
        meaning="Number of a judge's latest votes that collusion and position bias examine.",
        reason="The source document's 50.",
        source=_ANOMALY,
        ge=1,
    )
    collusion_votes: int = rule(
        10,
        meaning="Recent votes for one bot above which collusion is suspected.",
        reason="The source document's “>10 votes for same bot in 50”.",
        source=_ANOMALY,
        ge=0,
    )
    position_share: float = rule(
        0.8,
        meaning="Share of recent votes for one label above which position bias is suspected.",
        reason="The source document's “>80% voting A or B”.",
        source=_ANOMALY,
        ge=0,
        le=1,
    )
    position_min_votes: int = rule(
        10,
        meaning="Minimum number of votes to check for position bias.",
        reason="The source document gives a share without a number of votes; below ten it is met "
        "by chance too often.",
        source=_FINDINGS,
        ge=1,
    )
    audit_agreement: float = rule(
        0.5,
        meaning="Agreement with audits below which a judge is reported.",
        reason="The source document's “<50% audit agreement”.",
        source=_ANOMALY,
        ge=0,
        le=1,
    )
    audit_min_matches: int = rule(
        5,
        meaning="Minimum number of audited matches to check agreement with audits.",
        reason="The source document gives a share without a number of audits; one miss in one "
        "audit is not evidence.",
        source=_FINDINGS,
        ge=1,
    )
    agreeing_min_matches: int = rule(
        20,
        meaning="Common matches below which two judges are not compared.",
        reason="The source document has no such check; fewer than twenty common matches are not "
        "evidence.",
        source=_FINDINGS,
        ge=1,
    )
    agreeing_share: float = rule(
        0.95,
        meaning="Share of equal votes from which two judges count as always agreeing.",
        reason="The source document has no such check; “always” with room for one slip in twenty.",
        source=_FINDINGS,
        gt=0,
        le=1,
    )
    handle_similarity: float = rule(
        0.85,
        meaning="Edit similarity (1 − distance / longer length) from which handles are similar.",
        reason="The source document names the check without a measure; one letter in seven is a "
        "misspelling, more is another name.",
        source=_PROTECTION,
        ge=0.5,
        le=1,
    )
    handle_base_length: int = rule(
        5,
        meaning="Letters a handle needs, without its trailing digits, before it is compared.",
        reason="The source document names the check without a measure; short first names are "
        "common to many people.",
        source=_PROTECTION,
        ge=1,
    )
    surprise: float = rule(
        0.001,
        meaning="Probability by chance below which a finding is a warning instead of a note, "
        "after dividing by the number of comparisons.",
        reason="The source document gives thresholds without probabilities; one false warning in "
        "a thousand honest contests.",
        source=_FINDINGS,
        gt=0,
        lt=1,
    )
