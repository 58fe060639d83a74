"""Score participants of a benchmark community: users, contributors, reviewers (document 000)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agon.disciplines.capabilities import BoardTraits, Demo, Findings, Names, Simulator
from agon.disciplines.community.columns import COLUMNS
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.definition import Discipline, PackageParts
from agon.disciplines.ownership import SENT

if TYPE_CHECKING:
    from agon.kernel.explanations import Explanation

_PARTS = PackageParts(__name__)
_TABLES = (
    "users",
    "org_to_people",
    "prompt_sets",
    "hash_registrations",
    "prompts",
    "prompt_set_prompts",
    "provider_models",
    "responses",
    "scores",
    "quick_feedbacks",
    "user_role_on_prompt_set",
    "comments",
    "prompt_comments",
    "response_comments",
    "score_comments",
    "flags",
    "nominations",
)


def _shares_ranks(rules: CommunityRules) -> bool:
    return rules.tie_ranks == "shared"


def _versions(rules: CommunityRules) -> Mapping[str, str]:
    from agon.disciplines.community.counts.difficulty import sota_version

    return {"sota_models": sota_version(rules)}


def _recount(
    explanation: "Explanation", rules: CommunityRules, counts: Mapping[str, float]
) -> "Explanation":
    from agon.disciplines.community.recounts import recount

    return recount(explanation, rules, counts)


DISCIPLINE = Discipline(
    name="community",
    summary="Users of a benchmark score by good prompts, feedback and collaboration.",
    schema=SCHEMA,
    rules=CommunityRules,
    boards=("user-score", "contributor", "reviewer", "combined"),
    score=_PARTS.score,
    findings=Findings(find=_PARTS.find, checks=_PARTS.checks),
    simulator=Simulator(simulate=_PARTS.simulate, size_unit="users", attacks=_PARTS.attacks),
    written_by=dict.fromkeys(_TABLES, SENT),
    participants=("users.id",),
    names=Names(column="users.handle"),
    traits=BoardTraits(
        columns=COLUMNS,
        shares_ranks=_shares_ranks,
        versions=_versions,
        recounts={"user-score": _recount},
        relational=True,
    ),
    demo=Demo(
        title="Open benchmark community",
        size=150,
        attacks=("self-feedback", "reciprocal-ring"),
        commands=("agon compare community {source} --set self_feedback=ignore",),
    ),
)
