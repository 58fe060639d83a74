"""Detect answers that were given more than once."""

from agon.kernel.findings import Finding, RecordRefs, Severity
from agon.records import Records
from agon_quiz.rules import QuizRules

CHECKS = {"repeated-answers": "a player who answered the same question more than once"}

_REPEATED = """
    SELECT player_id::VARCHAR AS player, question, list(id::VARCHAR ORDER BY _row) AS answers
    FROM answers GROUP BY player_id, question HAVING count(*) > 1 ORDER BY player, question
"""


def find(records: Records, rules: QuizRules) -> list[Finding]:  # noqa: ARG001 - see Discipline.find
    """Return a finding for each player and question with several answers."""
    return [
        Finding(
            "repeated-answers",
            Severity.WARNING,
            subjects=(row["player"],),
            statistic="answers to one question",
            value=float(len(row["answers"])),
            expected=1.0,
            probability=None,
            message=f"{row['player']} answered {row['question']} {len(row['answers'])} times",
            records=(RecordRefs.of("answers", row["answers"]),),
        )
        for row in records.sql(_REPEATED).to_pylist()
    ]
