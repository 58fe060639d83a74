"""The challenge's formulas: every vector of document 001 and its page, and the laws they obey."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.challenge import bittensor, decay, emission, formulas, strategies
from agon.disciplines.challenge.rules import COMPETITION_RULES, NETWORK_RULES, ChallengeRules
from agon.errors import InvalidRule, NotScorable
from agon.kernel.robust import modified_z, outliers
from sizes import size

laws = settings(max_examples=size(60), deadline=None)
BY_TWO_PERCENT: dict[str, Any] = {"threshold": 0.02, "improvement": "relative"}
WEIGHTS = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=30).map(np.array)


def test_eight_of_ten_tasks_are_eighty_percent() -> None:
    """Document 001, Pass Rate."""
    assert formulas.pass_rate(passed=8, total=10) == 0.8


def test_no_task_is_an_error_and_so_is_passing_more_than_all() -> None:
    """An empty task list has no pass rate: neither 0 nor 1 would be true."""
    with pytest.raises(NotScorable, match="no task"):
        formulas.pass_rate(passed=0, total=0)
    with pytest.raises(ValueError, match="not between"):
        formulas.pass_rate(passed=3, total=2)


def test_nine_thousand_at_90_and_one_thousand_at_50_are_86() -> None:
    """Challenge, step 5."""
    assert formulas.stake_weighted_mean([0.90, 0.50], [9000, 1000]) == pytest.approx(0.86)


def test_a_mean_without_stake_is_an_error() -> None:
    """A weighted mean of nothing is no number."""
    with pytest.raises(NotScorable, match="no stake"):
        formulas.stake_weighted_mean([0.5], [0])
    with pytest.raises(ValueError, match="2 scores but 1 stakes"):
        formulas.stake_weighted_mean([0.5, 0.5], [1])
    with pytest.raises(NotScorable, match="total stake is 0"):
        formulas.stake_fraction(remaining=0, total=0)


@pytest.mark.parametrize(
    ("scores", "z", "flagged"),
    [
        ([0.80, 0.82, 0.79, 0.81, 0.20], -40.47, [4]),
        ([0.8, 0.8, 0.8, 0.8, 0.2], -40.47, [4]),
        ([0.8, 0.8, 0.8, 0.8, 0.83], 2.0235, []),
    ],
)
def test_outliers_are_those_of_the_page(scores: list[float], z: float, flagged: list[int]) -> None:
    """Challenge, step 3, with the discipline's own defaults."""
    rules = ChallengeRules()
    assert modified_z(scores, mad_when_zero=rules.mad_when_zero)[4] == pytest.approx(z, abs=5e-4)
    result = outliers(
        scores,
        threshold=rules.outlier_threshold,
        min_values=rules.outlier_min_values,
        mad_when_zero=rules.mad_when_zero,
    )
    assert np.flatnonzero(result).tolist() == flagged


def test_strategies_give_the_seeds_shares() -> None:
    """Document 001, Weight Strategies."""
    scores, ranks = np.array([0.6, 0.3, 0.1]), np.array([1, 2, 3])
    assert strategies.linear(scores).tolist() == pytest.approx([0.6, 0.3, 0.1])
    assert strategies.quadratic(scores).tolist() == pytest.approx([36 / 46, 9 / 46, 1 / 46])
    assert strategies.shares_by_rank(scores, ranks).tolist() == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    assert strategies.winner_takes_all(scores, ranks, top_n=2).tolist() == [0.5, 0.5, 0.0]
    with pytest.raises(ValueError, match="no strategy"):
        strategies.shares("cubic", scores, ranks, top_n=1)


@laws
@given(
    WEIGHTS,
    st.sampled_from(["linear", "winner_takes_all", "quadratic", "ranked"]),
    st.integers(1, 5),
)
def test_shares_sum_to_one_or_zero(scores: np.ndarray[Any, Any], strategy: str, top_n: int) -> None:
    """The share of a competition is paid completely, unless no score is above 0."""
    scores = np.round(scores, 6)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    shares = strategies.shares(strategy, scores, ranks, top_n=top_n)
    assert math.fsum(shares) == pytest.approx(1.0 if scores.any() else 0.0)
    assert (shares >= 0).all()


