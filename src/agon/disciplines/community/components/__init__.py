"""List the components of the user score; board, explanation and findings follow from this table."""

from agon.disciplines.community.components import benchmarks, feedback, prompts, tables
from agon.disciplines.community.components.component import Component, Count, ExplanationLine, Score
from agon.disciplines.community.components.curves import Bonus
from agon.disciplines.community.rules import CommunityRules

__all__ = ["COMPONENTS", "Bonus", "Component", "Count", "ExplanationLine", "Score", "components"]

COMPONENTS = (
    tables.AFFILIATION,
    benchmarks.BENCHMARK_CREATOR,
    feedback.DIVERSE_FEEDBACK_BENCHMARKS,
    feedback.DIVERSE_FEEDBACK_USERS,
    prompts.QUALITY_PROMPTS_BONUS,
    prompts.DIFFICULT_PROMPTS_BONUS,
    prompts.SOTA_DIFFICULT_PROMPTS_BONUS,
    prompts.H_INDEX,
    prompts.QUALITY_PROMPTS,
    feedback.FEEDBACK_ACTIVITY,
    benchmarks.COLLABORATION,
    benchmarks.DIVERSITY,
    feedback.CONSISTENCY,
    tables.COMMENTS,
    feedback.REVIEW_QUALITY,
    prompts.IMPACT,
    tables.NOMINATIONS,
    tables.FLAGS,
)
"""The components in the order of the board; those with a switch count when it is on."""


def components(rules: CommunityRules) -> tuple[Component, ...]:
    """Return the components that count under these rules."""
    return tuple(component for component in COMPONENTS if component.is_on(rules))
