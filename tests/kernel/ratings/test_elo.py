"""Elo: the vectors of the rule, its laws, and the published value on real votes."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import NotScorable
from agon.kernel.ratings import elo, short_ids
from agon.kernel.ratings.elo import EloState, Fold, expected_score, fold, rating_change
from agon.kernel.ratings.encoding import encode
from agon.kernel.ratings.short_ids import number_short_ids
from agon.kernel.rounding import half_away
from sizes import size

few = settings(max_examples=size(50), deadline=None)
matches = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0])), max_size=120
).map(lambda rows: [(a, (a + gap) % 6, score) for a, gap, score in rows])
rules = st.fixed_dictionaries(
    {
        "k_new": st.sampled_from([32.0, 25.0, 4.0]),
        "k_established": st.sampled_from([16.0, 4.0]),
        "games_established": st.integers(0, 12),
        "round_changes": st.booleans(),
    }
)


RULE = {
    "k_new": 32.0,
    "k_established": 16.0,
    "games_established": 30,
    "scale": 400.0,
    "start": 1000.0,
}
"""The numbers of document 003, Elo."""


def played(rows: list[tuple[int, int, float]], state: EloState | None = None, **rule: Any) -> Fold:
    """Fold rows (a, b, score of a)."""
    a, b, scores = zip(*rows, strict=True) if rows else ((), (), ())
    numbers = {**RULE, **rule}
    return fold(EloState.fresh(start=1000.0) if state is None else state, a, b, scores, **numbers)


def oracle(rows: list[tuple[int, int, float]], **rule: Any) -> tuple[dict[int, float], list[Any]]:
    """Play match by match with the textbook's power of ten and a dictionary."""
    ratings: dict[int, float] = {}
    games: dict[int, int] = {}
    changes = []
    for a, b, score in rows:
        ra, rb = ratings.get(a, 1000.0), ratings.get(b, 1000.0)
        moved = []
        for player, mine, theirs, points in ((a, ra, rb, score), (b, rb, ra, 1 - score)):
            young = games.get(player, 0) < rule["games_established"]
            k = rule["k_new"] if young else rule["k_established"]
            change = k * (points - 1 / (1 + 10 ** ((theirs - mine) / 400)))
            if rule["round_changes"]:
                # A second way to round half away from zero; the grid hides the last bit.
                change = float(np.sign(change) * np.floor(np.abs(round(change, 9)) + 0.5))
            moved.append(change)
            ratings[player] = mine + change
            games[player] = games.get(player, 0) + 1
        changes.append(tuple(moved))
    return ratings, changes


@pytest.mark.parametrize(
    ("rating", "opponent", "k", "change"),
    [
        (1200, 1000, 32, 8),
        (1000, 1200, 32, 24),
        (1000, 1000, 32, 16),
        (1400, 1000, 32, 3),
        (1200, 1000, 16, 4),
    ],
)
def test_a_win_moves_both_by_the_vectors_of_the_rule(
    rating: float, opponent: float, k: float, change: float
) -> None:
    """The specification writes these moves out; the loser mirrors the winner at equal K."""
    assert rating_change(rating, opponent, 1, k=k, round_changes=True, scale=400.0) == change
    assert rating_change(opponent, rating, 0, k=k, round_changes=True, scale=400.0) == -change
    state = EloState(np.array([float(rating), float(opponent)]), np.zeros(2, dtype=np.int64))
    after = fold(
        state,
        [0],
        [1],
        [1],
        k_new=k,
        round_changes=True,
        k_established=16.0,
        games_established=30,
        scale=400.0,
        start=1000.0,
    )
    assert (after.change_a.tolist(), after.change_b.tolist()) == ([change], [-change])


def test_gpt_4_gets_the_published_rating_on_the_crowd_votes(
    votes: tuple[list[str], list[str], list[float]],
) -> None:
    """A golden value published elsewhere (K 4, ties 0.5, file order, a match per vote)."""
    names, a, b = encode(votes[0], votes[1])
    after = fold(
        EloState.fresh(start=1000.0),
        a,
        b,
        votes[2],
        k_new=4,
        k_established=4,
        round_changes=False,
        games_established=30,
        scale=400.0,
        start=1000.0,
    )
    gpt_4 = names.to_pylist().index("GPT 4")
    assert after.state.ratings[gpt_4] == pytest.approx(1095.5935481722963, abs=1e-9)


def test_all_ratings_agree_with_evalica(votes: tuple[list[str], list[str], list[float]]) -> None:
    """A second implementation in another language, over all players of real data."""
    import evalica

    winners = [
        {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}[score]
        for score in votes[2]
    ]
    theirs = evalica.elo(votes[0], votes[1], winners, k=4.0).scores
    names, a, b = encode(votes[0], votes[1])
    after = fold(
        EloState.fresh(start=1000.0),
        a,
        b,
        votes[2],
        k_new=4,
        k_established=4,
        round_changes=False,
        games_established=30,
        scale=400.0,
        start=1000.0,
    )
    ours = dict(zip(names.to_pylist(), after.state.ratings.tolist(), strict=True))
    assert ours == pytest.approx(theirs.to_dict(), abs=1e-8)


