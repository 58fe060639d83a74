"""Compute the agreement of several ratings of each item beyond chance: Fleiss' κ."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable


@dataclass(frozen=True)
class FleissKappa:
    """Fleiss' κ, the two shares it is computed from, and the counts of items and ratings.

    ``observed`` is the share of equal pairs of ratings of an item, ``expected`` the share that
    ratings with these label frequencies would reach by chance, ``ratings`` the ratings of an item.
    """

    value: float
    observed: float
    expected: float
    items: int
    ratings: int


def fleiss_kappa(items: npt.ArrayLike, labels: npt.ArrayLike) -> FleissKappa:
    """Compare the labels that each item got, from one row per rating: κ = (P - P_e) / (1 - P_e).

    With n ratings of each item, n_ik of them label k: P = mean of (Σ_k n_ik² - n) / (n(n - 1)),
    P_e = Σ_k (share of k)². Who rated does not matter, and may differ by item. Items with gaps:
    :func:`agon.kernel.agreement.krippendorff_alpha.krippendorff_alpha`.

    Raises:
        NotScorable: when there is no item, items have one rating, or all labels are equal (then
            chance agreement is 1 and κ is undefined).
        ValueError: when the two differ in length, or items have different numbers of ratings.

    Source: Fleiss 1971.

    Example:
        >>> kappa = fleiss_kappa([1, 1, 1, 2, 2, 2], ["a", "a", "b", "b", "b", "b"])
        >>> kappa.value  # P = (1/3 + 1) / 2, P_e = (2/6)² + (4/6)²
        0.25
    """
    item, label = np.asarray(items), np.asarray(labels)
    if item.ndim != 1 or item.shape != label.shape:
        raise ValueError(f"columns of shapes {item.shape} and {label.shape}: one each per rating")
    if not len(item):
        raise NotScorable("there is no rating")
    _, item = np.unique(item, return_inverse=True)
    names, label = np.unique(label, return_inverse=True)
    ratings = np.bincount(item)
    if ratings.min() != ratings.max():
        raise ValueError(
            f"items have {ratings.min()} to {ratings.max()} ratings; give each the same number, "
            "or use krippendorff_alpha, which allows gaps"
        )
    count, each = len(ratings), int(ratings[0])
    if each == 1:
        raise NotScorable("no item has two ratings")
    total = count * each
    cells = np.bincount(item * len(names) + label)
    # Whole numbers up to the last division: equal shares are equal to the bit.
    equal_pairs = int((cells * cells).sum()) - total
    pairs = total * (each - 1)
    by_chance = int((np.bincount(label) ** 2).sum())
    if by_chance == total * total:
        raise NotScorable("all ratings are equal, so agreement cannot be separated from habit")
    value = (equal_pairs * total * total - by_chance * pairs) / (
        pairs * (total * total - by_chance)
    )
    return FleissKappa(value, equal_pairs / pairs, by_chance / (total * total), count, each)
