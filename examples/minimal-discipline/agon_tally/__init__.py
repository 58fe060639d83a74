"""The smallest discipline: names are ranked by the ballots that they get."""

from dataclasses import dataclass

import pyarrow as pa

from agon.disciplines import Discipline
from agon.errors import NotFound
from agon.kernel.boards import Board, ranking
from agon.kernel.explanations import Explanation, Part
from agon.kernel.rules import Rules, rule
from agon.records import Column, Kind, Records, Schema, Table

BALLOTS = Table("ballots", (Column("id", Kind.ID), Column("name", Kind.ID)), required=True)
COUNTS = "SELECT name::VARCHAR AS id, count(*) AS ballots FROM ballots GROUP BY name ORDER BY name"


class TallyRules(Rules):
    """The one rule."""

    points: int = rule(1, meaning="Points of a ballot.", reason="One each.", source="us", ge=1)


@dataclass(frozen=True)
class Tally:
    """The number of ballots by name."""

    counts: pa.Table
    rules: TallyRules

    def board(self, name: str) -> Board:
        """Return the board."""
        ids, ballots = self.counts["id"].combine_chunks(), self.counts["ballots"].to_numpy()
        order, ranks = ranking(ids, [-ballots], shared=True)
        points = ballots[order] * float(self.rules.points)
        return Board(name, pa.table({"rank": ranks, "id": ids.take(order), "score": points}), (), 0)

    def explain(self, name: str, *, board: str) -> Explanation:
        """Explain the score of a name."""
        rows = {row["id"]: row for row in self.board(board).rows()}
        if name not in rows:
            raise NotFound(f"nobody voted for {name!r}")
        rank, score = rows[name]["rank"], rows[name]["score"]
        part = Part("ballots", score, {}, {"points": self.rules.points}, "points of its ballots")
        return Explanation(board, name, rank, score, (part,), 0)


def score(records: Records, rules: TallyRules) -> Tally:
    """Score records under rules."""
    return Tally(records.sql(COUNTS), rules)


DISCIPLINE = Discipline(
    name="tally",
    schema=Schema("tally", (BALLOTS,)),
    rules=TallyRules,
    boards=("names",),
    score=score,
    participants=("ballots.name",),
    editions="agon_tally",
)
