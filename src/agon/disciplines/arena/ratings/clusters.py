"""Choose which matches depend on one another: those of one prompt, of one judge, or of both."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.arena.facts import Matches
from agon.disciplines.arena.formulas import Ints, Vector
from agon.disciplines.arena.history import Ratings
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotScorable
from agon.kernel.ratings.clusters import FEW, Clusters

_COLUMNS: Final = {"prompt": "prompt_id", "judge": "judge"}
_CRITERIA: Final = {"auto": ("prompt",), "both": ("prompt", "judge")}


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The rated matches with what they may depend on, in any order.

    Attributes:
        a, b: bot numbers.
        score: 1 when a won, 0.5 on a tie, 0 when b won.
        prompt, judge: of each match, as text; None: no match has any.
        weight: of each match; None: all are 1.
        covariates: what may decide each match besides strengths, by name.
    """

    a: npt.NDArray[np.integer]
    b: npt.NDArray[np.integer]
    score: Vector
    prompt: pa.Array | None
    judge: pa.Array | None
    weight: Vector | None = None
    covariates: Mapping[str, Vector] = field(default_factory=dict)


_NOBODY: Final = np.zeros(0, dtype=np.int32)
NO_VERDICTS: Final = Verdicts(_NOBODY, _NOBODY, np.zeros(0), None, None)
"""Stands for matches of which none depends on another, where only their counts are known."""


def verdicts_of(matches: Matches, ratings: Ratings) -> Verdicts:
    """Return the rated matches of those in memory."""
    prompt, judge = (
        None if column is None else column.take(pa.array(ratings.match))
        for column in (matches.prompt, matches.judge)
    )
    return Verdicts(ratings.a, ratings.b, ratings.score, prompt, judge, ratings.weight)


def clusters_of(verdicts: Verdicts, rules: ArenaRules, *, row: Ints) -> Clusters | None:
    """Return the clusters of the rated matches under the rule ``cluster``; None: there are none.

    A match without a prompt, or a judge, is a cluster of its own.

    Args:
        verdicts: the rated matches.
        rules: ``cluster`` counts.
        row: the row of each bot among the rated ones, −1 for others, whose matches do not count.

    Raises:
        NotScorable: the rule names a column that is missing or has one value.
    """
    if rules.cluster == "none" or (rules.cluster == "auto" and verdicts.prompt is None):
        return None
    a, b = row[verdicts.a], row[verdicts.b]
    inner = np.flatnonzero((a >= 0) & (b >= 0))
    if not len(inner):
        return None
    names = _CRITERIA.get(rules.cluster, (rules.cluster,))
    codes = []
    for name in names:
        column = verdicts.prompt if name == "prompt" else verdicts.judge
        distinct = None if column is None else _number(column.take(pa.array(inner)))
        groups = 0 if distinct is None else int(distinct.max()) + 1
        if rules.cluster == "auto" and not FEW <= groups < len(inner):
            return None
        if distinct is None or groups <= 1:
            fact = "no match has a value" if distinct is None else "all matches have one value"
            raise NotScorable(
                f"cluster={rules.cluster}: {fact} in the column {_COLUMNS[name]!r}, and clusters "
                "need two: set cluster=none, or record it",
                instead={"cluster": next((each for each in names if each != name), "none")},
            )
        codes.append(distinct)
    a, b, score = a[inner], b[inner], verdicts.score[inner]
    weight = np.ones(len(inner)) if verdicts.weight is None else verdicts.weight[inner]
    # Sums do not depend on the order of the source.
    order = np.lexsort((weight, score, b, a, *codes))
    return Clusters(
        " and ".join(names),
        int(row.max()) + 1,
        a[order],
        b[order],
        score[order],
        tuple(each[order] for each in codes),
        None if verdicts.weight is None else weight[order],
        inner[order],
    )


def _number(column: pa.Array) -> npt.NDArray[np.int64] | None:
    """Number the values of a column in their order, then each missing one by itself.

    None: all are missing.
    """
    encoded = pc.dictionary_encode(column)
    missing = np.asarray(column.is_null())
    if missing.all():
        return None
    place = np.empty(len(encoded.dictionary), dtype=np.int64)
    place[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(place))
    codes = place[encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
    codes[missing] = len(place) + np.arange(np.count_nonzero(missing))
    return codes
