"""Estimate true classes and each worker's accuracy from labels: the Dawid–Skene model.

Every worker has a confusion matrix, every task an unknown true class; expectation maximization
estimates both. A worker and a label form a *cell*: with labels sorted by task once, the E-step
sums rows of cells into tasks and the M-step rows of tasks into cells. Little is summed column by
column with numpy, much by a compiled loop; both add in the same order, so the bits are the same.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable
from agon.kernel.arrays import BoolArray, FloatArray, IntArray
from agon.kernel.compiling import compile_loop
from agon.kernel.statistics import wilson

COMPILED_FROM = 200_000
"""Labels from which compiled loops pay for their loading (numpy takes about 40 ns a label)."""


@dataclass(frozen=True, eq=False)
class LabelSums:
    """Labels sorted by task, then cell: task ``t`` has ``cell[offsets[t]:offsets[t + 1]]``."""

    cell: IntArray
    offsets: IntArray
    classes: int
    compiled: bool

    @classmethod
    def of(cls, task: IntArray, cell: IntArray, *, cells: int, classes: int) -> "LabelSums":
        """Sort labels, so that no sum depends on the order of the rows; tasks are dense."""
        # One sort of one integer per label orders by task, then by cell.
        keys = np.sort(task * cells + cell)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(task))])
        owner = np.repeat(np.arange(len(offsets) - 1), offsets[1:] - offsets[:-1])
        # Subtracting the task's part leaves the cell, so no permutation has to be kept.
        return cls(keys - owner * cells, offsets, classes, len(keys) >= COMPILED_FROM)

    def into_tasks(self, rows: FloatArray, first: int, *, out: FloatArray) -> None:
        """Fill ``out[:, t]`` with the sum of ``rows[cell]`` over the labels of ``first + t``."""
        offsets = self.offsets[first : first + out.shape[1] + 1]
        if self.compiled:
            compile_loop(_into_tasks)(out, rows, self.cell, offsets, (0,) * self.classes)
            return
        task, cell = self._labels(offsets)
        for column, sums in enumerate(out):
            # bincount adds in the order of the labels, as the compiled loop does.
            sums[:] = np.bincount(task, rows[cell, column], minlength=len(sums))

    def into_cells(self, rows: FloatArray, first: int, *, out: FloatArray) -> None:
        """Add ``rows[:, t]`` to ``out[cell]`` for each label of ``first + t``."""
        offsets = self.offsets[first : first + rows.shape[1] + 1]
        if self.compiled:
            compile_loop(_into_cells)(out, rows, self.cell, offsets, (0,) * self.classes)
            return
        task, cell = self._labels(offsets)
        for column, row in enumerate(rows):
            np.add.at(out[:, column], cell, row[task])

    def _labels(self, offsets: IntArray) -> tuple[IntArray, IntArray]:
        """Return the task (from 0) and the cell of each label of some tasks."""
        task = np.repeat(np.arange(len(offsets) - 1), offsets[1:] - offsets[:-1])
        return task, self.cell[offsets[0] : offsets[-1]]


def _into_tasks(out: Any, rows: Any, cell: Any, offsets: Any, columns: Any) -> None:
    """Compiled only. ``columns`` is a tuple for its length, which the compiler then knows."""
    for task in range(len(offsets) - 1):
        for column in range(len(columns)):
            out[column, task] = 0.0
        for label in range(offsets[task], offsets[task + 1]):
            source = cell[label]
            for column in range(len(columns)):
                out[column, task] += rows[source, column]


def _into_cells(out: Any, rows: Any, cell: Any, offsets: Any, columns: Any) -> None:
    """Compiled only, as :func:`_into_tasks`."""
    for task in range(len(offsets) - 1):
        for label in range(offsets[task], offsets[task + 1]):
            target = cell[label]
            for column in range(len(columns)):
                out[target, column] += rows[column, task]


FLOOR = 1e-10
"""Minimum probability of a label a worker gave and of a class; avoids the logarithm of 0."""

_LANES = 2  # tasks are split into so many threads; fixed: sums depend on it
_BLOCK = 12_500  # tasks per step: their posteriors fit into the core's cache


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """The estimate for T tasks, W workers and K classes.

    Attributes:
        priors: share of each class, K, summing to 1.
        confusion: P(label l | worker w, true class k) at ``[w, k, l]``, W x K x K.
        posteriors: P(true class k | the labels of task t) at ``[t, k]``, T x K.
        seen: expected number of worker w's labels on tasks of true class k, W x K.
        log_likelihoods: log-likelihood of all labels at the start of each iteration, ascending.
        converged: False when the maximum number of iterations was reached first.
    """

    priors: FloatArray
    confusion: FloatArray
    posteriors: FloatArray
    seen: FloatArray
    log_likelihoods: FloatArray
    converged: bool

    @property
    def iterations(self) -> int:
        """Return the number of iterations."""
        return len(self.log_likelihoods)

    @property
    def truth(self) -> IntArray:
        """Return each task's most probable class (the lower number on a tie)."""
        return self.posteriors.argmax(axis=1)


