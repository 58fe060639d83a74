"""Judge programs that continue integer sequences: gates, brevity, diversity, seasons."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agon.disciplines.definition import (
    Demo,
    Discipline,
    LazyMapping,
    ScoredRecords,
    Simulation,
    SubmissionKind,
)
from agon.disciplines.dojo.records import SCHEMA
from agon.disciplines.dojo.rules import DojoRules

if TYPE_CHECKING:
    from agon.kernel.findings import Finding
    from agon.records import Records


def _score(records: "Records", rules: Any) -> ScoredRecords:
    from agon.disciplines.dojo import scoring

    return scoring.score(records, rules)


def _withhold(scored: Any, discloses: Callable[[str], bool]) -> ScoredRecords:
    withheld: ScoredRecords = scored.withholding(discloses)
    return withheld


def _find(records: "Records", rules: Any) -> "list[Finding]":
    from agon.disciplines.dojo import integrity

    return integrity.find(records, rules)


def _checks() -> Mapping[str, str]:
    from agon.disciplines.dojo import integrity

    return integrity.CHECKS


def _simulate(*, size: int, seed: int, attacks: Sequence[str]) -> Simulation:
    from agon.disciplines.dojo import simulate

    return simulate.simulate(size=size, seed=seed, attacks=attacks)


def _attacks() -> Mapping[str, str]:
    from agon.disciplines.dojo import simulate

    return simulate.ATTACKS


DISCIPLINE = Discipline(
    name="dojo",
    schema=SCHEMA,
    rules=DojoRules,
    boards=("season", "problem:<id>"),
    score=_score,
    find=_find,
    simulate=_simulate,
    size_unit="submissions",
    checks=LazyMapping(_checks),
    attacks=LazyMapping(_attacks),
    participants=("submissions.user_id",),
    submissions=SubmissionKind("program", fields=("source", "method_tag", "notes")),
    problems="problems",
    withhold=_withhold,
    demo=Demo(
        size=400,
        attacks=("copied-source", "tag-farming"),
        commands=("agon check dojo {source}", "agon rules show dojo/0.2"),
    ),
)
"""The discipline ``dojo``."""
