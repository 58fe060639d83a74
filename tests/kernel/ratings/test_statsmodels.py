"""Standard errors of every model and clustering equal those that statsmodels computed.

The values were computed once with statsmodels 0.15.0 from ``verdicts.csv``: 240 verdicts about five
players, in which verdicts on one prompt repeat each other. A tie as half a win is
``GLM(Binomial())`` with ``cov_type="HC0"`` and ``"cluster"``; ties as outcomes are a
``GenericLikelihoodModel`` with numerical derivatives; clusters are corrected by G / (G − 1), and
two ways are the sum of both less that of the clusters that share both.
"""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import numpy.typing as npt
import pytest

from agon.kernel.ratings.bradley_terry import bradley_terry
from agon.kernel.ratings.clusters import Clusters
from agon.kernel.ratings.covariance import sandwich_covariance
from agon.kernel.ratings.models import ModelFit, ModelRows, fit_model
from agon.kernel.ratings.pair_counts import count_pairs

if TYPE_CHECKING:
    from agon.kernel.ratings.match_terms import TieModel

Vector = npt.NDArray[np.float64]

PLAYERS: Final = 5

ERRORS: Final = {
    ("half", "", "model"): [0.283054, 0.262987, 0.263308, 0.288171],
    ("half", "", "none"): [0.237081, 0.233835, 0.222605, 0.264084],
    ("half", "", "prompt"): [0.305461, 0.274518, 0.252294, 0.354350],
    ("half", "", "judge"): [0.292020, 0.289271, 0.247862, 0.264013],
    ("half", "", "both"): [0.339216, 0.318679, 0.275938, 0.349583],
    ("half", "position", "none"): [0.237268, 0.233483, 0.222869, 0.266348, 0.122921],
    ("half", "position", "both"): [0.339423, 0.314567, 0.277200, 0.351011, 0.157317],
    ("half", "style", "none"): [0.237917, 0.233634, 0.222566, 0.264784, 0.124037],
    ("half", "style", "both"): [0.339004, 0.319139, 0.275352, 0.348989, 0.107154],
    ("davidson", "", "model"): [0.319685, 0.300598, 0.300158, 0.324136, 0.169912],
    ("davidson", "", "none"): [0.299335, 0.299361, 0.284967, 0.332871, 0.169392],
    ("davidson", "", "prompt"): [0.383595, 0.352062, 0.321652, 0.443141, 0.172634],
    ("davidson", "position style", "none"): [
        0.300614,
        0.298666,
        0.285357,
        0.336800,
        0.155216,
        0.156625,
        0.169399,
    ],
    ("davidson", "position style", "prompt"): [
        0.384866,
        0.351304,
        0.319484,
        0.443933,
        0.167611,
        0.158012,
        0.172397,
    ],
    ("rao-kupper", "", "model"): [0.255897, 0.239986, 0.240663, 0.264978, 0.058696],
    ("rao-kupper", "", "none"): [0.239535, 0.236798, 0.229419, 0.271454, 0.058205],
    ("rao-kupper", "", "prompt"): [0.305353, 0.279922, 0.256306, 0.364603, 0.060343],
    ("rao-kupper", "position style", "none"): [
        0.241750,
        0.236760,
        0.229265,
        0.275200,
        0.128186,
        0.131327,
        0.058225,
    ],
    ("rao-kupper", "position style", "prompt"): [
        0.308203,
        0.279165,
        0.254554,
        0.365227,
        0.140107,
        0.132580,
        0.060176,
    ],
}
"""Ties, covariates and clusters (``model``: the model's own covariance) → standard errors of the
differences of players 0 to 3 to player 4, of the covariates, and of the tie parameter."""

