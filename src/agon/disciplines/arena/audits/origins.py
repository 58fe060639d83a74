"""Probes of where matches come from: voters, influence, duplicates, names."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.arena.alike_names import alike_names
from agon.disciplines.arena.audits.board import (
    SURPRISE,
    AuditedBoard,
    Numbers,
    Vector,
    answer,
    number_of,
    unknown,
)
from agon.errors import NotScorable
from agon.kernel.figures import Probe
from agon.kernel.ratings.bradley_terry import BradleyTerry, bradley_terry
from agon.kernel.ratings.clusters import Clusters
from agon.kernel.ratings.covariance import (
    Covariance,
    invert,
    pair_matrices,
    sandwich_covariance,
)
from agon.kernel.ratings.pair_counts import PairCounts
from agon.kernel.ratings.weighted_pairs import weigh_pairs

_BUSIEST: Final = 0.01
_FAIR: Final = 5.0  # times its fair share
_DESIGN_EFFECT: Final = 1.5
_FEWEST_VOTERS: Final = 10
_EXAMINED: Final = 20
_COLUMNS: Final = 2  # judges and prompts
_COMPARED: Final = 200  # bots of whom all pairs are compared without a judge or prompt
_RARE: Final = 0.01  # a chance that few boards without a defect have

Flags = npt.NDArray[np.bool_]
_Change = tuple[str, int, tuple[str, ...], tuple[str, str] | None]
"""A judge or prompt, the largest change of a rank without it, who leaves its range of ranks, and
two bots that are not apart any more."""


def voters(board: AuditedBoard) -> Probe:
    """Say whether few voters cast many votes, and whether a voter's votes depend on one another."""
    column = board.column("judge")
    if column is None:
        return unknown("voters", "no match names its judge")
    encoded = pc.dictionary_encode(column)
    codes = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    votes = np.bincount(codes)
    if len(votes) < _FEWEST_VOTERS:
        return unknown("voters", f"{number_of(len(votes), 'judge')}: too few to compare")
    busiest = max(1, round(_BUSIEST * len(votes)))
    share, fair = float(np.sort(votes)[-busiest:].sum() / votes.sum()), busiest / len(votes)
    effect = _design_effect(board, codes)
    bound = max(_DESIGN_EFFECT, _effect_by_chance(votes, neighbors=len(board.names) - 1))
    top = np.argsort(-votes, kind="stable")[:busiest]
    names = [str(name) for name in encoded.dictionary.to_pylist()]
    return answer(
        "voters",
        figure=share,
        expected=fair,
        is_fine=share <= _FAIR * fair and effect <= bound,
        sentence=f"the busiest {busiest} of {len(votes):,} judges cast {share:.1%} of the votes "
        f"({fair:.1%} if all cast as many; fine up to {_FAIR * fair:.1%}); the design effect of "
        f"judges is {effect:.2f} (fine up to {bound:.2f})",
        records=tuple(names[index] for index in top if index < len(names)),
    )


def _design_effect(board: AuditedBoard, codes: np.ndarray) -> float:
    """Return the median ratio of variances with and without clusters of judges."""
    counts = board.strengths.counts
    fit = bradley_terry(counts, regularization=float(board.rules.bradley_terry_regularisation))
    center = np.full(counts.players, 1.0 / counts.players)
    clusters = Clusters(
        "judge", counts.players, board.a, board.b, board.score, (codes,), board.weight
    )
    clustered, alone = (
        sandwich_covariance(counts, fit, center=center, clusters=each) for each in (clusters, None)
    )
    first = np.arange(counts.players - 1)
    ratios = [
        (matrix[first, first] + matrix[first + 1, first + 1] - 2 * matrix[first, first + 1])
        for matrix in (clustered.estimates[0], alone.estimates[0])
    ]
    known = ratios[1] > 0
    return float(np.median(ratios[0][known] / ratios[1][known])) if known.any() else 1.0


def _effect_by_chance(votes: Numbers, *, neighbors: int) -> float:
    """Return the design effect that independent votes exceed with the probability of a surprise.

    One pair's ratio of variances is about χ² / n of n degrees of freedom, one less than the judges
    (as many of equal numbers of votes), and the median is above x where half of the pairs are.

    Example:
        >>> even = np.full(10, 60)
        >>> [round(_effect_by_chance(even, neighbors=each), 2) for each in (2, 5, 11, 99)]
        [3.1, 1.81, 1.5, 1.1]
    """
    from scipy.special import betaincinv, gammaincinv  # takes 0.1 s; only needed here

    half = (neighbors + 1) // 2
    exceeding = float(betaincinv(half, neighbors - half + 1, SURPRISE))
    freedom = max(1.0, float(votes.sum() ** 2 / np.square(votes).sum()) - 1)
    return 2 * float(gammaincinv(freedom / 2, 1 - exceeding)) / freedom