@few
@given(matches, rules)
def test_the_fold_agrees_with_a_naive_second_implementation(
    rows: list[tuple[int, int, float]], rule: dict[str, Any]
) -> None:
    """The fold is arranged for speed; a dictionary and the textbook formula are not."""
    ratings, changes = oracle(rows, **rule)
    after = played(rows, **rule)
    moved = list(zip(after.change_a.tolist(), after.change_b.tolist(), strict=True))
    assert np.allclose(moved, changes, atol=1e-9)
    assert all(after.state.ratings[p] == pytest.approx(r, abs=1e-8) for p, r in ratings.items())


@few
@given(matches, rules, st.integers(0, 120))
def test_folding_a_prefix_and_then_the_rest_gives_the_bits_of_folding_all(
    rows: list[tuple[int, int, float]], rule: dict[str, Any], cut: int
) -> None:
    """A contest resumes from a stored state; the result must not depend on where it was stored."""
    complete = played(rows, **rule)
    prefix = played(rows[:cut], **rule)
    rest = played(rows[cut:], prefix.state, **rule)
    assert rest.state.ratings.tolist() == complete.state.ratings.tolist()
    assert rest.state.games.tolist() == complete.state.games.tolist()
    assert [*prefix.change_a, *rest.change_a] == complete.change_a.tolist()
    assert [*prefix.change_b, *rest.change_b] == complete.change_b.tolist()


@few
@given(matches, st.booleans())
def test_a_match_is_zero_sum_at_equal_k(
    rows: list[tuple[int, int, float]],
    round_changes: bool,  # noqa: FBT001  # Hypothesis draws it
) -> None:
    """What one side wins the other loses, exactly, rounded or not."""
    after = played(rows, k_new=25, k_established=25, round_changes=round_changes)
    assert (after.change_a == -after.change_b).all()


@few
@given(matches, rules)
def test_a_rating_is_the_start_plus_its_changes_in_order(
    rows: list[tuple[int, int, float]], rule: dict[str, Any]
) -> None:
    """An explanation adds the changes up and must meet the board to the last bit."""
    after = played(rows, **rule)
    for player in range(len(after.state.ratings)):
        total = 1000.0
        for (a, b, _), for_a, for_b in zip(rows, after.change_a, after.change_b, strict=True):
            total += for_a if a == player else for_b if b == player else 0.0
        assert total == after.state.ratings[player]


@few
@given(matches, rules)
def test_the_compiled_fold_gives_the_bits_of_the_interpreted_one(
    rows: list[tuple[int, int, float]], rule: dict[str, Any]
) -> None:
    """A contest that grows past the threshold must not change a single rating."""
    interpreted = played(rows, **rule)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elo, "COMPILED_FROM", 0)
        machine = played(rows, **rule)
    for one, other in (
        (interpreted.state.ratings, machine.state.ratings),
        (interpreted.state.games, machine.state.games),
        (interpreted.change_a, machine.change_a),
        (interpreted.change_b, machine.change_b),
    ):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


def test_k_falls_after_the_thirtieth_match_and_each_player_has_its_own() -> None:
    """The 30th match is still a newcomer's; the other side's K does not matter."""
    tied = [(0, 1, 0.5)] * 29
    thirtieth = played([*tied, (0, 1, 1.0), (0, 2, 1.0)], round_changes=True)
    assert thirtieth.change_a[29] == 16  # both at 1000 with 29 matches before
    expected = expected_score(1016, 1000, scale=400.0)
    assert thirtieth.change_a[30] == half_away(16 * (1 - expected))
    assert thirtieth.change_b[30] == half_away(-32 * (1 - expected))


def test_the_given_state_is_not_touched() -> None:
    """A state may be stored and resumed from twice."""
    state = EloState.fresh(2, start=1000.0)
    played([(0, 1, 1.0)], state, round_changes=True)
    assert state.ratings.tolist() == [1000.0, 1000.0]
    assert state.games.tolist() == [0, 0]


def test_hopeless_gaps_do_not_overflow() -> None:
    """10 to the gap would overflow; the expectation is then 0 or 1."""
    assert expected_score(0, 1e9, scale=400.0) == pytest.approx(0.0, abs=1e-300)
    assert expected_score(1e9, 0, scale=400.0) == 1.0


@pytest.mark.parametrize(
    ("change", "rounded"), [(0.5, 1), (-0.5, -1), (1.5, 2), (-2.5, -3), (0.49999999999999994, 0)]
)
def test_halves_round_away_from_zero(change: float, rounded: float) -> None:
    """Rounding half to even would surprise readers."""
    assert half_away(change) == rounded


@pytest.mark.parametrize("score", [1.5, -0.1, float("nan")])
def test_a_score_outside_its_range_is_rejected_with_its_row(score: float) -> None:
    """One such score would poison every later rating."""
    with pytest.raises(NotScorable, match="match 1 has score"):
        played([(0, 1, 1.0), (0, 1, score)], round_changes=True)