@dataclass(frozen=True, eq=False)
class WorkerAccuracy:
    """Each worker's accuracy, its interval and effective number of labels (all of length W)."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    effective_labels: FloatArray


def dawid_skene(
    tasks: npt.ArrayLike,
    workers: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    classes: int,
    iterations: int = 100,
    tolerance: float = 1e-5,
) -> DawidSkene:
    """Estimate truth and confusion matrices by expectation maximization, from one row per label.

    Start: each task's posterior is the share of its labels. Then alternate the M-step
    π_k = mean posterior, C_w[k, l] ∝ Σ posterior of k over the tasks w labeled l, and the
    E-step posterior_t[k] ∝ π_k Π C_w[k, l] over the labels of t. It ends when the log-likelihood
    gains less than ``tolerance`` per label, or after ``iterations``. Deterministic, and
    independent of the order of the rows.

    Args:
        tasks: task numbers 0 … T - 1, each with at least one label.
        workers: worker numbers 0 … W - 1, each with at least one label.
        labels: class numbers 0 … K - 1.
        classes: K.
        iterations: maximum number of iterations, at least 1.
        tolerance: minimum gain per label for another iteration.

    Raises:
        NotScorable: when there are no labels.
        ValueError: when columns differ in length or numbers are not dense.

    Source: arena, integrity findings (judge accuracy); Dawid and Skene 1979.

    Example:
        >>> fit = dawid_skene([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1], classes=2)
        >>> fit.truth.tolist(), fit.confusion[2].round(2).tolist()  # worker 2 always labels 1
        ([0, 1], [[0.0, 1.0], [0.0, 1.0]])
    """
    if iterations < 1:
        raise ValueError(f"expected at least 1 iteration, got {iterations}")
    # Dense numbers make every lookup below an array index.
    task, worker, label = _dense_columns(tasks, workers, labels, classes)
    shape = (int(worker.max()) + 1, classes, classes)  # worker, label, true class
    cell = worker * classes + label
    # A label that a worker never gave must not take probability from the others.
    used = np.bincount(cell, minlength=shape[0] * classes) > 0
    sums = LabelSums.of(task, cell, cells=len(used), classes=classes)
    posteriors = _majority(task, label, classes)  # one row per class: each step runs along it
    gain = tolerance * len(label)  # twice the data has twice the gain
    counts, trace, converged = _maximize(
        sums, posteriors, used, iterations=iterations, tolerance=gain
    )
    return DawidSkene(
        priors=_mean(posteriors),
        confusion=_chances(counts, used).reshape(shape).transpose(0, 2, 1),
        posteriors=posteriors.T,
        seen=counts.reshape(shape).sum(axis=1),
        log_likelihoods=np.array(trace),
        converged=converged,
    )


def _maximize(
    sums: LabelSums,
    posteriors: FloatArray,
    used: BoolArray,
    *,
    iterations: int,
    tolerance: float,
) -> tuple[FloatArray, list[float], bool]:
    """Alternate M-step and E-step; ``posteriors`` is updated in place.

    Returns:
        The expected labels by cell and true class, the log-likelihood at the start of each
        iteration, and whether the last gain was below ``tolerance``.
    """
    lanes = _lanes(posteriors.shape[1])
    # Each lane adds to sums of its own, so that no thread waits and no order of threads matters.
    lane_counts = np.zeros((len(lanes), len(used), len(posteriors)))  # lane, cell, true class
    for lane, part in zip(lanes, lane_counts, strict=True):
        sums.into_cells(posteriors[:, lane], lane.start, out=part)
    trace: list[float] = []
    converged = False
    with ThreadPoolExecutor(_LANES) as threads:  # numpy releases the interpreter lock
        # For few labels, handing work to threads takes longer than the work.
        side_by_side = threads.map if sums.compiled else map
        while len(trace) < iterations and not converged:
            # M-step of this iteration; the E-step below makes the counts of the next.
            chances = _chances(lane_counts.sum(axis=0), used)
            expect = partial(
                _expect,
                sums=sums,
                log_priors=np.log(np.maximum(_mean(posteriors), FLOOR)),
                log_chances=np.log(np.where(used[:, None], chances, 1.0)),
                posteriors=posteriors,
            )
            trace.append(sum(side_by_side(expect, lanes, lane_counts)))
            converged = len(trace) > 1 and trace[-1] - trace[-2] < tolerance
    return lane_counts.sum(axis=0), trace, converged


def worker_accuracy(fit: DawidSkene, *, confidence: float) -> WorkerAccuracy:
    """Estimate each worker's accuracy Σ_k π_k C_w[k, k]: its chance to be right on any task.

    The interval is Wilson's, over 1 / (Σ_k π_k² / (N_wk + π_k)) - 1 effective labels, where N_wk
    is how many labels on class k the worker is expected to have given: n labels distributed like
    the classes count n, and at most (1 - π_k) / π_k count when class k was never seen.
    Posteriors are taken as known, so with few labels per task the interval is somewhat narrow.

    Raises:
        ValueError: when ``confidence`` is not inside 0 … 1.

    Source: arena, integrity findings (Dawid–Skene judge accuracy with its interval).

    Example:
        >>> fit = dawid_skene([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1], classes=2)
        >>> accuracy = worker_accuracy(fit, confidence=0.95)
        >>> accuracy.value.round(3).tolist(), accuracy.effective_labels.round(3).tolist()
        ([1.0, 1.0, 0.5], [2.0, 2.0, 2.0])
    """
    value = np.clip(np.einsum("k,wkk->w", fit.priors, fit.confusion), 0.0, 1.0)
    priors = np.maximum(fit.priors, FLOOR)
    effective = np.maximum(1 / (priors**2 / (fit.seen + priors)).sum(axis=1) - 1, 0.0)
    accuracies = [
        wilson(share * trials, trials=trials, confidence=confidence)
        for share, trials in zip(value.tolist(), effective.tolist(), strict=True)
    ]
    return WorkerAccuracy(
        value=value,
        low=np.array([interval.low for interval in accuracies]),
        high=np.array([interval.high for interval in accuracies]),
        effective_labels=effective,
    )


def _majority(task: IntArray, label: IntArray, classes: int) -> FloatArray:
    """Return the share of each label among a task's labels (classes x tasks)."""
    tasks = int(task.max()) + 1
    counts = np.bincount(label * tasks + task, minlength=classes * tasks).reshape(classes, tasks)
    return counts / np.bincount(task)


