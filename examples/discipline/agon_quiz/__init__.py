"""A quiz as a discipline of agon: players answer questions, right answers score."""

from agon.disciplines import Demo, Discipline
from agon_quiz.integrity import CHECKS, find
from agon_quiz.rules import QuizRules
from agon_quiz.scoring import score
from agon_quiz.simulate import ATTACKS, simulate
from agon_quiz.tables import SCHEMA

DISCIPLINE = Discipline(
    name="quiz",
    schema=SCHEMA,
    rules=QuizRules,
    boards=("players",),
    score=score,
    find=find,
    simulate=simulate,
    size_unit="answers",
    checks=CHECKS,
    attacks=ATTACKS,
    participants=("players.id",),
    names="players.name",
    shares_ranks=lambda _: True,
    editions="agon_quiz",
    demo=Demo(size=500, attacks=("repeated-answers",), commands=("agon check quiz {source}",)),
)
