"""Bradley–Terry: the optimum by either solver, or an error with the reason."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.errors import NotScorable
from agon.kernel.ratings import likelihood
from agon.kernel.ratings.bradley_terry import BradleyTerry, bradley_terry, groups_of
from agon.kernel.ratings.encoding import encode
from agon.kernel.ratings.likelihood import Likelihood, SparseLikelihood
from agon.kernel.ratings.pair_counts import PairCounts, count_pairs
from agon.kernel.ratings.weighted_pairs import weigh_pairs
from sizes import size

few = settings(max_examples=size(50), deadline=None)
rows_of_six = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0])), max_size=60
).map(lambda rows: [(a, (a + gap) % 6, score) for a, gap, score in rows])


def counted(rows: list[tuple[int, int, float]], players: int) -> PairCounts:
    """Count rows (a, b, score of a)."""
    a, b, scores = zip(*rows, strict=True) if rows else ((), (), ())
    return count_pairs(a, b, scores, players=players)


def random_counts(players: int, matches: int, seed: int, *, band: int | None = None) -> PairCounts:
    """Play random matches between players of spread strength, near ones only within ``band``."""
    rng = np.random.default_rng(seed)
    strength = np.sort(rng.normal(0, 1.5, players))
    a = rng.integers(0, players, matches)
    gap = rng.integers(1, band or players, matches)
    b = (a + gap) % players if band is None else np.where(a + gap < players, a + gap, a - gap)
    wins = rng.random(matches) < 1 / (1 + np.exp(strength[b] - strength[a]))
    scores = np.where(rng.random(matches) < 0.15, 0.5, wins)
    ladder = np.arange(players - 1)  # one tie with the neighbor connects all players
    return count_pairs(
        np.append(a, ladder), np.append(b, ladder + 1), np.append(scores, 0 * ladder + 0.5),
        players=players,
    )  # fmt: skip


def oracle(counts: PairCounts, *, regularization: float = 0.0) -> np.ndarray:
    """Climb by Newman's iteration on dense matrices, with a phantom player as the prior."""
    n = counts.players
    won = np.zeros((n + 1, n + 1))
    won[counts.i, counts.j] = counts.wins_i
    won[counts.j, counts.i] = counts.wins_j
    won[:n, n] = won[n, :n] = regularization / 2
    strength = np.ones(n + 1)
    for _ in range(100_000):
        before = strength.copy()
        for i in range(n):
            sums = strength[i] + strength
            strength[i] = (won[i] * strength / sums).sum() / (won[:, i] / sums).sum()
        if regularization == 0:
            strength[:n] /= np.exp(np.log(strength[:n]).mean())
        if np.abs(np.log(strength / before)).max() < 1e-13:
            break
    theta = np.log(strength[:n])
    return np.asarray(theta - theta.mean())


def test_gpt_4_gets_the_published_score_on_the_crowd_votes(
    votes: tuple[list[str], list[str], list[float]],
) -> None:
    """A golden value published elsewhere (normalized to sum 1, ties half wins)."""
    names, a, b = encode(votes[0], votes[1])
    fit = bradley_terry(count_pairs(a, b, votes[2], players=len(names)), regularization=0.0)
    gpt_4 = names.to_pylist().index("GPT 4")
    assert fit.shares[gpt_4] == pytest.approx(0.04121787368330589, rel=1e-8)
    assert fit.shares.sum() == pytest.approx(1.0)
    assert fit.elo(scale=400.0, mean=1000.0).mean() == pytest.approx(1000.0)


def test_all_scores_agree_with_evalica_and_choix_on_random_matches() -> None:
    """Two independent packages, one by Newman's iteration and one by MM, find the same optimum."""
    import choix
    import evalica

    rng = np.random.default_rng(5)
    a = rng.integers(0, 12, 800)
    b = (a + rng.integers(1, 12, 800)) % 12
    won = rng.random(800) < 1 / (1 + np.exp((b - a) / 4))
    fit = bradley_terry(count_pairs(a, b, won, players=12), regularization=0.0)

    winners = [evalica.Winner.X if a_won else evalica.Winner.Y for a_won in won]
    expected = evalica.bradley_terry(
        a.tolist(), b.tolist(), winners, tolerance=1e-12, limit=10_000
    ).scores.sort_index()
    assert fit.shares == pytest.approx(expected.to_numpy() / expected.sum(), rel=1e-6)

    pairs = [(x, y) if a_won else (y, x) for x, y, a_won in zip(a, b, won, strict=True)]
    mm = choix.mm_pairwise(12, pairs, max_iter=100_000, tol=1e-12)
    assert fit.log_strength == pytest.approx(mm - mm.mean(), abs=1e-6)


