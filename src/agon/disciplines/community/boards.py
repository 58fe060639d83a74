"""Order the community into its four boards: user score, contributor, reviewer, combined."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.community import achievements, formulas
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.tally import Tally
from agon.disciplines.community.texts import PLACES
from agon.kernel.arrays import BoolArray, FloatArray, IntArray
from agon.kernel.boards import Board, RankedBoard, UnscoredRow, id_order, ranking
from agon.kernel.rounding import publish
from agon.kernel.statistics import percentile_ranks

Columns = Callable[[IntArray], Mapping[str, pa.Array]]
"""Returns a board's own columns of the rows of some numbers."""

_MIDDLE = 50.0
"""The percentile of the middle of the field."""


def user_score(tally: Tally) -> Board:
    """Build the user-score board: each user's total over the components that count.

    Source: document 000, Scoring Formula.
    """
    facts = tally.facts
    facts.prepare()
    scores = publish(tally.totals, places=PLACES)
    further = {}
    if facts.rules.tiers:
        further["tier"] = pa.array([tier(score, facts.rules) for score in scores.tolist()])
    if facts.rules.achievements:
        further["badges"] = achievements.column(tally)

    def columns(people: IntArray) -> dict[str, pa.Array]:
        points = {component.name: points for component, points in tally.points(people).items()}
        return {"components": _struct(points), "counts": _counts(tally, people),
                **_rows_of(further)(people)}  # fmt: skip

    return _board("user-score", facts, scores, columns)


def contributor(facts: Facts) -> Board:
    """Build the contributor board: the summed quality of each user's prompts, and affiliation.

    Source: scores0001, contributor; community page, contributor board.
    """
    points = contributor_points(facts)
    known = facts.creator >= 0
    reviewed = known & (facts.reviews >= facts.rules.min_prompt_reviews)
    size = len(facts.people)
    counts = {
        "prompts": np.bincount(facts.creator[known], minlength=size),
        "reviewed_prompts": np.bincount(facts.creator[reviewed], minlength=size),
        "affiliation": facts.affiliated,
    }
    scores = publish(points["quality"] + points["affiliation"], places=PLACES)
    columns = {"components": _struct(points), "counts": _struct(counts)}
    return _board("contributor", facts, scores, _rows_of(columns))


def contributor_points(facts: Facts) -> dict[str, FloatArray]:
    """Return all users' points by part: ``quality`` of prompts, ``affiliation``."""
    quality, size = prompt_quality(facts), len(facts.people)
    prompts = np.flatnonzero((quality != 0) & (facts.creator >= 0))
    # Sorted, so that a sum does not depend on the order of the records.
    prompts = prompts[np.lexsort((quality[prompts], facts.creator[prompts]))]
    return {
        "quality": formulas.sum_by_group(facts.creator[prompts], quality[prompts], size=size),
        "affiliation": formulas.bonus(
            facts.affiliated, least=1, points=facts.rules.contributor_affiliation_bonus
        ),
    }


def prompt_quality(facts: Facts) -> FloatArray:
    """Return the share of positive reviews of each prompt, by the rule ``min_prompt_reviews``."""
    return formulas.quality(facts.positives, facts.reviews, least=facts.rules.min_prompt_reviews)


def reviewer(facts: Facts) -> Board:
    """Build the reviewer board: agreement with the other reviewers, for users with enough ratings.

    Source: scores0001, reviewer; community page, reviewer board.
    """
    rules, correlations = facts.rules, facts.correlations
    ranked = correlations.reviewed >= rules.min_reviewer_prompts
    scores = publish(correlations.r[ranked], places=PLACES)
    columns = {
        "components": _struct({"correlation": scores}),
        "counts": _struct({"reviewed_prompts": correlations.reviewed[ranked]}),
        "band": pa.array([band(r, rules) for r in scores.tolist()], pa.string()),
    }
    left = np.flatnonzero(~ranked)
    ids = facts.people.text.take(pa.array(left))
    order = np.argsort(id_order(ids))
    unscored = tuple(
        UnscoredRow(name, too_few_reviews(int(count), rules))
        for name, count in zip(
            ids.take(pa.array(order)).to_pylist(), correlations.reviewed[left[order]], strict=True
        )
    )
    return _board("reviewer", facts, scores, _rows_of(columns), ranked=ranked, unscored=unscored)


