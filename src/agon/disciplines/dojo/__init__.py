"""Judge programs that continue integer sequences: gates, brevity, diversity, seasons."""

from collections.abc import Callable, Collection
from typing import Any

from agon.disciplines.capabilities import (
    BoardTraits,
    Demo,
    Findings,
    PersonalData,
    ProblemMatrix,
    Problems,
    ScoredRecords,
    Simulator,
    Submissions,
)
from agon.disciplines.definition import Discipline, PackageParts
from agon.disciplines.dojo.columns import COLUMNS
from agon.disciplines.dojo.records import SCHEMA
from agon.disciplines.dojo.rules import DojoRules
from agon.disciplines.ownership import LiveProtocol, Owner

_PARTS = PackageParts(__name__)
_JUDGING = LiveProtocol(
    name="judging",
    begins=("submission-received",),
    operations=("submit", "completeJob"),
    instead="send programs as submissions",
)


def _withhold(scored: Any, discloses: Callable[[str], bool]) -> ScoredRecords:
    withheld: ScoredRecords = scored.withholding(discloses)
    return withheld


def _matrix(scored: Any, users: Collection[str]) -> ProblemMatrix:
    from agon.disciplines.dojo.matrix import problem_matrix

    return problem_matrix(scored.judgement, users)


DISCIPLINE = Discipline(
    name="dojo",
    summary="Programs continue integer sequences; short and novel ones score most.",
    schema=SCHEMA,
    rules=DojoRules,
    boards=("season", "problem:<id>"),
    score=_PARTS.score,
    findings=Findings(find=_PARTS.find, checks=_PARTS.checks),
    simulator=Simulator(simulate=_PARTS.simulate, size_unit="submissions", attacks=_PARTS.attacks),
    traits=BoardTraits(columns=COLUMNS),
    participants=("submissions.user_id",),
    personal=PersonalData(people=("problems.setter_user_id",)),
    written_by={
        "problems": Owner(also=("publishProblem",)),
        "submissions": Owner(protocol=_JUDGING),
    },
    submissions=Submissions(
        judging="program", fields=("source", "method_tag", "notes"), table="submissions"
    ),
    problems=Problems(table="problems", withhold=_withhold, matrix=_matrix),
    demo=Demo(
        title="Integer sequences, spring season",
        size=400,
        attacks=("copied-source", "tag-farming"),
        days_left=5,
        commands=("agon check dojo {source}", "agon rules show dojo/0.2"),
    ),
)
