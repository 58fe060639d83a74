"""A quiz as a discipline of agon: players answer questions, right answers score."""

from agon.disciplines import BoardTraits, Demo, Discipline, Findings, Names, Simulator
from agon_quiz.integrity import CHECKS, find
from agon_quiz.rules import QuizRules
from agon_quiz.scoring import score
from agon_quiz.sheets import IMPORTER
from agon_quiz.simulate import ATTACKS, simulate
from agon_quiz.tables import SCHEMA

DISCIPLINE = Discipline(
    name="quiz",
    schema=SCHEMA,
    rules=QuizRules,
    boards=("players",),
    score=score,
    participants=("players.id",),
    editions="agon_quiz",
    traits=BoardTraits(shares_ranks=lambda _: True),
    names=Names(column="players.name"),
    findings=Findings(find=find, checks=CHECKS),
    simulator=Simulator(simulate=simulate, size_unit="answers", attacks=ATTACKS),
    demo=Demo(
        title="Quiz of the week",
        size=500,
        attacks=("repeated-answers",),
        commands=("agon check quiz {source}",),
    ),
    importers=(IMPORTER,),
    attack_lab="agon_quiz.lab:LAB",
    command="agon_quiz.command:command",
)
