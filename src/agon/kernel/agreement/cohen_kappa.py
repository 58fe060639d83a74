"""Compute the agreement of two raters beyond chance: Cohen's κ, for one pair or many."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable


@dataclass(frozen=True)
class CohenKappa:
    """Cohen's κ, the two shares it is computed from, and the number of items.

    ``observed`` is the share of items with equal labels, ``expected`` the share that two raters
    with these label frequencies would reach by chance.
    """

    value: float
    observed: float
    expected: float
    items: int


def cohen_kappa(first: npt.ArrayLike, second: npt.ArrayLike) -> CohenKappa:
    """Compare the labels two raters gave to the same items: κ = (p_o - p_e) / (1 - p_e).

    p_o = share of equal labels, p_e = Σ_k (share of k by the first) (share of k by the second).
    1 is full agreement, 0 what chance gives, below 0 worse than chance. Labels are nominal: any
    numbers or text, one per item, both in the same order of items.

    Raises:
        NotScorable: when there is no item, or both gave one and the same label throughout: then
            chance agreement is 1 and κ is undefined.
        ValueError: when the two differ in length.

    Source: arena, integrity findings (agreement statistics); Cohen 1960.

    Example:
        >>> kappa = cohen_kappa(["a", "a", "b", "b"], ["a", "b", "b", "b"])
        >>> kappa.observed, kappa.expected, kappa.value  # (3/4 - 1/2) / (1 - 1/2)
        (0.75, 0.5, 0.5)
    """
    x, y = np.asarray(first), np.asarray(second)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"labels of shapes {x.shape} and {y.shape}: one each per item")
    items = len(x)
    if not items:
        raise NotScorable("the two raters have no item in common")
    names, numbers = np.unique(np.concatenate([x, y]), return_inverse=True)
    counts = [np.bincount(side, minlength=len(names)) for side in np.split(numbers, 2)]
    # Whole numbers up to the last division: equal shares are equal to the bit.
    by_chance = int(counts[0] @ counts[1])
    if by_chance == items * items:
        raise NotScorable("both raters gave the same single label to everything")
    equal = int((numbers[:items] == numbers[items:]).sum())
    value = (equal * items - by_chance) / (items * items - by_chance)
    return CohenKappa(value, equal / items, by_chance / (items * items), items)


def cohen_kappas(
    raters: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, *, count: int
) -> npt.NDArray[np.float64]:
    """Return κ of many raters at once, each with its own second labels; NaN where undefined.

    Args:
        raters: number of the rater of each item, from 0 on.
        first: the label that it gave, a number from 0 on.
        second: the label that it is compared with.
        count: number of raters.

    Example:
        >>> cohen_kappas([0, 0, 0, 0, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], count=3).tolist()
        [0.5, nan, nan]
    """
    rater, x, y = (np.asarray(each, dtype=np.int64) for each in (raters, first, second))
    labels = 1 + int(max(x.max(initial=0), y.max(initial=0)))
    items = np.bincount(rater, minlength=count)
    of_each = [
        np.bincount(rater * labels + side, minlength=count * labels).reshape(count, labels)
        for side in (x, y)
    ]
    by_chance = (of_each[0] * of_each[1]).sum(axis=1)
    equal = np.bincount(rater[x == y], minlength=count)
    possible = items * items - by_chance
    kappas = np.full(count, np.nan)
    np.divide(equal * items - by_chance, possible, out=kappas, where=possible > 0)
    return kappas
