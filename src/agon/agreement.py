"""How far raters of the same items agree beyond chance, and what is true according to all of them.

All functions take columns of one row per rating: lists, numpy arrays, or columns of a data frame.

Example:
    >>> from agon import agreement
    >>> agreement.cohen_kappa(["a", "a", "b", "b"], ["a", "b", "b", "b"]).value
    0.5
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agon.kernel.agreement.cohen_kappa import CohenKappa, cohen_kappa
from agon.kernel.agreement.dawid_skene import dawid_skene as _fit
from agon.kernel.agreement.dawid_skene import worker_accuracy
from agon.kernel.agreement.fleiss_kappa import FleissKappa, fleiss_kappa
from agon.kernel.agreement.krippendorff_alpha import KrippendorffAlpha, krippendorff_alpha

__all__ = [
    "CohenKappa",
    "FleissKappa",
    "KrippendorffAlpha",
    "TruthEstimate",
    "WorkerEstimate",
    "cohen_kappa",
    "dawid_skene",
    "fleiss_kappa",
    "krippendorff_alpha",
]


@dataclass(frozen=True)
class WorkerEstimate:
    """How often a worker is right, with its interval and effective number of labels."""

    accuracy: float
    low: float
    high: float
    effective_labels: float


@dataclass(frozen=True)
class TruthEstimate:
    """What the labels of all workers say together.

    Attributes:
        truth: the most probable label of each task.
        probability: the probability of that label, by task.
        workers: the accuracy of each worker.
        converged: False when the maximum number of iterations was reached first.
    """

    truth: Mapping[Any, Any]
    probability: Mapping[Any, float]
    workers: Mapping[Any, WorkerEstimate]
    converged: bool


def dawid_skene(
    tasks: npt.ArrayLike,
    workers: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    iterations: int = 100,
    tolerance: float = 1e-5,
) -> TruthEstimate:
    """Estimate the true label of each task and the accuracy of each worker.

    The model of Dawid and Skene: every worker has a confusion matrix, every task an unknown true
    label; expectation maximization estimates both, and starts at the majority of each task.

    Args:
        tasks: the task of each label, as numbers or text.
        workers: the worker that gave it.
        labels: the label.
        confidence: the level of the workers' intervals.
        iterations: maximum number of iterations, at least 1.
        tolerance: minimum gain of log-likelihood per label for another iteration.

    Raises:
        NotScorable: when there are no labels.
        ValueError: when columns differ in length, or a value is missing.

    Example:
        >>> estimate = dawid_skene(
        ...     tasks=["t1", "t1", "t1", "t2", "t2", "t2"],
        ...     workers=["ann", "bob", "cy", "ann", "bob", "cy"],
        ...     labels=["no", "no", "yes", "yes", "yes", "yes"],
        ... )
        >>> estimate.truth, round(estimate.workers["cy"].accuracy, 3)  # cy always says yes
        ({'t1': 'no', 't2': 'yes'}, 0.5)
    """
    task_names, task = _number("tasks", tasks)
    worker_names, worker = _number("workers", workers)
    label_names, label = _number("labels", labels)
    fit = _fit(
        task, worker, label,
        classes=len(label_names), iterations=iterations, tolerance=tolerance,
    )  # fmt: skip
    accuracy = worker_accuracy(fit, confidence=confidence)
    columns = (accuracy.value, accuracy.low, accuracy.high, accuracy.effective_labels)
    estimates = map(WorkerEstimate, *(column.tolist() for column in columns))
    ids = task_names.tolist()
    return TruthEstimate(
        truth=dict(zip(ids, label_names[fit.truth].tolist(), strict=True)),
        probability=dict(zip(ids, fit.posteriors.max(axis=1).tolist(), strict=True)),
        workers=dict(zip(worker_names.tolist(), estimates, strict=True)),
        converged=fit.converged,
    )


def _number(name: str, column: npt.ArrayLike) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Return the distinct values of a column in order, and the number of each row's value.

    Raises:
        ValueError: a value is missing, or text and numbers are mixed.
    """
    # Of a list, numpy would make text of a number or NaN among texts: its own types are looked at.
    values = np.asarray(column if hasattr(column, "dtype") else np.asarray(column, dtype=object))
    if values.dtype == object:
        plain = values.tolist()
        if not any(all(isinstance(value, kind) for value in plain) for kind in (str, int | float)):
            raise ValueError(f"{name} are neither all text nor all numbers; leave out other rows")
        values = np.asarray(plain)
    # NaN is the one value that differs from itself.
    if bool((values != values).any()):  # noqa: PLR0124 (finds NaN in any type)
        raise ValueError(f"{name} have a value that is not a number; leave its row out")
    distinct, numbers = np.unique(values, return_inverse=True)
    return distinct, numbers