@few
@given(rows_of_six)
def test_either_the_optimum_or_an_error(rows: list[tuple[int, int, float]]) -> None:
    """The oracle needs no derivative; where it would diverge, the rating must be an error."""
    counts = counted(rows, 6)
    if groups_of(counts)[0] == 1:
        assert bradley_terry(counts, regularization=0.0).log_strength == pytest.approx(
            oracle(counts), abs=1e-6
        )
    else:
        with pytest.raises(NotScorable, match="regularization"):
            bradley_terry(counts, regularization=0.0)


@few
@given(rows_of_six, st.sampled_from([0.05, 1.0, 10.0]))
def test_with_a_prior_everything_can_be_rated(
    rows: list[tuple[int, int, float]], strength: float
) -> None:
    """Ties against a phantom connect all players, also those without any match."""
    counts = counted(rows, 6)
    fit = bradley_terry(counts, regularization=strength)
    assert fit.log_strength == pytest.approx(oracle(counts, regularization=strength), abs=1e-6)


@few
@given(rows_of_six, st.permutations(range(6)))
def test_names_and_row_order_do_not_matter(
    rows: list[tuple[int, int, float]], names: list[int]
) -> None:
    """Renaming renames the ratings; shuffling changes not a bit."""
    fit = bradley_terry(counted(rows, 6), regularization=0.5).log_strength
    shuffled = bradley_terry(counted(rows[::-1], 6), regularization=0.5).log_strength
    assert shuffled.tobytes() == fit.tobytes()
    renamed = counted([(names[a], names[b], score) for a, b, score in rows], 6)
    again = bradley_terry(renamed, regularization=0.5).log_strength
    assert again[names] == pytest.approx(fit, abs=1e-7)


@pytest.mark.exhaustive
@pytest.mark.parametrize("regularization", [0.0, 0.3])
@pytest.mark.parametrize(("matches", "band"), [(20_000, None), (5_000, 6), (0, None)])
def test_many_players_meet_the_optimum_within_a_thousandth_of_a_point(
    monkeypatch: pytest.MonkeyPatch, matches: int, band: int | None, regularization: float
) -> None:
    """Conjugate gradients are good at crowds and bad at chains; both must end at the optimum."""
    counts = random_counts(400, matches, seed=matches, band=band)
    sparse = bradley_terry(counts, regularization=regularization)
    monkeypatch.setattr(likelihood, "DENSE_PLAYERS", 1000)
    dense = bradley_terry(counts, regularization=regularization)
    assert (
        np.abs(sparse.elo(scale=400.0, mean=1000.0) - dense.elo(scale=400.0, mean=1000.0)).max()
        <= 0.001
    )
    if regularization == 0.0:  # the optimum itself; a prior's is centered afterwards
        steep = likelihood.likelihood_of(counts, 0.0).gradient(dense.log_strength)
        assert np.abs(steep).max() < 1e-6


@pytest.mark.parametrize("regularization", [0.0, 0.3])
def test_elimination_replaces_slow_conjugate_gradients(
    monkeypatch: pytest.MonkeyPatch, regularization: float
) -> None:
    """A long chain of matches needs more rounds than allowed; the result stays exact."""
    monkeypatch.setattr(likelihood, "compile_loop", lambda function: function)
    monkeypatch.setattr(likelihood, "_MAX_ROUNDS", 3)
    eliminated: list[int] = []
    solve = SparseLikelihood._eliminate

    def eliminate(self: SparseLikelihood, slope: np.ndarray) -> np.ndarray:
        eliminated.append(len(slope))
        return solve(self, slope)

    monkeypatch.setattr(SparseLikelihood, "_eliminate", eliminate)
    counts = random_counts(300, 600, seed=2, band=3)
    sparse = bradley_terry(counts, regularization=regularization)
    assert eliminated
    monkeypatch.setattr(likelihood, "DENSE_PLAYERS", 1000)
    dense = bradley_terry(counts, regularization=regularization)
    assert (
        np.abs(sparse.elo(scale=400.0, mean=1000.0) - dense.elo(scale=400.0, mean=1000.0)).max()
        <= 0.001
    )


@pytest.mark.parametrize("weight", [None, (1.0, 0.5, 2.0, 3.0)], ids=["plain", "weighted"])
def test_compiled_passes_begin_with_the_points_that_arrays_count(
    weight: tuple[float, ...] | None,
) -> None:
    """They read wins and ties as they are stored, without a column of points."""
    counts = weigh_pairs([0, 1, 0, 2], [1, 2, 2, 0], [1, 0.5, 0, 0.5], weight, players=3)
    compiled, plain = (kind(counts, 0.5) for kind in (SparseLikelihood, Likelihood))
    assert compiled.guess().tolist() == plain.guess().tolist()
    theta = np.array([0.3, -0.1, -0.2])
    assert compiled.gradient(theta) == pytest.approx(plain.gradient(theta), abs=1e-15)


