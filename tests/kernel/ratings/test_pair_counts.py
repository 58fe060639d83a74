"""Pair counts: they hold what a million rows say, however the rows are ordered."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import NotScorable
from agon.kernel.ratings import pair_counts
from agon.kernel.ratings.pair_counts import PairCounts, count_pairs, names_text
from sizes import size

few = settings(max_examples=size(50), deadline=None)
matches = st.lists(
    st.tuples(st.integers(0, 6), st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0])), max_size=150
).map(lambda rows: [(a, (a + gap) % 7, score) for a, gap, score in rows])


def counted(rows: list[tuple[int, int, float]], players: int = 7) -> PairCounts:
    """Count rows (a, b, score of a)."""
    a, b, scores = zip(*rows, strict=True) if rows else ((), (), ())
    return count_pairs(a, b, scores, players=players)


def columns(counts: PairCounts) -> list[Any]:
    """Lay the counts out as plain lists."""
    arrays = (counts.i, counts.j, counts.won_i, counts.won_j, counts.tied)
    return [array.tolist() for array in arrays]


@few
@given(matches)
def test_counts_agree_with_a_dictionary(rows: list[tuple[int, int, float]]) -> None:
    """The columns are built by sorting or tables; a Counter is plainly right."""
    plain: Counter[tuple[int, int, float]] = Counter()
    for a, b, score in rows:
        plain[(a, b, score) if a < b else (b, a, 1 - score)] += 1
    pairs = sorted({(i, j) for i, j, _ in plain})
    assert columns(counted(rows)) == [
        [i for i, _ in pairs],
        [j for _, j in pairs],
        *([plain[i, j, score] for i, j in pairs] for score in (1.0, 0.0, 0.5)),
    ]


@few
@given(matches, st.sampled_from([0, 1 << 22]), st.sampled_from([7, 1 << 16]))
def test_the_compiled_counts_are_the_same(
    rows: list[tuple[int, int, float]], small_table: int, block: int
) -> None:
    """Large inputs are counted block by block in a table, or by sorting, in compiled passes."""
    plain = counted(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_counts, "COMPILED_FROM", 0)
        patch.setattr(pair_counts, "_SMALL_TABLE", small_table)
        patch.setattr(pair_counts, "_BLOCK", block)
        machine = counted(rows)
    assert columns(machine) == columns(plain)
    assert machine.i.dtype == plain.i.dtype
    assert machine.tied.dtype == plain.tied.dtype


@pytest.mark.parametrize("players", [2, 20])
def test_a_pair_may_meet_more_often_than_a_small_number_holds(
    monkeypatch: pytest.MonkeyPatch, players: int
) -> None:
    """Cells of a byte hold 255 matches with one outcome; further ones must not wrap to 0."""
    monkeypatch.setattr(pair_counts, "COMPILED_FROM", 0)
    a = np.zeros(260, dtype=np.int32)
    counts = count_pairs(a, a + 1, np.ones(len(a)), players=players)
    assert columns(counts) == [[0], [1], [260], [0], [0]]


@few
@given(matches, st.randoms(use_true_random=False))
def test_counts_do_not_depend_on_row_order_or_sides(
    rows: list[tuple[int, int, float]], dice: Any
) -> None:
    """Bradley–Terry has no order of play; its input must not have one either."""
    turned = [(b, a, 1 - score) if dice.random() < 0.5 else (a, b, score) for a, b, score in rows]
    dice.shuffle(turned)
    assert columns(counted(turned)) == columns(counted(rows))


@few
@given(matches, st.integers(0, 2**32))
def test_a_resample_has_as_many_matches_among_the_same_outcomes(
    rows: list[tuple[int, int, float]], seed: int
) -> None:
    """Drawing with replacement cannot invent an outcome nor change the number of matches."""
    counts = counted(rows)
    again = counts.resample(np.random.default_rng(seed))
    assert again.matches.sum() == len(rows)
    assert (again.matches > 0).all()
    seen = {
        (i, j): (won, lost, tied) for i, j, won, lost, tied in zip(*columns(counts), strict=True)
    }
    for i, j, *outcomes in zip(*columns(again), strict=True):
        assert all(not new or old for new, old in zip(outcomes, seen[i, j], strict=True))


def test_a_resample_is_a_draw_of_matches() -> None:
    """The counts vary as those of draws with replacement: mean n p, variance n p (1 - p)."""
    counts = counted([(0, 1, 1.0)] * 30 + [(0, 1, 0.0)] * 50 + [(1, 2, 0.5)] * 20, players=3)
    dice = np.random.default_rng(1)
    wins = [int(counts.resample(dice).won_i[0]) for _ in range(2000)]
    assert np.mean(wins) == pytest.approx(30, abs=0.5)
    assert np.var(wins) == pytest.approx(21, rel=0.15)


def test_ties_are_half_wins_for_each_side() -> None:
    """That is the published convention of Bradley–Terry with ties."""
    counts = counted([(0, 1, 0.5), (1, 0, 0.5), (1, 0, 1.0)])
    assert (counts.wins_i.tolist(), counts.wins_j.tolist()) == ([1.0], [2.0])
    assert counts.matches.tolist() == [3]
    assert len(counts) == 1


@pytest.mark.parametrize("compiled_from", [0, 10**9])
@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([(0, 1, 1.0), (2, 2, 1.0)], NotScorable, "match 1 sets player 2 against itself"),
        ([(0, 1, 1.0), (0, 1, 0.25)], NotScorable, "match 1 has score 0.25; expected 1, 0.5 or 0"),
        ([(0, 1, float("nan"))], NotScorable, "match 0 has score nan"),
        ([(0, 1, 1e300)], NotScorable, "match 0 has score 1e[+]300"),
        ([(0, 7, 1.0)], ValueError, "from 0 to 6"),
        ([(-1, 2, 1.0)], ValueError, "from 0 to 6"),
        ([(0.5, 2, 1.0)], ValueError, "expected whole numbers"),
    ],
)
def test_faulty_rows_are_rejected_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
    compiled_from: int,
    rows: list[tuple[int, int, float]],
    error: type[Exception],
    message: str,
) -> None:
    """The compiled pass must not be more lenient than the plain one."""
    monkeypatch.setattr(pair_counts, "COMPILED_FROM", compiled_from)
    with pytest.raises(error, match=message):
        counted(rows)


def test_columns_of_different_length_are_our_bug() -> None:
    """A missing row would shift every later outcome."""
    with pytest.raises(ValueError, match="one per match"):
        count_pairs([0, 1], [1], [1], players=2)


def test_many_players_are_named_by_the_first_few() -> None:
    """A message with ten thousand names cannot be read."""
    assert (
        names_text(range(7), None) == "player 0, player 1, player 2, player 3, player 4 and 2 more"
    )
    assert names_text([1], ["ada", "bob"]) == "bob"