@pytest.mark.parametrize(
    ("best", "top", "threshold", "kind", "better"),
    [
        (0.816, 0.80, 0.02, "relative", True),
        (0.8159, 0.80, 0.02, "relative", False),
        (0.82, 0.80, 0.02, "absolute", True),
        (0.816, 0.80, 0.02, "absolute", False),
        (0.714, 0.70, 0.02, "relative", True),
        (0.3, 0.3, 0.0, "relative", False),
        (0.3000001, 0.3, 0.0, "relative", True),
        (1e-6, None, 0.02, "relative", True),
        (0.0, None, 0.0, "relative", False),
    ],
)
def test_an_improvement_is_compared_in_decimals(
    best: float, top: float | None, threshold: float, kind: str, *, better: bool
) -> None:
    """In floats 0.80 × 1.02 lies above 0.816, and 0.70 × 1.02 does too."""
    assert decay.improves(best, top, threshold=threshold, improvement=kind) is better


@pytest.mark.parametrize("hundredths", range(1, 99))
def test_two_percent_more_is_always_an_improvement(hundredths: int) -> None:
    """Every top score in hundredths, beaten by its exact 2 %, resets; a ten-thousandth less not."""
    top, best = hundredths / 100, float(f"{hundredths * 1.02 / 100:.6f}")
    assert decay.improves(best, top, threshold=0.02, improvement="relative")
    assert not decay.improves(best - 1e-6, top, threshold=0.02, improvement="relative")


def test_small_steps_are_measured_against_the_same_top() -> None:
    """0.80 → 0.81 → 0.816: the reference stays, so small gains add up."""
    bests = [decay.BestScore(0, 0.80), decay.BestScore(1, 0.81), decay.BestScore(2, 0.816)]
    state = decay.fold(decay.DecayState(), bests, **BY_TWO_PERCENT, improvement_by="any")
    assert (state.top, state.last_improvement) == (0.816, 2)
    assert [one.bar for one in state.improvements] == [0.0, pytest.approx(0.816)]


@laws
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30)), max_size=30),
    st.integers(0, 30),
    st.sampled_from(["new_agent", "any"]),
)
def test_folding_a_prefix_and_then_the_rest_is_folding_all(
    scores: list[tuple[float, int]], cut: int, improvement_by: str
) -> None:
    """A contest can be resumed from its state."""
    bests = [
        decay.BestScore(epoch, score, first_evaluated=min(first, epoch))
        for epoch, (score, first) in enumerate(scores)
    ]
    rule: dict[str, Any] = {**BY_TWO_PERCENT, "improvement_by": improvement_by}
    halfway = decay.fold(decay.DecayState(), bests[:cut], **rule)
    complete = decay.fold(decay.DecayState(), bests, **rule)
    assert decay.fold(halfway, bests[cut:], **rule) == complete


@pytest.mark.parametrize(
    ("curve", "stale", "percent"),
    [
        ("linear", 0, 0.0),
        ("linear", 1, 5.0),
        ("linear", 8, 40.0),
        ("linear", 16, 80.0),
        ("linear", 17, 80.0),
        ("exponential", 0, 0.0),
        ("exponential", 1, 5.0),
        ("exponential", 2, 9.75),
        ("exponential", 10, 40.126),
        ("exponential", 31, 79.609),
        ("exponential", 32, 80.0),
    ],
)
def test_the_burn_follows_the_curve(curve: str, stale: int, percent: float) -> None:
    """Document 001, Decay Curves, with the seed's defaults."""
    rules = ChallengeRules()
    burning = decay.burn_percent(stale, curve=curve, rate=rules.decay_rate, max_burn=rules.max_burn)
    assert burning == pytest.approx(percent, abs=5e-4)


def test_the_grace_is_over_after_ten_epochs() -> None:
    """Document 001, Decay Activation: τ = max(0, e - e₀ - G)."""
    result = [decay.stale_epochs(epoch=e, last_improvement=3, grace_epochs=10) for e in (3, 13, 14)]
    assert result == [0, 0, 1]


