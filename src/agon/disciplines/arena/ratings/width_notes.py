"""Say in words why intervals are as wide as they are."""

from collections.abc import Callable

import numpy as np

from agon.disciplines.arena.formulas import Vector
from agon.kernel.ratings.clusters import FEW, Clusters
from agon.kernel.ratings.intervals import Intervals
from agon.kernel.ratings.pair_counts import PairCounts

_NO_WIDTH = 1e6  # times as wide: the other width is 0 but for rounding
_WIDER = 1.1  # what is said; below it, drawn boards without ties differ as much


def width_notes(
    intervals: Intervals,
    counts: PairCounts,
    clusters: Clusters | None,
    *,
    alone: Callable[[], Intervals],
) -> tuple[str, ...]:
    """Return what was clustered and by how much it widened, and where the model's width holds.

    Args:
        intervals: of the board.
        counts: outcomes per pair of the rated bots.
        clusters: of the rated matches; None: they are independent.
        alone: returns the intervals without clusters.
    """
    covariance = intervals.covariance
    model = _ratio(*(np.sqrt(each.of_ratings()) for each in (covariance, covariance.robust())))
    of_model: tuple[str, ...] = ()
    if model is not None and model >= _WIDER:
        of_model = (_model_note(intervals, counts, clusters, model),)
    if clusters is None:
        return of_model
    unclustered = alone()
    widening = _ratio(intervals.high - intervals.low, unclustered.high - unclustered.low)
    return (*cluster_notes(clusters, widening), *of_model)


def _ratio(widths: Vector, others: Vector) -> float | None:
    """Return how many times as wide, in the median; None: nothing has a width."""
    known = widths > 0  # an anchor has none
    if not known.any():
        return None
    with np.errstate(divide="ignore"):
        return float(np.median(widths[known] / others[known]))


def _model_note(
    intervals: Intervals, counts: PairCounts, clusters: Clusters | None, ratio: float
) -> str:
    """Say that the model's own variance is the larger one, and what makes the other small."""
    ties = 100.0 * int(counts.tied.sum()) / int(counts.matches.sum())
    why = f"{ties:.0f} % of matches are ties" if ties else "few matches can fit by luck"
    if clusters is not None and min(clusters.groups) < FEW:
        why = "few clusters can be alike by luck"
    known = f"{ratio:.2f} times as wide as by the {intervals.method} alone"
    none = f"above 0, the width by the {intervals.method} alone"
    return (
        f"no interval is narrower than the model's own: these are "
        f"{known if ratio < _NO_WIDTH else none} ({why})"
    )


def cluster_notes(clusters: Clusters | None, widening: float | None) -> tuple[str, ...]:
    """Return in words what was clustered, by how much it widened, and whether clusters are few.

    Args:
        clusters: of the rated matches.
        widening: the median ratio of standard errors with and without clusters.
    """
    if clusters is None or widening is None:
        return ()
    listed = " and ".join(f"{groups:,}" for groups in clusters.groups)
    ratio = f"intervals are {widening:.2f} times as wide as those of independent matches"
    notes = [f"matches are clustered by {clusters.by} ({listed}): {ratio}"]
    if min(clusters.groups) < FEW:
        notes.append(
            f"there are fewer than {FEW} clusters: their covariance is itself uncertain, and "
            "intervals may be too narrow"
        )
    return tuple(notes)
