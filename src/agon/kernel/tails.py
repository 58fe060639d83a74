"""Tail probabilities: how likely a count at least this large is by chance."""

import numpy as np
import numpy.typing as npt

from agon.kernel.arrays import FloatArray


def binomial_tail(at_least: int, *, trials: int, chance: float) -> float:
    """Return P[X ≥ k] for X successes in ``trials`` trials of success probability ``chance``.

    Exact to rounding, also for tiny values: the regularized incomplete beta function
    I_p(k, n - k + 1).

    Raises:
        ValueError: when ``trials`` is negative or ``chance`` is not in 0 … 1.

    Example:
        >>> binomial_tail(2, trials=3, chance=0.5)  # 3/8 + 1/8
        0.5
    """
    return float(binomial_tails([at_least], trials=[trials], chances=[chance])[0])


def binomial_tails(
    at_least: npt.ArrayLike, *, trials: npt.ArrayLike, chances: npt.ArrayLike
) -> FloatArray:
    """Return :func:`binomial_tail` of every count; the three arrays broadcast.

    Example:
        >>> binomial_tails([0, 1, 2, 3], trials=2, chances=0.5).tolist()
        [1.0, 0.75, 0.25, 0.0]
    """
    from scipy.special import betainc  # takes 0.2 s; only needed here

    k, n, p = np.broadcast_arrays(
        np.asarray(at_least, dtype=np.float64),
        np.asarray(trials, dtype=np.float64),
        _chances(chances),
    )
    if (n < 0).any():
        raise ValueError("expected a number of trials from 0 on, got a negative one")
    inside = (k > 0) & (k <= n)
    tails = np.where(k <= 0, 1.0, 0.0)
    tails[inside] = betainc(k[inside], n[inside] - k[inside] + 1, p[inside])
    return tails


def beta_binomial_lower_tails(
    at_most: npt.ArrayLike, *, trials: npt.ArrayLike, mean: float, deviation: float
) -> FloatArray:
    """Return P[X ≤ k] for X successes whose chance is itself drawn from a beta distribution.

    With μ and σ of that distribution, α + β = μ(1 − μ)/σ² − 1 and α = μ(α + β); the tail is the
    sum over i ≤ k of C(n, i) B(i + α, n − i + β) / B(α, β).

    Raises:
        ValueError: when σ² is not below μ(1 − μ), or either is not positive.

    Example:
        >>> beta_binomial_lower_tails([0, 1, 2], trials=[2, 2, 2],
        ...                           mean=0.5, deviation=12 ** -0.5).round(6).tolist()  # uniform
        [0.333333, 0.666667, 1.0]
    """
    from scipy.special import betaln, gammaln  # takes 0.2 s; only needed here

    if not 0 < deviation**2 < mean * (1 - mean):
        raise ValueError(
            f"expected a variance between 0 and mean × (1 − mean), got {deviation**2:g} at mean "
            f"{mean:g}"
        )
    size = mean * (1 - mean) / deviation**2 - 1
    alpha, beta = mean * size, (1 - mean) * size
    tails = []
    for k, n in zip(np.asarray(at_most), np.asarray(trials), strict=True):
        i = np.arange(int(k) + 1)
        ways = gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1)
        terms = np.exp(ways + betaln(i + alpha, n - i + beta) - betaln(alpha, beta))
        tails.append(min(1.0, float(terms.sum())))
    return np.array(tails)


def mixed_binomial_tail(at_least: int, *, trials: npt.ArrayLike, chances: npt.ArrayLike) -> float:
    """Return P[X₁ + … + X_m ≥ k] for independent binomial counts of different chances.

    Exact to rounding: the distributions are convolved.

    Example:
        >>> mixed_binomial_tail(2, trials=[1, 1], chances=[0.5, 0.25])  # 1/2 × 1/4
        0.125
    """
    total = np.ones(1)
    for n, chance in zip(np.asarray(trials), np.asarray(chances), strict=True):
        from_k = binomial_tails(np.arange(int(n) + 2), trials=int(n), chances=chance)
        total = np.convolve(total, np.maximum(from_k[:-1] - from_k[1:], 0.0))
    return float(total[max(at_least, 0) :].sum())


def poisson_tail(at_least: int, *, mean: float) -> float:
    """Return P[X ≥ k] for a Poisson count X: the regularized lower incomplete gamma P(k, mean).

    Raises:
        ValueError: when ``mean`` is negative or not finite.

    Example:
        >>> round(poisson_tail(1, mean=1), 6)  # 1 - 1/e
        0.632121
    """
    return float(poisson_tails([at_least], means=[mean])[0])


def poisson_tails(at_least: npt.ArrayLike, *, means: npt.ArrayLike) -> FloatArray:
    """Return :func:`poisson_tail` of every count; the two arrays broadcast.

    Example:
        >>> poisson_tails([0, 1], means=[0.5, 0.0]).tolist()
        [1.0, 0.0]
    """
    from scipy.special import gammainc

    k, mean = np.broadcast_arrays(
        np.asarray(at_least, dtype=np.float64), np.asarray(means, dtype=np.float64)
    )
    if not ((mean >= 0) & (mean < np.inf)).all():
        raise ValueError("expected finite means from 0 on, got another value")
    tails = np.ones(k.shape)
    tails[k > 0] = gammainc(k[k > 0], mean[k > 0])
    return tails


def _chances(chances: npt.ArrayLike) -> FloatArray:
    values = np.asarray(chances, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("expected probabilities from 0 to 1, got another value")
    return values