def influence(board: AuditedBoard) -> Probe:
    """Say how far one judge, or one prompt, moves a bot: by how many ranks, were it left out."""
    made = board.strengths.separation
    largest, worst = 0, ""
    outside: tuple[str, ...] = ()
    named = {name: board.column(name) for name in ("judge", "prompt")}
    columns = {
        name: column
        for name, column in named.items()
        if column is not None and pc.count_distinct(column).as_py() > 1
    }
    if not columns:
        known = [name for name, column in named.items() if column is not None]
        return unknown(
            "influence",
            f"all matches have one {' and one '.join(known)}, so that none can be left out"
            if known
            else "no match names its judge or its prompt",
        )
    merged = ""
    for name, column in columns.items():
        for value, change, left, pair in _changes(board, column):
            if change > largest or (left and not outside):
                largest, worst = max(largest, change), f"{name} {value}"
                outside = outside or left
            if pair is not None and not merged:
                merged = f"; without {name} {value} {pair[0]} and {pair[1]} are not apart any more"
    within = "; all bots stay within the ranks that their intervals allow"
    left_ranks = f"; {', '.join(outside)} leaves the ranks that its interval allows"
    return answer(
        "influence",
        figure=largest,
        expected=float(np.median(made.rank_high - made.rank_low)),
        is_fine=not outside and not merged,
        sentence=f"without {worst or 'any one of them'} the largest change of a rank is {largest}"
        f"{left_ranks if outside else within}{merged}",
        records=(worst.partition(" ")[2], *outside) if worst else (),
    )


def _changes(board: AuditedBoard, column: pa.Array) -> list[_Change]:
    """Return what follows for the ranks where each of the largest groups is left out."""
    encoded = pc.dictionary_encode(column)
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    sizes = np.bincount(codes[codes >= 0])
    made, players = board.strengths.separation, len(board.names)
    before = np.empty(players, dtype=np.int64)
    before[made.order] = np.arange(1, players + 1)
    gaps = _gaps(board)
    result = []
    for code in np.argsort(-sizes, kind="stable")[:_EXAMINED].tolist():
        rest = codes != code
        weight = None if board.weight is None else board.weight[rest]
        counts = weigh_pairs(
            board.a[rest], board.b[rest], board.score[rest], weight, players=players
        )
        try:
            fit = bradley_terry(
                counts,
                regularization=float(board.rules.bradley_terry_regularisation),
                start=board.theta,
            )
        except NotScorable:
            continue
        after = np.empty(players, dtype=np.int64)
        after[np.argsort(-fit.log_strength, kind="stable")] = np.arange(1, players + 1)
        left = np.flatnonzero((after < made.rank_low) | (after > made.rank_high))
        names = tuple(board.names[row] for row in left)
        change = int(np.abs(after - before).max())
        pair = None if gaps is None else _merged(gaps, board, counts, fit, ~rest)
        result.append((str(encoded.dictionary[code]), change, names, pair))
    return result


@dataclass(frozen=True, eq=False)
class _Gaps:
    """The differences of all pairs of bots on a board.

    Attributes:
        upper, lower: the better and the other bot of each pair.
        size: the difference of their log-strengths.
        is_apart: whether the two are apart.
        model: the covariance that the model expects.
        dispersion: how much more differences vary than that, in the median of all pairs.
        inverse: the inverse of the information: what a residual adds to the strengths.
    """

    upper: Numbers
    lower: Numbers
    size: Vector
    is_apart: npt.NDArray[np.bool_]
    model: Covariance
    dispersion: float
    inverse: Vector


def _gaps(board: AuditedBoard) -> _Gaps | None:
    """Return the differences of a board; None: it has another model, or bots beyond the limit."""
    strengths, players = board.strengths, len(board.names)
    if strengths.model is not None or not 1 < players <= _COMPARED:
        return None
    made, whole = strengths.separation, strengths.intervals.covariance
    upper, lower = (made.order[each] for each in np.triu_indices(players, 1))
    size = board.theta[upper] - board.theta[lower]
    variance, expected = (each.of_differences(upper, lower) for each in (whole, whole.model()))
    known = np.isfinite(expected) & (expected > 0)
    prior = float(board.rules.bradley_terry_regularisation)
    fit = bradley_terry(strengths.counts, regularization=prior, start=board.theta)
    bread, _ = pair_matrices(strengths.counts, fit.log_strength - fit.phantom, prior)
    return _Gaps(
        upper,
        lower,
        size,
        size > made.critical * np.sqrt(variance),
        whole.model(),
        float(np.median(variance[known] / expected[known])) if known.any() else 1.0,
        invert(bread, singular=prior == 0.0),
    )