@laws
@given(
    st.sampled_from(["linear", "exponential"]),
    st.floats(0.001, 1),
    st.floats(0, 99.9),
)
def test_the_forecast_names_the_first_epoch_of_the_maximum(
    curve: str, rate: float, max_burn: float
) -> None:
    """One epoch earlier the burn is below its maximum; then and later it is there."""
    rule: dict[str, Any] = {"curve": curve, "rate": rate, "max_burn": max_burn}
    stale = decay.epochs_until_max(**rule)
    assert stale is not None
    assert decay.burn_percent(stale, **rule) == pytest.approx(max_burn)
    assert stale == 0 or decay.burn_percent(stale - 1, **rule) < max_burn


def test_a_burn_that_cannot_grow_is_forecast_as_never() -> None:
    """At rate 0 nothing burns; the exponential curve approaches 100 % and does not get there."""
    assert decay.epochs_until_max(curve="linear", rate=0.0, max_burn=80) is None
    with pytest.raises(ValueError, match="no decay curve"):
        decay.burn_percent(1, curve="cubic", rate=0.05, max_burn=80)


def test_the_cap_gives_the_pages_vectors() -> None:
    """{90, 6, 4} → {.5, .3, .2}; one miner alone → .5, and .5 burns."""
    three = np.array([0.90, 0.06, 0.04])
    assert emission.cap(three, weight_cap=0.5, excess="redistribute").tolist() == [0.5, 0.3, 0.2]
    for excess in ("burn", "drop"):
        cut = emission.cap(three, weight_cap=0.5, excess=excess)
        assert cut.tolist() == [0.5, 0.06, 0.04]
    alone = emission.cap(np.array([1.0]), weight_cap=0.5, excess="redistribute")
    assert alone.tolist() == [0.5]


def test_excess_that_puts_others_above_the_cap_is_handed_on_again() -> None:
    """{.8, .1, .1} under 0.3: .5 of excess lifts both others to the cap, .1 is left to burn."""
    shares = np.array([0.8, 0.1, 0.1])
    assert emission.cap(shares, weight_cap=0.3, excess="redistribute").tolist() == [0.3] * 3
    chain = emission.cap(np.array([0.7, 0.25, 0.05]), weight_cap=0.5, excess="redistribute")
    assert chain.tolist() == pytest.approx([0.5, 0.25 + 0.2 * 25 / 30, 0.05 + 0.2 * 5 / 30])


@laws
@given(WEIGHTS, st.floats(0.01, 1), st.sampled_from(["redistribute", "burn", "drop"]))
def test_no_miner_is_above_the_cap(
    weights: np.ndarray[Any, Any], weight_cap: float, excess: str
) -> None:
    """Nobody is above the limit; redistribution creates nothing and keeps the order."""
    given_out = emission.cap(weights, weight_cap=weight_cap, excess=excess)
    limit = weight_cap * weights.sum()
    assert (given_out <= limit * (1 + 1e-9)).all()
    assert given_out.sum() <= weights.sum() * (1 + 1e-9)
    if excess == "redistribute":
        assert (given_out >= np.minimum(weights, limit) * (1 - 1e-9)).all()
        # Whatever is missing had nowhere to go: everyone with a weight is at the cap.
        if given_out.sum() < weights.sum() * (1 - 1e-9):
            assert given_out[weights > 0] == pytest.approx(limit)
    order = np.argsort(-weights, kind="stable")
    assert (np.diff(given_out[order]) <= 1e-12).all()


def test_a_burn_of_forty_percent_gives_the_documented_integers() -> None:
    """30000, 20000 and 15535 of 65535 at B = 40 % → 18000, 12000, 9321 and 26214 for UID 0."""
    shares = np.array([30000, 20000, 15535]) / 65535
    paid = emission.emission(shares, emission_share=1.0, burn_percent=40, burn_application="scaled")
    integers = emission.to_u16(np.append(paid.miners, paid.burned), rounding_rule="nearest")
    assert integers.tolist() == [18000, 12000, 9321, 26214]