def combined_board(tally: Tally, boards: Mapping[str, Board]) -> Board:
    """Return the three scores with ranks and percentiles, in the order of user scores.

    A user specializes in the board whose percentile is in the upper half and leads the next one
    by the rule ``specialisation_margin``; who is not a ranked reviewer has no third score.

    Source: document 000, Combined View.
    """
    facts, size = tally.facts, len(tally.facts.people)
    scores, ranks, percentiles = {}, {}, {}
    for name, board in boards.items():
        index = facts.people_at(board.table["id"])
        values = board.table["score"].to_numpy()
        scores[name] = _scatter(index, values, size)
        ranks[name] = _scatter(index, board.table["rank"].to_numpy(), size)
        percentiles[name] = _scatter(index, publish(percentile_ranks(values), places=PLACES), size)
    total = scores["user-score"].to_numpy()
    columns = {
        "components": _struct(scores),
        "ranks": _struct(ranks),
        "percentiles": _struct(percentiles),
        "specialises": _specialities(percentiles, facts.rules),
        "counts": _counts(tally, np.arange(size)),
    }
    return _board("combined", facts, total, _rows_of(columns))


def band(r: float, rules: CommunityRules) -> str:
    """Return a reviewer's band under the rules."""
    return formulas.band(
        r,
        excellent=rules.reviewer_excellent,
        good=rules.reviewer_good,
        fair=rules.reviewer_fair,
    )


def tier(score: float, rules: CommunityRules) -> str:
    """Return a score's tier under the rules."""
    return formulas.tier(
        score, bronze=rules.tier_bronze, silver=rules.tier_silver, gold=rules.tier_gold
    )


def too_few_reviews(rated: int, rules: CommunityRules) -> str:
    """Return why a user is not ranked as a reviewer."""
    prompts = "1 prompt" if rated == 1 else f"{rated} prompts"
    return (
        f"rated {prompts} with at least {rules.min_prompt_reviews} reviews; "
        f"{rules.min_reviewer_prompts} are needed"
    )


def _board(
    name: str,
    facts: Facts,
    scores: FloatArray,
    columns: Columns,
    *,
    ranked: BoolArray | None = None,
    unscored: Sequence[UnscoredRow] = (),
) -> Board:
    ids = facts.people.ids
    if ranked is not None:
        ids = ids.filter(pa.array(ranked))
    order, ranks = ranking(ids, [-scores], shared=facts.rules.tie_ranks == "shared")

    def rows(at: IntArray) -> pa.Table:
        text = pc.cast(ids.take(pa.array(at)), pa.string())
        return pa.table({"id": text, "score": scores[at], **columns(at)})

    return RankedBoard.of(name, rows, order, ranks, unscored=tuple(unscored), places=PLACES)


def _rows_of(columns: Mapping[str, pa.Array]) -> Columns:
    return lambda index: {name: column.take(pa.array(index)) for name, column in columns.items()}


def _counts(tally: Tally, people: IntArray) -> pa.Array:
    return _struct({count.name: values[people] for count, values in tally.counts.items()})


def _struct(columns: Mapping[str, Any]) -> pa.Array:
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column) for column in columns.values()
    ]
    return pa.StructArray.from_arrays(arrays, names=list(columns))


def _scatter(at: IntArray, values: npt.NDArray[Any], size: int) -> pa.Array:
    """Return values at their users' indices; the others are empty."""
    full = np.zeros(size, dtype=values.dtype)
    absent = np.ones(size, dtype=bool)
    full[at], absent[at] = values, False
    return pa.array(full, mask=absent)


def _specialities(percentiles: Mapping[str, pa.Array], rules: CommunityRules) -> pa.Array:
    """Return the board each user specializes in, or ``none``."""
    names = [*percentiles, "none"]
    table = np.stack([column.fill_null(-1.0).to_numpy() for column in percentiles.values()], axis=1)
    if not len(table):
        return pa.array([], pa.string())
    ordered = np.sort(table, axis=1)
    leads = ordered[:, -1] - np.maximum(ordered[:, -2], 0) >= rules.specialisation_margin
    leads &= ordered[:, -1] > _MIDDLE
    best = np.where(leads, np.argmax(table, axis=1), len(percentiles))
    return pa.array(names).take(pa.array(best))
