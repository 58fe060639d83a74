"""Score a season: a board per problem, and the season's board over all of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from agon.disciplines.dojo import explanations
from agon.disciplines.dojo.facts import collect
from agon.disciplines.dojo.judgement import Judgement, judge
from agon.disciplines.dojo.rules import DojoRules
from agon.errors import NotFound, did_you_mean
from agon.kernel.boards import Board, UnscoredRow, ranking
from agon.kernel.explanations import Explanation
from agon.records import Records

PLACES = 0
"""Decimals of a dojo score: all points are integers."""


def score(records: Records, rules: DojoRules) -> "ScoredSeason":
    """Score a season's records; no program is run."""
    return ScoredSeason(judge(collect(records), rules))


@dataclass(frozen=True)
class ScoredSeason:
    """A judged season; boards and explanations are computed on demand."""

    judgement: Judgement

    @property
    def boards(self) -> tuple[str, ...]:
        """The season's board and that of each problem."""
        return ("season", *(f"problem:{name}" for name in self.judgement.facts.problems.ids))

    def board(self, name: str) -> Board:
        """Return ``season`` or ``problem:<id>``.

        Raises:
            NotFound: the problem does not exist.
        """
        return self.season if name == "season" else self._problem(self._place(name))

    def withholding(self, discloses: Callable[[str], bool]) -> "ScoredSeason":
        """Return the season with explanations that name matched terms of some problems only.

        Args:
            discloses: whether they name those of submissions to a problem, by its id.
        """
        ids = self.judgement.facts.problems.ids
        places = frozenset(place for place, name in enumerate(ids) if not discloses(name))
        return ScoredSeason(replace(self.judgement, withheld=places))

    def explain(self, name: str, *, board: str) -> Explanation:
        """Explain a user's score on the season's board or on one problem's.

        Raises:
            NotFound: the user has no submission there.
        """
        users = self.judgement.facts.submissions.users
        if name not in users:
            raise NotFound(f"there is no user {name!r}: {did_you_mean(name, users[:10_000])}")
        shown = self.board(board)
        if board == "season":
            return explanations.season(self.judgement, users.index(name), shown)
        return explanations.problem(self.judgement, users.index(name), self._place(board), shown)

    @cached_property
    def season(self) -> Board:
        """Return the season's board: the sum of each user's best per problem.

        Order: total descending, reward corrects descending, median bytes ascending, user id.
        """
        j, s = self.judgement, self.judgement.facts.submissions
        best = j.of_pairs
        size = len(s.users)
        counts = np.bincount(s.user[best], minlength=size)
        users = np.flatnonzero(counts)
        totals = np.bincount(s.user[best], j.scores[best], size).astype(np.int64)
        stages = np.bincount(s.user[best], j.stage[best], size).astype(np.int64)
        rewards = np.bincount(s.user[best], j.reward[best], size).astype(np.int64)
        medians = _medians(s.user[best][j.reward[best]], s.l_chars[best][j.reward[best]], size)
        ids = pa.array([s.users[user] for user in users], pa.string())
        # Without a reward-correct program there is no median; such users come last among equals.
        shown = np.where(np.isnan(medians[users]), np.inf, medians[users])
        order, ranks = ranking(ids, [-totals[users], -rewards[users], shown], shared=False)
        rows = users[order]
        table = pa.table(
            {
                "rank": ranks,
                "id": ids.take(order),
                "score": totals[rows].astype(np.float64),
                "problems": counts[rows],
                "stage_passes": stages[rows],
                "reward_corrects": rewards[rows],
                "median_l_chars": pa.array(medians[rows], from_pandas=True),
            }
        )
        return Board("season", table, self._without(best, np.arange(len(s))), PLACES)

    def _problem(self, place: int) -> Board:
        j, s = self.judgement, self.judgement.facts.submissions
        rows = j.best[s.problem[j.best] == place]
        table = pa.table(
            {
                "rank": np.arange(1, len(rows) + 1, dtype=np.int64),
                "id": pa.array([s.users[user] for user in s.user[rows]], pa.string()),
                "score": j.scores[rows].astype(np.float64),
                "submission_id": pa.array([s.ids[row] for row in rows], pa.string()),
                "l_chars": s.l_chars[rows],
                "base": j.base[rows],
                "brevity": j.brevity[rows],
                "diversity": j.diversity[rows],
            }
        )
        name = f"problem:{j.facts.problems.ids[place]}"
        return Board(name, table, self._without(rows, np.flatnonzero(s.problem == place)), PLACES)

    def _without(self, scored: Any, rows: Any) -> tuple[UnscoredRow, ...]:
        """Return the users among ``rows`` who have no scored submission, with every reason."""
        j, s = self.judgement, self.judgement.facts.submissions
        done = np.zeros(len(s.users), dtype=bool)
        done[s.user[scored]] = True
        reasons: dict[int, dict[str, None]] = {}
        for row in rows[~done[s.user[rows]]]:
            reasons.setdefault(int(s.user[row]), {})[str(j.unscored[row])] = None
        return tuple(
            UnscoredRow(s.users[user], "; ".join(reasons[user])) for user in sorted(reasons)
        )

    def _place(self, board: str) -> int:
        name = board.removeprefix("problem:")
        ids = self.judgement.facts.problems.ids
        if name not in ids:
            raise NotFound(f"there is no problem {name!r}: {did_you_mean(name, ids)}")
        return ids.index(name)


def _medians(users: Any, lengths: Any, size: int) -> Any:
    """Return each user's median length, NaN where there is none."""
    medians = np.full(size, np.nan)
    # One number encodes user and length: sorting it is many times faster than sorting two columns.
    distinct, places = np.unique(lengths, return_inverse=True)
    width = len(distinct)
    ordered = np.sort(users * width + places)
    counts = np.bincount(users, minlength=size)
    opens = np.cumsum(counts) - counts
    some = np.flatnonzero(counts)
    low, high = (
        distinct[ordered[(opens + (counts - odd) // 2)[some]] - some * width] for odd in (1, 0)
    )
    medians[some] = (low + high) / 2
    return medians