def test_a_player_cannot_meet_itself() -> None:
    """Such a match has no winner, and both moves would land on one rating."""
    with pytest.raises(NotScorable, match="match 1 sets player 3 against itself"):
        played([(0, 1, 1.0), (3, 3, 1.0)], round_changes=True)


def test_columns_of_different_length_and_negative_numbers_are_our_bug() -> None:
    """They would index the wrong player silently."""
    with pytest.raises(ValueError, match="one per match"):
        fold(
            EloState.fresh(start=1000.0),
            [0, 1],
            [1],
            [1],
            round_changes=True,
            k_new=32.0,
            k_established=16.0,
            games_established=30,
            scale=400.0,
            start=1000.0,
        )
    with pytest.raises(ValueError, match="negative"):
        played([(-1, 1, 1.0)], round_changes=True)


ids = st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=40)


@few
@given(ids)
def test_encoding_can_be_undone_and_names_are_sorted(rows: list[tuple[str, str]]) -> None:
    """Numbers stand for ids in every kernel; a mix-up would rate the wrong player."""
    left, right = [row[0] for row in rows], [row[1] for row in rows]
    names, a, b = encode(pa.array(left, pa.string()), pa.array(right, pa.string()))
    known = names.to_pylist()
    assert known == sorted({*left, *right})
    assert [known[n] for n in a] == left
    assert [known[n] for n in b] == right


def test_encoding_accepts_every_kind_of_column() -> None:
    """Tables arrive chunked, dictionary-encoded, as numpy arrays or with whole numbers."""
    left, right = ["b", "a", "c"], ["a", "d", "d"]
    plain = pa.array(left), pa.array(right)
    kinds = [
        plain,
        (pa.chunked_array([left[:1], left[1:]]), pa.chunked_array([right])),
        tuple(column.dictionary_encode() for column in plain),
        (np.array(left), np.array(right)),
    ]
    for kind in kinds:
        names, a, b = encode(*kind)
        assert (names.to_pylist(), a.tolist(), b.tolist()) == (
            ["a", "b", "c", "d"], [1, 0, 2], [0, 3, 3],
        )  # fmt: skip
    names, a, b = encode(np.array([10, 2]), np.array([2, 7]))
    assert (names.to_pylist(), a.tolist(), b.tolist()) == ([2, 7, 10], [2, 0], [0, 1])


def test_encoding_many_ids_gives_the_same() -> None:
    """Large columns of short ids are numbered in compiled code."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 50, (2, 210_000)).astype(str)
    names, one, other = encode(a, b)
    known = np.array(names.to_pylist())
    assert (known[one] == a).all()
    assert (known[other] == b).all()


def test_a_missing_id_is_rejected_with_its_row() -> None:
    """A null would become a player of its own."""
    with pytest.raises(NotScorable, match="match 1 has no id on side b"):
        encode(["a", "b"], ["b", None])


tricky = st.text(alphabet="a\0é", max_size=9) | st.text(max_size=4)


@few
@given(st.lists(tricky, min_size=1, max_size=60), st.integers(0, 5), st.booleans())
def test_short_ids_are_numbered_as_arrow_numbers_them(
    ids_given: list[str],
    skipped: int,
    large: bool,  # noqa: FBT001  # Hypothesis draws it
) -> None:
    """The quick way reads raw bytes: zero bytes, odd offsets and slices must not confuse it."""
    kind = pa.large_string() if large else pa.string()
    column = pa.array(ids_given, kind)[skipped:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(short_ids, "COMPILED_FROM", 0)
        quick = number_short_ids(column)
    if any(len(text.encode()) > 15 for text in column.to_pylist()):
        assert quick is None
        return
    assert quick is not None
    encoded = column.dictionary_encode()
    assert quick[0].to_pylist() == encoded.dictionary.to_pylist()
    assert quick[1].tolist() == encoded.indices.to_pylist()


def test_more_short_ids_than_the_first_table_holds_are_numbered_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A full table is replaced by a larger one."""
    monkeypatch.setattr(short_ids, "COMPILED_FROM", 0)
    monkeypatch.setattr(short_ids, "_SLOTS", 16)
    quick = number_short_ids(pa.array([str(number % 700) for number in range(2000)]))
    assert quick is not None
    assert quick[0].to_pylist() == [str(number) for number in range(700)]
    assert quick[1].tolist() == [number % 700 for number in range(2000)]


@pytest.mark.parametrize(
    "column",
    [pa.array(["x" * 16, "y"]), pa.array([1, 2]), pa.array(["x", None]), pa.array(["few"])],
)
def test_columns_that_are_not_for_the_quick_way_are_left_to_arrow(
    monkeypatch: pytest.MonkeyPatch, column: Any
) -> None:
    """Long ids, other types, missing ids and few rows."""
    if len(column) > 1:
        monkeypatch.setattr(short_ids, "COMPILED_FROM", 0)
    assert number_short_ids(column) is None
