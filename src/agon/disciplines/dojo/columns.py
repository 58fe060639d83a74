"""State what the columns of the dojo's boards are."""

from collections.abc import Mapping
from typing import Final

from agon.disciplines.capabilities import ColumnMeaning

COLUMNS: Final[Mapping[str, ColumnMeaning]] = {
    "season.score": ColumnMeaning(
        "The sum of the best submission of each problem.",
        "points",
        ("stage_base", "reward_base", "brevity_max", "diversity"),
    ),
    "problems": ColumnMeaning("Problems with a scored submission.", "problems"),
    "stage_passes": ColumnMeaning(
        "Problems whose best submission continues the published terms.",
        "problems",
        ("n_check", "stage_base"),
    ),
    "reward_corrects": ColumnMeaning(
        "Problems whose best submission gives the hidden terms, too.", "problems", ("reward_base",)
    ),
    "median_l_chars": ColumnMeaning(
        "The median length of the submissions that give the hidden terms.",
        "characters",
        label="Median length",
    ),
    "problem.score": ColumnMeaning(
        "The points of the user's best submission: base, brevity and diversity.",
        "points",
        ("stage_base", "reward_base", "brevity_max", "diversity"),
    ),
    "submission_id": ColumnMeaning("The submission."),
    "l_chars": ColumnMeaning(
        "The length of the canonical source.", "characters", ("brevity_beta",), label="Length"
    ),
    "base": ColumnMeaning(
        "Points for the published and the hidden terms.", "points", ("stage_base", "reward_base")
    ),
    "brevity": ColumnMeaning(
        "Points for a short source.", "points", ("brevity_max", "brevity_beta")
    ),
    "diversity": ColumnMeaning(
        "Points for a method that few others use.",
        "points",
        ("diversity_first_tag_bonus", "diversity_shared_bonus_each", "diversity_bonus_cap"),
    ),
}
"""Column, or ``board.column`` → meaning."""
