"""Lay out a season by users and problems: points, who solved what, and who did so first."""

from collections.abc import Collection

import numpy as np

from agon.disciplines.capabilities import ProblemMatrix, Solution
from agon.disciplines.dojo.judgement import Judgement


def problem_matrix(judgement: Judgement, users: Collection[str]) -> ProblemMatrix:
    """Return what some users have on each problem, and who of all solved it first.

    A problem is solved by a submission that gives the hidden terms before the freeze. First is
    the order of arrival: ``created_at``, then source hash, then id (document 002, 5.3).

    Args:
        judgement: the judged season.
        users: whose solutions are wanted.
    """
    facts = judgement.facts
    s, ids = facts.submissions, facts.problems.ids
    # Facts are in order of arrival, so the first row of a problem is its first solution.
    right = np.flatnonzero(judgement.in_window)
    places, index = np.unique(s.problem[right], return_index=True)
    first = dict(zip(places.tolist(), s.user[right][index].tolist(), strict=True))
    pairs = np.unique(np.stack([s.problem[right], s.user[right]]), axis=1)
    solvers = np.bincount(pairs[0], minlength=len(ids))
    names = set(users)
    wanted = {number: name for number, name in enumerate(s.users) if name in names}
    best = judgement.of_pairs
    # A problem without any score may not be public yet.
    scored = sorted({int(place) for place in s.problem[best]}, key=ids.__getitem__)
    rows: dict[str, dict[str, Solution]] = {name: {} for name in wanted.values()}
    for row in best[np.isin(s.user[best], list(wanted))].tolist():
        place, user = int(s.problem[row]), int(s.user[row])
        rows[wanted[user]][ids[place]] = Solution(
            points=int(judgement.scores[row]),
            solved=bool(judgement.in_window[row]),
            first=first.get(place) == user,
        )
    return ProblemMatrix(
        problems=tuple(ids[place] for place in scored),
        solved_by={ids[place]: int(solvers[place]) for place in scored},
        solutions=rows,
    )
