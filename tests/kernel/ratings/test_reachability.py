"""The quick answer about groups is the one that scipy gives."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from agon.kernel.ratings.bradley_terry import groups_of
from agon.kernel.ratings.covariance import connected_groups
from agon.kernel.ratings.pair_counts import count_pairs


def test_groups_are_those_of_scipy_on_boards_of_one_group_and_of_several() -> None:
    """A board that is taken for connected too early would get ratings that do not exist."""
    dice = np.random.default_rng(33)
    singles = 0
    for _ in range(200):
        players = int(dice.integers(2, 12))
        matches = int(dice.integers(1, 40))
        a = dice.integers(players, size=matches)
        b = (a + dice.integers(1, players, matches)) % players
        score = dice.choice([0.0, 0.5, 1.0], matches)
        counts = count_pairs(a, b, score, players=players)
        edges = np.concatenate([np.stack([a, b])[:, score > 0], np.stack([b, a])[:, score < 1]], 1)
        scored = coo_array((np.ones(edges.shape[1]), tuple(edges)), shape=(players, players))
        strong, of_player = connected_components(scored, directed=True, connection="strong")
        groups, group = groups_of(counts)
        assert groups == strong
        assert len({*zip(group.tolist(), of_player.tolist(), strict=True)}) == strong
        weak = connected_components(scored, directed=False)[1]
        assert connected_groups(counts).tolist() == weak.tolist()
        singles += strong == 1
    assert 20 < singles < 180


def test_a_long_circle_is_one_group() -> None:
    """The quick search gives up on it; the answer must not change."""
    a = np.arange(50)
    counts = count_pairs(a, (a + 1) % 50, np.ones(50), players=50)
    assert groups_of(counts)[0] == 1
    assert connected_groups(counts).tolist() == [0] * 50