PARAMETERS: Final = {
    ("half", ""): [0.753790, 1.166947, 1.062594, 0.456202],
    ("half", "position"): [0.752680, 1.164932, 1.063865, 0.460799, -0.024751],
    ("half", "style"): [0.753568, 1.167003, 1.062426, 0.455869, -0.002676],
    ("davidson", "position style"): [
        0.945751, 1.462818, 1.336102, 0.579898, -0.031013, -0.001966, -0.707008
    ],
    # OrderedModel(distr="logit") of statsmodels has the same maximum: its two thresholds are the
    # position less and plus the tie parameter.
    ("rao-kupper", "position style"): [
        0.733850, 1.175884, 1.081025, 0.450797, -0.025942, -0.000301, 0.419278
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def columns() -> dict[str, Vector]:
    """Return the columns of the verdicts."""
    with (Path(__file__).parent / "verdicts.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def clusters_of(columns: dict[str, Vector], by: str) -> Clusters | None:
    """Return the verdicts by prompt, by judge or by both; None: each is alone."""
    names = {"prompt": ("prompt",), "judge": ("judge",), "both": ("prompt", "judge")}.get(by)
    if names is None:
        return None
    a, b = (columns[side].astype(int) for side in "ab")
    groups = tuple(columns[name].astype(int) for name in names)
    return Clusters(by, PLAYERS, a, b, columns["score"], groups, None)


def fitted(columns: dict[str, Vector], ties: str, covariates: str, by: str) -> ModelFit:
    """Return agon's fit."""
    style = columns["style"] / columns["style"].std()
    known = {"position": np.ones(len(style)), "style": style}
    names = tuple(covariates.split())
    a, b = (columns[side].astype(int) for side in "ab")
    rows = ModelRows(
        PLAYERS,
        a,
        b,
        columns["score"],
        None,
        np.array([known[name] for name in names]).reshape(len(names), len(style)).T,
        names,
    )
    return fit_model(
        rows,
        ties=cast("TieModel", ties),
        regularization=0,
        start=np.zeros(PLAYERS),
        clusters=clusters_of(columns, by),
    )


def errors_to_last(covariance: Vector) -> Vector:
    """Return the standard errors of differences to the last player, then of further parameters."""
    variance, last = np.diagonal(covariance), PLAYERS - 1
    apart = variance[:last] + variance[last] - 2 * covariance[:last, last]
    errors: Vector = np.sqrt(np.concatenate([apart, variance[PLAYERS:]]))
    return errors


@pytest.mark.parametrize(("ties", "covariates", "by"), ERRORS)
def test_standard_errors_equal_those_of_statsmodels(
    columns: dict[str, Vector], ties: str, covariates: str, by: str
) -> None:
    """Of the sandwich, with clusters one way and two ways, and of the model alone."""
    estimates = fitted(columns, ties, covariates, by).estimates
    made = errors_to_last(estimates[-1 if by == "model" else 0])
    assert made == pytest.approx(ERRORS[ties, covariates, by], rel=5e-6, abs=1e-6)


@pytest.mark.parametrize(("ties", "covariates"), PARAMETERS)
def test_parameters_equal_those_of_statsmodels(
    columns: dict[str, Vector], ties: str, covariates: str
) -> None:
    """Differences of strengths, coefficients and the tie parameter."""
    made = fitted(columns, ties, covariates, "none")
    apart = made.strength[:-1] - made.strength[-1]
    values = [*apart, *made.coefficients, *([] if made.tie is None else [made.tie])]
    assert values == pytest.approx(PARAMETERS[ties, covariates], abs=1e-6)


@pytest.mark.parametrize("by", ["none", "prompt", "judge", "both", "model"])
def test_counts_by_pair_have_the_same_standard_errors(columns: dict[str, Vector], by: str) -> None:
    """The board's own path: pairs are counted, and clusters added up beside."""
    a, b = (columns[side].astype(int) for side in "ab")
    counts = count_pairs(a, b, columns["score"], players=PLAYERS)
    made = sandwich_covariance(
        counts,
        bradley_terry(counts, regularization=0),
        center=np.full(PLAYERS, 1 / PLAYERS),
        clusters=clusters_of(columns, by),
    )
    errors = errors_to_last(made.estimates[-1 if by == "model" else 0])
    assert errors == pytest.approx(ERRORS["half", "", by], rel=5e-6, abs=1e-6)
