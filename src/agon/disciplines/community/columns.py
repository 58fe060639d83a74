"""State what the columns of the community's boards are."""

from collections.abc import Mapping
from typing import Final

from agon.disciplines.capabilities import ColumnMeaning

COLUMNS: Final[Mapping[str, ColumnMeaning]] = {
    "user-score.score": ColumnMeaning(
        "The sum of the parts.", "points", ("h_index_coefficient", "quality_prompts_coefficient")
    ),
    "combined.score": ColumnMeaning("The user score.", "points"),
    "contributor.score": ColumnMeaning(
        "The sum of the qualities of all own prompts, and a bonus for an affiliation.",
        "points",
        ("min_prompt_reviews", "contributor_affiliation_bonus"),
    ),
    "reviewer.score": ColumnMeaning(
        "The correlation of the user's ratings with those of the other reviewers.",
        rules=("min_reviewer_prompts",),
    ),
    "band": ColumnMeaning(
        "In words how high the correlation is.",
        rules=("reviewer_excellent", "reviewer_good", "reviewer_fair"),
    ),
    "ranks": ColumnMeaning("The ranks on the other boards."),
    "specialises": ColumnMeaning(
        "The board whose percentile is in the upper half and clearly above the next one.",
        rules=("specialisation_margin",),
    ),
    "tier": ColumnMeaning(
        "Gold, silver or bronze, by the score.", rules=("tier_gold", "tier_silver", "tier_bronze")
    ),
    "badges": ColumnMeaning(
        "Bonuses that were reached, with the time at which they were.", rules=("achievements",)
    ),
}
"""Column, or ``board.column`` → meaning."""
