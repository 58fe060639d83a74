"""State what the columns of the arena's boards are."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from agon.disciplines.arena.formulas import Vector
from agon.disciplines.capabilities import ColumnMeaning
from agon.kernel.ratings.separation import MANY

MORE_THAN_MANY: Final = 2_000_000_000
"""The value of ``votes_needed`` that stands for more than a billion, or for no number at all."""

COLUMNS: Final[Mapping[str, ColumnMeaning]] = {
    "bots.score": ColumnMeaning(
        "The Elo rating, after all rated matches in the order in which they were settled.",
        "Elo points",
        ("elo_start", "k_new", "k_established", "elo_scale"),
    ),
    "rating": ColumnMeaning(
        "The Elo rating, as the score.", "Elo points", ("elo_start", "k_new", "k_established")
    ),
    "matches": ColumnMeaning("Rated matches: settled, and not voided.", "matches"),
    "wins": ColumnMeaning("Rated matches that were decided for the bot.", "matches"),
    "losses": ColumnMeaning("Rated matches that were decided for the other bot.", "matches"),
    "ties": ColumnMeaning("Rated matches that were decided for none.", "matches"),
    "provisional": ColumnMeaning(
        "Whether this version of the bot has too few rated matches for its rating to be relied on.",
        rules=("provisional_matches",),
    ),
    "judges.score": ColumnMeaning(
        "The credibility, as it was after the last match.",
        "points",
        ("credibility_start", "credibility_agree", "credibility_disagree", "credibility_audit"),
    ),
    "credibility": ColumnMeaning(
        "The credibility: votes with the consensus, audits and honeypots raise or lower it.",
        "points",
        ("credibility_start", "credibility_agree", "credibility_disagree"),
    ),
    "active": ColumnMeaning(
        "Whether the judge is in the pool, by the records: it is qualified, its account old "
        "enough, it has played enough, and it never fell below the threshold, or was reinstated "
        "since. The explanation lists what is missing.",
        rules=("credibility_active", "account_age_days", "judge_min_matches"),
    ),
    "votes": ColumnMeaning("Votes in rated matches.", "votes"),
    "agreement": ColumnMeaning(
        "The share of votes in rated matches that were with the consensus of the panel.",
        "share",
    ),
    "kappa": ColumnMeaning(
        "Cohen's κ with the consensus: agreement beyond that of chance; 0 is chance, 1 is always.",
    ),
    "accuracy": ColumnMeaning(
        "The estimated share of right votes, by Dawid–Skene over all judges.",
        "share",
        group="accuracy",
    ),
    "accuracy_low": ColumnMeaning(
        "The lower end of the interval of the accuracy.",
        "share",
        ("confidence",),
        group="accuracy",
    ),
    "accuracy_high": ColumnMeaning(
        "The upper end of the interval of the accuracy.",
        "share",
        ("confidence",),
        group="accuracy",
    ),
    "bradley-terry.score": ColumnMeaning(
        "The strength that makes all rated matches together most likely, in any order.",
        "Elo points",
        ("bradley_terry_regularisation", "elo_scale", "elo_start"),
    ),
    "bradley-terry.matches": ColumnMeaning(
        "Rated matches: settled, and not voided. Those against bots without a rating are among "
        "them; a note says how many, and no rating follows from them.",
        "matches",
    ),
    "plain_score": ColumnMeaning(
        "The rating of the plain model, with a tie as half a win, and without position and styles.",
        "Elo points",
        ("ties", "position", "control"),
        group="plain",
    ),
    "plain_rank": ColumnMeaning(
        "The rank under the plain model.",
        rules=("ties", "position", "control"),
        group="plain",
    ),
    "low": ColumnMeaning(
        "The lower end of the interval; empty where there is none, as the bot never won a point.",
        "Elo points",
        ("confidence", "interval", "center"),
        group="interval",
    ),
    "high": ColumnMeaning(
        "The upper end of the interval; empty where there is none, as the bot never lost a point.",
        "Elo points",
        ("confidence", "interval", "center"),
        group="interval",
    ),
    "rank_low": ColumnMeaning(
        "The best possible rank: one more than the bots that are surely above, each compared by "
        "the difference of both ratings.",
        rules=("confidence", "simultaneous"),
        group="ranks",
    ),
    "rank_high": ColumnMeaning(
        "The worst possible rank: all bots less those that are surely below.",
        rules=("confidence", "simultaneous"),
        group="ranks",
    ),
    "tier": ColumnMeaning(
        "The group of bots that are not apart from its best one.",
        rules=("confidence", "simultaneous"),
    ),
    "gap": ColumnMeaning(
        "How far the rating is above that of the next bot.",
        "Elo points",
        is_detail=True,
        group="gap",
    ),
    "gap_low": ColumnMeaning(
        "The lower end of the interval of this difference; above 0 both are apart.",
        "Elo points",
        ("confidence", "simultaneous"),
        is_detail=True,
        group="gap",
    ),
    "gap_high": ColumnMeaning(
        "The upper end of the interval of this difference.",
        "Elo points",
        ("confidence", "simultaneous"),
        is_detail=True,
        group="gap",
    ),
    "apart": ColumnMeaning(
        "Whether the matches support that the bot is better than the next one.",
        rules=("confidence", "simultaneous"),
        is_detail=True,
    ),
    "votes_needed": ColumnMeaning(
        "How many more matches, spread over the bots as now, would part the bot from the next one "
        "if the ratings stay: two digits; 0 where they are apart, and 2,000,000,000 for more than "
        "a billion.",
        "matches",
        ("confidence", "simultaneous"),
        named=((MORE_THAN_MANY, "more than a billion"),),
    ),
}
"""Column, or ``board.column`` → meaning."""


def two_digits(needed: Vector) -> Vector:
    """Return numbers of matches rounded up to two digits; too many to say are one number.

    Example:
        >>> two_digits(np.array([0.0, 3.2, 1234.0, 7e9, np.inf])).tolist()
        [0.0, 4.0, 1300.0, 2000000000.0, 2000000000.0]
    """
    many = ~(needed <= MANY)
    whole = np.ceil(np.where(many, 0.0, needed))
    digits = 10.0 ** np.maximum(0.0, np.floor(np.log10(np.maximum(whole, 1.0))) - 1.0)
    return np.where(many, MORE_THAN_MANY, np.ceil(whole / digits) * digits)
