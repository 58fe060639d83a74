"""Compare all pairs of judges with common items: do they agree more often than expected?"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agon.kernel.arrays import FloatArray, IntArray
from agon.kernel.tails import binomial_tails


@dataclass(frozen=True, eq=False)
class PairwiseAgreement:
    """The agreement of each pair of judges, ordered by ``first``, then ``second > first``.

    Attributes:
        first: judge number.
        second: judge number.
        common: items both judged.
        agreed: items on which both gave the same label.
        by_chance: share on which two independent judges with these label frequencies agree,
            Σ_k p_first(k) p_second(k).
        usual: share on which the two agree with all other judges of their items; ``by_chance``
            where there are none.
        expected: the larger of the two shares, which makes findings less likely.
        z: (agreed - common e) / √(common e (1 - e)) with e = ``expected``; 0 where e is 0 or 1.
        probability: P[X ≥ agreed] for ``common`` items that each agree with chance ``expected``.
    """

    first: IntArray
    second: IntArray
    common: IntArray
    agreed: IntArray
    by_chance: FloatArray
    usual: FloatArray
    expected: FloatArray
    z: FloatArray
    probability: FloatArray

    def __len__(self) -> int:
        return len(self.first)


def pairwise_agreement(
    items: npt.ArrayLike, judges: npt.ArrayLike, labels: npt.ArrayLike, *, min_common: int
) -> PairwiseAgreement:
    """Count agreement of all pairs of judges with at least ``min_common`` items in common.

    Good judges agree with each other more than chance because they see the same truth; two
    accounts of one person agree with each other more than each does with the others. The cost
    grows with the pairs that share an item, not with all possible pairs.

    Args:
        items: item numbers from 0, one row per label.
        judges: judge numbers from 0.
        labels: class numbers from 0.
        min_common: least number of common items, at least 1.

    Raises:
        ValueError: when columns differ in length, a number is negative, a judge judged an item
            twice, or ``min_common`` is below 1.

    Source: arena, integrity findings (judges who always agree with each other).

    Example:
        >>> pairs = pairwise_agreement([0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, [0, 0, 1, 1, 1, 1],
        ...                            min_common=2)
        >>> pairs.first.tolist(), pairs.second.tolist(), pairs.agreed.tolist()
        ([0, 0, 1], [1, 2, 2], [2, 1, 1])
        >>> pairs.by_chance.tolist(), pairs.usual.tolist()  # 0 and 1 agree with 2 on 2 of 4
        ([0.5, 0.5, 0.5], [0.5, 0.75, 0.75])
    """
    item, judge, label = (np.asarray(each, dtype=np.int64) for each in (items, judges, labels))
    if not item.shape == judge.shape == label.shape == (item.size,):
        raise ValueError(f"{item.size}, {judge.size}, {label.size} numbers; expected equal counts")
    if min_common < 1:
        raise ValueError(f"expected min_common of at least 1, got {min_common}")
    if not len(item):
        return _nobody()
    if min(item.min(), judge.min(), label.min()) < 0:
        raise ValueError("expected numbers from 0 on, got a negative one")
    return _compare(item, judge, label, min_common)


def _compare(
    item: IntArray, judge: IntArray, label: IntArray, min_common: int
) -> PairwiseAgreement:
    from scipy.sparse import csr_array, triu  # takes 0.15 s; only needed here

    people, classes = int(judge.max()) + 1, int(label.max()) + 1
    ones = np.ones(len(item), dtype=np.int64)
    met = csr_array((ones, (judge, item)))
    if met.nnz < len(item) or met.data.max() > 1:
        raise ValueError("a judge judged an item twice; pass only the label that counts")
    votes = csr_array((ones, (judge, item * classes + label)))
    pairs = triu(met @ met.T, k=1).tocsr()
    pairs.sort_indices()
    first, second = (side.astype(np.int64) for side in pairs.nonzero())
    common = pairs.data
    agreed = np.asarray((votes @ votes.T)[first, second]).ravel()

    frequency = np.bincount(judge * classes + label, minlength=people * classes)
    share = frequency.reshape(people, classes) / np.maximum(np.bincount(judge), 1)[:, None]
    by_chance = np.einsum("pk,pk->p", share[first], share[second]).clip(0.0, 1.0)
    usual_common = _with_others(common, first, second, people)
    usual_agreed = _with_others(agreed, first, second, people)
    usual = np.where(usual_common > 0, usual_agreed / np.maximum(usual_common, 1), by_chance)

    enough = common >= min_common
    first, second, common, agreed = (each[enough] for each in (first, second, common, agreed))
    by_chance, usual = by_chance[enough], usual[enough]
    expected = np.maximum(by_chance, usual)
    spread = np.sqrt(common * expected * (1 - expected))
    z = np.where(spread > 0, (agreed - common * expected) / np.where(spread > 0, spread, 1.0), 0.0)
    probability = binomial_tails(agreed, trials=common, chances=expected)
    return PairwiseAgreement(
        first, second, common, agreed, by_chance, usual, expected, z, probability
    )


def _with_others(counts: IntArray, first: IntArray, second: IntArray, people: int) -> FloatArray:
    """Return the sum of a count over all pairs that include exactly one of the two judges."""
    totals = np.bincount(first, counts, people) + np.bincount(second, counts, people)
    return totals[first] + totals[second] - 2 * counts


def _nobody() -> PairwiseAgreement:
    integers, real = np.zeros(0, dtype=np.int64), np.zeros(0)
    return PairwiseAgreement(integers, integers, integers, integers, real, real, real, real, real)