def test_strengths_beyond_the_range_of_exp_are_still_rated() -> None:
    """Three hundred links of a hundred to one lie farther apart than e^θ can hold."""
    rows = [(p, p + 1, 1.0) for p in range(299)] * 100 + [(p + 1, p, 1.0) for p in range(299)]
    ratings = bradley_terry(counted(rows, 300), regularization=0.0).log_strength
    gaps = [above - below for above, below in pairwise(ratings)]
    assert gaps == pytest.approx([np.log(100)] * 299, rel=1e-6)


def test_a_lopsided_record_does_not_make_newton_overshoot() -> None:
    """One upset in ten thousand games lies far from where Newton starts."""
    rows = [(0, 1, 1.0)] * 10_000 + [(1, 0, 1.0), (1, 2, 1.0)] + [(2, 1, 1.0)] * 10_000
    fit = bradley_terry(counted(rows, 3), start=np.array([-8.0, 9.0, -1.0]), regularization=0.0)
    gap = fit.log_strength - fit.log_strength[1]
    assert gap == pytest.approx([np.log(10_000), 0, np.log(10_000)], abs=1e-7)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(0, 1, 1.0), (0, 2, 1.0), (1, 2, 0.5)], "^[^:]*: ada never lost a point"),
        ([(0, 1, 1.0), (1, 0, 1.0), (0, 2, 1.0), (1, 2, 1.0)], "cyd never won a point"),
        ([(0, 1, 0.5)], "cyd never played"),
        (
            [(0, 1, 0.5), (2, 3, 0.5), (0, 2, 1.0)],
            "2 groups between which points went one way at most, one of them {ada, bob}",
        ),
        ([(0, 1, 0.5), (2, 3, 0.5)], "2 groups"),
    ],
)
def test_a_rating_that_does_not_exist_is_rejected_with_names_and_remedy(
    rows: list[tuple[int, int, float]], message: str
) -> None:
    """Any number would be an artifact of when the solver stopped."""
    names = ["ada", "bob", "cyd", "dan"]
    present = 1 + max(max(a, b) for a, b, _ in rows)
    with pytest.raises(NotScorable, match=message) as error:
        bradley_terry(counted(rows, max(3, present)), names=names, regularization=0.0)
    assert "Rate with a regularization above 0" in str(error.value)


def test_an_almost_undefeated_player_among_ties_is_distinguished() -> None:
    """Ada tied once and so lost half a point: a finite rating exists."""
    counts = counted([(0, 1, 1.0), (0, 2, 0.5), (1, 2, 0.5)], 3)
    assert groups_of(counts)[0] == 1
    fit = bradley_terry(counts, regularization=0.0)
    assert fit.log_strength[0] > fit.log_strength[2] > fit.log_strength[1]


@few
@given(rows_of_six)
def test_the_quick_test_of_connection_never_contradicts_the_full_one(
    rows: list[tuple[int, int, float]],
) -> None:
    """Large inputs use a shortcut when ties and mutual wins alone connect all players."""
    counts = counted(rows, 6)
    full = groups_of(counts)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agon.kernel.ratings.bradley_terry.COMPILED_FROM", 0)
        assert groups_of(counts)[0] == full


def test_no_player_and_one_player_have_ratings() -> None:
    """Nothing to compare is not an error: a single player has the mean."""
    assert bradley_terry(counted([], 0), regularization=0.0).log_strength.tolist() == []
    assert bradley_terry(counted([], 0), regularization=0.0).shares.tolist() == []
    alone = bradley_terry(counted([], 1), regularization=0.0)
    assert (alone.shares.tolist(), alone.elo(scale=400.0, mean=1000.0).tolist()) == (
        [1.0],
        [1000.0],
    )


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_a_prior_out_of_bounds_is_rejected(wrong: float) -> None:
    """A negative prior would make the likelihood unbounded."""
    with pytest.raises(ValueError, match="from 0 up"):
        bradley_terry(counted([(0, 1, 0.5)], 2), regularization=wrong)


def test_the_elo_scale_gives_ten_to_one_odds_four_hundred_points() -> None:
    """Readers compare these numbers with Elo's."""
    fit = BradleyTerry(np.log([10.0, 1.0]) - np.log(10) / 2, 0.0, 1)
    assert fit.elo(scale=400.0, mean=1000.0).tolist() == pytest.approx([1200.0, 800.0])
    assert fit.elo(scale=200, mean=0).tolist() == pytest.approx([100.0, -100.0])