def _lanes(tasks: int) -> list[slice]:
    return [
        slice(*edges) for edges in pairwise(tasks * lane // _LANES for lane in range(_LANES + 1))
    ]


def _expect(
    lane: slice,
    counts: FloatArray,
    *,
    sums: LabelSums,
    log_priors: FloatArray,
    log_chances: FloatArray,
    posteriors: FloatArray,
) -> float:
    """Compute the E-step for a lane of tasks, and its part of the sums for the next M-step.

    Fill the lane's ``posteriors`` and ``counts``; return the log-likelihood of its labels.
    """
    counts[:] = 0.0
    log_likelihood = 0.0
    for low in range(lane.start, lane.stop, _BLOCK):
        block = posteriors[:, low : min(low + _BLOCK, lane.stop)]
        sums.into_tasks(log_chances, low, out=block)
        log_likelihood += _softmax(block, log_priors)
        sums.into_cells(block, low, out=counts)
    return log_likelihood


def _softmax(scores: FloatArray, log_priors: FloatArray) -> float:
    """Convert log P(labels | class) to posteriors in place; return the log-likelihood."""
    scores += log_priors[:, None]
    # Without it exp() of the sum of many logarithms would be 0 for every class.
    best = scores.max(axis=0)
    scores -= best
    np.exp(scores, out=scores)
    total = scores.sum(axis=0)
    scores /= total
    # log Σ exp(s) = best + log Σ exp(s - best).
    return float(best.sum() + np.log(total).sum())


def _chances(counts: FloatArray, used: BoolArray) -> FloatArray:
    """Return expected counts (cells x true class) as probabilities over each worker's labels.

    A label the worker never gave has probability 0, so that it does not lower the others.
    """
    classes = counts.shape[1]
    floored = np.maximum(counts, np.where(used, FLOOR, 0.0)[:, None]).reshape(-1, classes, classes)
    # Label by label: adding a few slices is twice as fast as a sum along a short axis.
    totals = reduce(np.add, [floored[:, label] for label in range(classes)])
    return (floored / totals[:, None]).reshape(counts.shape)


def _mean(posteriors: FloatArray) -> FloatArray:
    return posteriors.sum(axis=1) / posteriors.shape[1]


def _dense_columns(
    tasks: npt.ArrayLike, workers: npt.ArrayLike, labels: npt.ArrayLike, classes: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Check the three columns of numbers once."""
    columns = {
        name: np.asarray(column, dtype=np.int64)
        for name, column in (("task", tasks), ("worker", workers), ("label", labels))
    }
    task, worker, label = columns.values()
    if not task.shape == worker.shape == label.shape == (task.size,):
        raise ValueError(f"{task.size}, {worker.size}, {label.size} numbers; expected equal counts")
    if not len(label):
        raise NotScorable("there are no labels to learn from")
    for name, column in columns.items():
        if column.min() < 0:
            raise ValueError(f"a {name} number is negative; expected numbers from 0 on")
    for name, column in (("task", task), ("worker", worker)):
        if column.max() >= len(column) or not np.bincount(column).all():
            raise ValueError(f"{name} numbers have gaps; number those with labels 0, 1, 2 …")
    if label.max() >= classes:
        raise ValueError(f"expected labels below {classes} (classes), got {label.max()}")
    return task, worker, label
