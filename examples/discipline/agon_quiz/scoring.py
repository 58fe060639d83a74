"""Score a quiz: points for right answers, less those for wrong ones."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from agon.errors import NotFound, did_you_mean
from agon.kernel.boards import Board, UnscoredRow, ranking
from agon.kernel.explanations import Explanation, Part
from agon.kernel.findings import RecordRefs
from agon.records import Records
from agon_quiz.rules import QuizRules

PLACES = 0
"""Decimals of a score: all points are integers."""

_COUNTS = """
    SELECT players.id::VARCHAR AS id,
           count(*) FILTER (correct) AS "right",
           count(*) FILTER (NOT correct) AS wrong
    FROM players LEFT JOIN answers ON answers.player_id = players.id
    GROUP BY players.id ORDER BY players.id
"""
_ANSWERS = "SELECT id::VARCHAR AS id, player_id::VARCHAR AS player, correct FROM answers"


def score(records: Records, rules: QuizRules) -> "ScoredQuiz":
    """Score records under rules."""
    return ScoredQuiz(records.sql(_COUNTS), records.sql(_ANSWERS), rules)


@dataclass(frozen=True)
class ScoredQuiz:
    """A scored quiz.

    Attributes:
        counts: ``id``, ``right`` and ``wrong`` of each player.
        answers: ``id``, ``player`` and ``correct`` of each answer.
        rules: the rules in force.
    """

    counts: pa.Table
    answers: pa.Table
    rules: QuizRules

    def board(self, name: str) -> Board:  # noqa: ARG002 - there is one board
        """Return the board ``players``."""
        return self._board

    def explain(self, name: str, *, board: str) -> Explanation:
        """Explain a player's score: one part for right answers, one for wrong ones.

        Raises:
            NotFound: there is no such player.
        """
        players = self.counts["id"].to_pylist()
        if name not in players:
            raise NotFound(f"there is no player {name!r}: {did_you_mean(name, players)}")
        shown = self._board
        row = next((row for row in shown.rows() if row["id"] == name), None)
        reason = next((one.reason for one in shown.unscored if one.id == name), None)
        return Explanation(
            board,
            name,
            rank=None if row is None else row["rank"],
            score=None if row is None else row["score"],
            parts=(self._part(name, correct=True), self._part(name, correct=False)),
            places=PLACES,
            reason=reason,
        )

    @cached_property
    def _board(self) -> Board:
        ids = self.counts["id"].combine_chunks()
        right, wrong = (self.counts[name].to_numpy() for name in ("right", "wrong"))
        points = right * self.rules.right + wrong * self.rules.wrong
        played = right + wrong >= self.rules.min_answers
        order, ranks = ranking(ids.filter(played), [-points[played]], shared=True)
        rows = np.flatnonzero(played)[order]
        table = pa.table(
            {
                "rank": ranks,
                "id": ids.take(rows),
                "score": points[rows].astype(np.float64),
                "right": right[rows],
                "wrong": wrong[rows],
            }
        )
        unscored = [
            UnscoredRow(name, f"has fewer answers than min_answers ({self.rules.min_answers})")
            for name in ids.filter(~played).to_pylist()
        ]
        return Board("players", table, tuple(unscored), PLACES)

    def _part(self, name: str, *, correct: bool) -> Part:
        rule = "right" if correct else "wrong"
        each = self.rules.right if correct else self.rules.wrong
        answers = [
            row["id"]
            for row in self.answers.to_pylist()
            if row["player"] == name and row["correct"] == correct
        ]
        return Part(
            f"{rule} answers",
            points=float(each * len(answers)),
            inputs={"answers": len(answers)},
            rules={rule: each},
            text=f"{len(answers)} {rule} answer{'s' * (len(answers) != 1)}, {each} points each",
            records=(RecordRefs.of("answers", answers),),
        )