def _merged(
    gaps: _Gaps, board: AuditedBoard, rest: PairCounts, fit: BradleyTerry, group: Flags
) -> tuple[str, str] | None:
    """Return two bots that are apart, and not without a group's matches; None: there are none.

    Fewer matches part fewer bots. So their gap has to shrink by more than chance explains: its
    change has the variance of the gap without the matches less that with them (Hausman 1978), as
    much larger as differences vary more than the model expects, and is a sum over few matches, of
    which a single one can be most: Bernstein's inequality bounds it, as no normal quantile does.
    """
    players = len(board.names)
    covariance = sandwich_covariance(rest, fit, center=np.full(players, 1.0 / players))
    after = fit.log_strength[gaps.upper] - fit.log_strength[gaps.lower]
    critical = board.strengths.separation.critical
    is_apart = after > critical * np.sqrt(covariance.of_differences(gaps.upper, gaps.lower))
    pairs = np.flatnonzero(gaps.is_apart & ~is_apart)
    upper, lower, shrinks = gaps.upper[pairs], gaps.lower[pairs], (gaps.size - after)[pairs]
    added = (each.of_differences(upper, lower) for each in (covariance.model(), gaps.model))
    variance = np.maximum(np.subtract(*added), 0.0) * gaps.dispersion
    log = np.log(2 * _COLUMNS * _EXAMINED * len(gaps.upper) / SURPRISE)
    surprising = np.flatnonzero(shrinks > np.sqrt(2 * variance * log))
    weight = 1.0 if board.weight is None else board.weight[group]
    for each in surprising[np.argsort(-shrinks[surprising], kind="stable")].tolist():
        effect = gaps.inverse[upper[each]] - gaps.inverse[lower[each]]  # of a bot's residual
        single = np.abs(effect[board.a[group]] - effect[board.b[group]]) * weight
        third = float(single.max(initial=0.0)) * log / 3
        if shrinks[each] > third + np.sqrt(third**2 + 2 * variance[each] * log):
            return board.names[int(upper[each])], board.names[int(lower[each])]
    return None


def duplicates(board: AuditedBoard) -> Probe:
    """Say whether matches repeat: the same bots, result, prompt and judge.

    Judges who are drawn for each match meet a prompt and a pair again by chance: of the pairs
    of matches that are alike but for the judge, the share that two matches have a judge in common.
    """
    from scipy.special import gammainc  # takes 0.1 s; only needed here

    prompt, judge = board.column("prompt"), board.column("judge")
    if prompt is None or judge is None:
        return unknown("duplicates", "matches do not name both prompt and judge")
    table = pa.table(
        {"a": board.a, "b": board.b, "score": board.score, "prompt": prompt, "judge": judge}
    )
    known = pc.and_(pc.is_valid(table["prompt"]), pc.is_valid(table["judge"]))
    grouped = table.filter(known).group_by(table.column_names).aggregate([([], "count_all")])
    repeated = grouped.filter(pc.greater(grouped["count_all"], 1))
    extra = int(pc.sum(repeated["count_all"]).as_py() or 0) - len(repeated)
    stated = table.filter(known)
    # A prompt has a usual result, and so has a judge: what either explains is no copy.
    chance = max(
        _pairs(stated, ["a", "b", "score", one]) * _pairs(stated, [other])
        for one, other in (("prompt", "judge"), ("judge", "prompt"))
    ) / max(1.0, _pairs(stated, []))
    return answer(
        "duplicates",
        figure=extra,
        expected=chance,
        is_fine=not extra or float(gammainc(_pairs(stated, stated.column_names), chance)) >= _RARE,
        sentence=f"{extra:,} matches repeat another one: the same bots on the same sides, result, "
        f"prompt and judge; {chance:,.1f} would by chance",
        records=tuple(str(value) for value in repeated["prompt"].to_pylist()[:20]),
    )


def _pairs(matches: pa.Table, columns: list[str]) -> float:
    """Count the pairs of matches with the same values in some columns."""
    counted = matches.group_by(columns).aggregate([([], "count_all")])["count_all"].to_numpy()
    return float((counted * (counted - 1.0) / 2.0).sum())


def names(board: AuditedBoard) -> Probe:
    """Say whether bots have names that look alike: one bot, perhaps, under several."""
    alike = alike_names(map(str, board.facts.bots.ids.to_pylist()))
    shown = "; ".join(", ".join(map(repr, group)) for group in alike[:3])
    return answer(
        "names",
        figure=sum(map(len, alike)),
        expected=0,
        is_fine=not alike,
        sentence=f"{sum(map(len, alike))} bots have names that look like another's"
        + (f": {shown}" if shown else ""),
        records=tuple(name for group in alike for name in group),
    )