@laws
@given(WEIGHTS.filter(lambda weights: bool((weights > 0).any())))
def test_the_largest_remainder_sums_to_65535(weights: np.ndarray[Any, Any]) -> None:
    """Anyone who needs whole numbers that add up sets rounding = largest_remainder."""
    integers = emission.to_u16(weights / weights.sum(), rounding_rule="largest_remainder")
    assert integers.sum() == 65535


@pytest.mark.parametrize("parts", [2, 6, 10, 30, 34])
def test_halves_are_rounded_away_from_zero(parts: int) -> None:
    """65535 / 30 = 2184.5 is a half, whatever the nearest float of 1/30 makes of it."""
    integers = emission.to_u16(np.full(parts, 1 / parts), rounding_rule="nearest")
    assert set(integers.tolist()) == {int(65535 / parts + 0.5)}


def test_an_unknown_rounding_is_rejected() -> None:
    """A misspelt rule never passes as another."""
    with pytest.raises(ValueError, match="no rounding"):
        emission.to_u16(np.array([1.0]), rounding_rule="down")


@pytest.mark.parametrize(
    ("uids", "weights", "expected"),
    [
        # Worked out by the SDK's rule: round(w / max(w) * 65535), a half to the even neighbour.
        ([0, 1, 2], [0.5, 0.3, 0.2], ([0, 1, 2], [65535, 39321, 26214])),
        ([3, 1], [0.25, 0.5], ([3, 1], [32768, 65535])),  # 32767.5 → 32768, even
        ([1, 2], [1.0, 0.3], ([1, 2], [65535, 19660])),  # 19660.5 → 19660, even
        ([1, 2, 3], [1.0, 0.0, 1e-6], ([1], [65535])),  # 0.065535 → 0, dropped
        ([1, 2], [0.0, 0.0], ([], [])),
        ([], [], ([], [])),
        ([7], [1e-9], ([7], [65535])),
    ],
)
def test_the_payload_is_what_the_network_takes(
    uids: list[int], weights: list[float], expected: tuple[list[int], list[int]]
) -> None:
    """The largest weight is 65535, zeros are left out, the order stays."""
    payload = bittensor.payload(uids, weights)
    assert (list(payload.uids), list(payload.weights)) == expected
    assert payload.to_dict() == {"uids": expected[0], "weights": expected[1]}


def test_a_payload_of_negative_or_unequal_lists_is_rejected() -> None:
    """The network would reject it too, later and at a cost."""
    with pytest.raises(ValueError, match="negative"):
        bittensor.payload([-1], [1.0])
    with pytest.raises(ValueError, match="negative"):
        bittensor.payload([1], [-1.0])
    with pytest.raises(ValueError, match="2 uids but 1 weights"):
        bittensor.payload([1, 2], [1.0])


def test_every_rule_is_the_networks_or_a_competitions() -> None:
    """A new rule must be given to one of the two."""
    assert set(COMPETITION_RULES) | NETWORK_RULES == set(ChallengeRules.model_fields)


def test_defaults_are_the_seeds() -> None:
    """Document 001, Configuration Parameters."""
    rules = ChallengeRules()
    assert (rules.min_validators, rules.min_stake_fraction) == (3, 0.30)
    assert (rules.outlier_threshold, rules.improvement_threshold) == (3.5, 0.02)
    assert (rules.weight_cap, rules.grace_epochs) == (0.5, 10)
    assert (rules.decay_rate, rules.max_burn) == (0.05, 80)


def test_rules_out_of_bounds_are_rejected_all_at_once() -> None:
    """Every rule is bounded, so that no number overflows later."""
    wrong = {"epoch": 10**30, "weight_cap": 0, "strategy": "cubic", "top_m": 3}
    with pytest.raises(InvalidRule) as error:
        ChallengeRules().override(wrong)
    for said in ("epoch", "weight_cap", "strategy", "did you mean top_n"):
        assert said in str(error.value)
