"""Pairwise agreement: counts by definition, a copying pair stands out, honest ones do not."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.kernel.agreement.pairwise import pairwise_agreement
from agon.kernel.tails import binomial_tail
from sizes import size

law = settings(max_examples=size(50), deadline=None)
votes = st.dictionaries(
    st.tuples(st.integers(0, 8), st.integers(0, 5)), st.integers(0, 2), max_size=40
)


@law
@given(votes, st.integers(1, 3))
def test_pairs_equal_comparing_two_judges_at_a_time(
    given_votes: dict[tuple[int, int], int], min_common: int
) -> None:
    """Matrix products are clever; two dicts side by side are not."""
    rows = [(item, judge, label) for (item, judge), label in given_votes.items()]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    result = pairwise_agreement(*columns, min_common=min_common)
    by_judge: dict[int, dict[int, int]] = {}
    for item, judge, label in rows:
        by_judge.setdefault(judge, {})[item] = label

    def compared(one: int, other: int) -> tuple[int, int]:
        shared = by_judge[one].keys() & by_judge[other].keys()
        return len(shared), sum(by_judge[one][i] == by_judge[other][i] for i in shared)

    expected = []
    for one, other in combinations(sorted(by_judge), 2):
        common, agreed = compared(one, other)
        if common < min_common:
            continue
        chance = sum(
            np.mean([label == k for label in by_judge[one].values()])
            * np.mean([label == k for label in by_judge[other].values()])
            for k in range(3)
        )
        others = [
            compared(judge, third)
            for judge in (one, other)
            for third in by_judge
            if third not in (one, other)
        ]
        met = sum(common for common, _ in others)
        usual = sum(agreed for _, agreed in others) / met if met else chance
        expected.append((one, other, common, agreed, chance, usual))
    assert [
        (result.first[i], result.second[i], result.common[i], result.agreed[i])
        for i in range(len(result))
    ] == [row[:4] for row in expected]
    assert result.by_chance.tolist() == pytest.approx([row[4] for row in expected])
    assert result.usual.tolist() == pytest.approx([row[5] for row in expected])
    for i, (*_, common, agreed, chance, usual) in enumerate(expected):
        share = max(chance, usual)
        spread = (common * share * (1 - share)) ** 0.5
        assert result.z[i] == pytest.approx(
            (agreed - common * share) / spread if spread > 1e-6 else 0
        )
        tail = binomial_tail(agreed, trials=common, chance=min(1.0, float(share)))
        assert result.probability[i] == pytest.approx(tail, abs=1e-9)


def test_a_copying_pair_stands_out_among_honest_judges() -> None:
    """Forty judges right in 80 %; judge 1 copies judge 0. Panels of five, seed 11."""
    dice = np.random.default_rng(11)
    items, judges = 3000, 40
    truth = dice.integers(0, 2, items)
    panels = np.argsort(dice.random((items, judges)), axis=1)[:, :5]
    item, judge = np.repeat(np.arange(items), 5), panels.ravel()
    right = dice.random((items, judges)) < 0.8
    right[:, 1] = right[:, 0]
    label = np.where(right[item, judge], truth[item], 1 - truth[item])
    result = pairwise_agreement(item, judge, label, min_common=20)
    order = np.argsort(result.probability)
    assert (result.first[order[0]], result.second[order[0]]) == (0, 1)
    assert result.agreed[order[0]] == result.common[order[0]]
    assert result.probability[order[0]] < 1e-3
    # Honest pairs agree in 68 %, far above chance, and are no finding: tail below 1 % in ~1 %.
    assert (result.probability[order[1:]] < 0.01).mean() < 0.02


def test_what_cannot_be_compared_is_rejected() -> None:
    """A judge has one vote per item; numbers start at 0."""
    with pytest.raises(ValueError, match="twice"):
        pairwise_agreement([0, 0], [1, 1], [0, 1], min_common=1)
    with pytest.raises(ValueError, match="negative"):
        pairwise_agreement([0], [-1], [0], min_common=1)
    with pytest.raises(ValueError, match="equal counts"):
        pairwise_agreement([0], [0, 1], [0], min_common=1)
    with pytest.raises(ValueError, match="min_common"):
        pairwise_agreement([0], [0], [0], min_common=0)
