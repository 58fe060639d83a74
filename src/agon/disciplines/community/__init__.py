"""Score participants of a benchmark community: user score, contributors, reviewers (seed 000)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.definition import Demo, Discipline, LazyMapping, ScoredRecords, Simulation

if TYPE_CHECKING:
    from agon.kernel.findings import Finding
    from agon.records import Records


def _score(records: "Records", rules: Any) -> ScoredRecords:
    from agon.disciplines.community import scoring

    return scoring.score(records, rules)


def _find(records: "Records", rules: Any) -> "list[Finding]":
    from agon.disciplines.community import integrity

    return integrity.find(records, rules)


def _checks() -> Mapping[str, str]:
    from agon.disciplines.community import integrity

    return integrity.CHECKS


def _simulate(*, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
    from agon.disciplines.community import simulate

    return simulate.simulate(size=size, seed=seed, attacks=attacks)


def _attacks() -> Mapping[str, str]:
    from agon.disciplines.community import simulate

    return simulate.ATTACKS


def _shares_ranks(rules: CommunityRules) -> bool:
    return rules.tie_ranks == "shared"


DISCIPLINE = Discipline(
    name="community",
    schema=SCHEMA,
    rules=CommunityRules,
    boards=("user-score", "contributor", "reviewer", "combined"),
    score=_score,
    find=_find,
    simulate=_simulate,
    size_unit="users",
    checks=LazyMapping(_checks),
    attacks=LazyMapping(_attacks),
    participants=("users.id",),
    shares_ranks=_shares_ranks,
    demo=Demo(
        size=150,
        attacks=("self-feedback", "reciprocal-ring"),
        commands=("agon compare community {source} --set self_feedback=ignore",),
    ),
)
"""The discipline ``community``."""
