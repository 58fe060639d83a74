"""Fit strengths together with what else decides a match: its side, styles, and how ties come about.

The log-odds of side a are η = θ_a − θ_b + xᵀβ. A tie is half a win (``half``), or an outcome of its
own with a parameter τ:

* Davidson (1970): a : tie : b = e^(η/2) : e^τ : e^(−η/2);
* Rao and Kupper (1967): a wins with σ(η − τ), b with σ(−η − τ), τ > 0; a tie is the rest.

θ, β and τ are fitted by one Newton iteration from the Bradley–Terry fit, and have one covariance.
The matrices are dense, players².
"""

from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agon.errors import NotScorable
from agon.kernel.ratings.clusters import Clusters
from agon.kernel.ratings.covariance import invert
from agon.kernel.ratings.likelihood import logistic
from agon.kernel.ratings.match_terms import MatchTerms, TieModel, terms_of

Vector = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.integer]

_CLOSE: Final = 1e-9
_MAX_STEPS: Final = 100
_SINGULAR: Final = 1e-9  # of eigenvalues, where all parameters have the curvature 1
_HALF: Final = 0.5
_FARTHEST: Final = 30.0  # log-odds beyond which a parameter has no maximum
_WIDEST: Final = 1e3  # log-odds: a wider error is of a likelihood that has become flat


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Matches with what decides them besides strengths.

    Attributes:
        players: how many players there are.
        a, b: player numbers of both sides.
        score: of side a, from 0 to 1; with a model of ties 0, 0.5 or 1.
        weight: of each match; None: each counts once.
        covariates: matches × covariates, each from the view of side a.
        names: of the covariates, for messages.
    """

    players: int
    a: Numbers
    b: Numbers
    score: Vector
    weight: Vector | None
    covariates: Vector
    names: tuple[str, ...] = ()

    @cached_property
    def cell(self) -> Numbers:
        """The number of the two sides of each match, a · players + b."""
        return self.a.astype(np.int64) * self.players + self.b

    @cached_property
    def columns(self) -> tuple[Vector, ...]:
        """Each covariate, in one piece of memory."""
        return tuple(np.ascontiguousarray(self.covariates.T))

    def weigh(self, values: Vector) -> Vector:
        """Return values of the matches times their weights."""
        return values if self.weight is None else self.weight * values

    def by_sides(self, values: Vector) -> Vector:
        """Return the sums over the matches of both sides, players × players."""
        size = self.players
        sums = np.bincount(self.cell, values, size * size).astype(np.float64, copy=False)
        return sums.reshape(size, size)

    def logits(self, theta: Vector, beta: Vector) -> Vector:
        """Return the log-odds of side a in each match."""
        logits: Vector = theta[self.a] - theta[self.b] + self.covariates @ beta
        return logits

    def add_up(self, of_logit: Vector, of_tie: Vector | None) -> Vector:
        """Return the sums over matches of what each adds to the parameters."""
        size = self.players
        if size * size <= len(self.a):  # one sum by cell is faster than two by player
            met = self.by_sides(of_logit)
            strengths = met.sum(axis=1) - met.sum(axis=0)
        else:
            strengths = np.bincount(self.a, of_logit, size) - np.bincount(self.b, of_logit, size)
        ties = [] if of_tie is None else [of_tie.sum()]
        return np.concatenate([strengths, [column @ of_logit for column in self.columns], ties])

    def squares(self, ll: Vector, lt: Vector | None, tt: Vector | None) -> Vector:
        """Return Σ c d dᵀ over matches, where d is what a logit and τ depend on.

        Args:
            ll: the coefficients for two logits.
            lt: for a logit and τ; None: there is no τ.
            tt: for τ twice; None: there is no τ.
        """
        n, k = self.players, self.covariates.shape[1]
        size = n + k + (lt is not None)
        made = np.zeros((size, size))
        met = self.by_sides(ll)
        made[:n, :n] = -(met + met.T)
        np.fill_diagonal(made[:n, :n], (met + met.T).sum(axis=1))
        for number, column in enumerate(self.columns):
            made[:, n + number] = self.add_up(ll * column, lt)[:size]
        if lt is not None and tt is not None:
            made[:, -1] = self.add_up(lt, tt)
            made[-1, n:-1] = made[n:-1, -1]
        made[n:, :n] = made[:n, n:].T
        return made


@dataclass(frozen=True, eq=False)
class ModelFit:
    """The parameters that make all matches together most likely, and their covariance.

    Attributes:
        strength: the log-strength of each player.
        coefficients: of the covariates.
        tie: τ; None: there is none.
        estimates: covariance matrices of all parameters, the robust ones first, the model's last.
        expected: the expected score of side a in each match.
    """

    strength: Vector
    coefficients: Vector
    tie: float | None
    estimates: tuple[Vector, ...]
    expected: Vector

    def errors(self) -> Vector:
        """Return the standard error of each coefficient, and of τ."""
        players = len(self.strength)
        variance = np.max([np.diagonal(each)[players:] for each in self.estimates], axis=0)
        return np.sqrt(np.maximum(variance, 0.0))

    def is_flat(self, *, strengths: bool) -> bool:
        """Return whether the likelihood has no maximum: it still grows where it is nearly flat.

        Steps then end because they are rounded to 0, and errors are beyond all bounds.

        Args:
            strengths: whether those count, too; with a regularization they have a maximum.
        """
        players = len(self.strength)
        own = self.estimates[-1]
        block = own[:players, :players]
        variance = [np.diagonal(own)[players:]]
        if strengths:
            variance.append(np.diagonal(block) - 2.0 * block.mean(axis=1) + block.mean())
        return bool((np.concatenate(variance) > _WIDEST**2).any())


def fit_model(
    rows: ModelRows,
    *,
    ties: TieModel,
    regularization: float,
    start: Vector,
    clusters: Clusters | None = None,
) -> ModelFit:
    """Return the maximum-likelihood parameters.

    Args:
        rows: the matches, in the order of the clusters.
        ties: how ties come about.
        regularization: λ ≥ 0, in tied matches of every player against a phantom of strength 0.
        start: the Bradley–Terry log-strengths.
        clusters: which matches depend on one another; None: they do not.

    Raises:
        NotScorable: shares under a model of ties, matches that are all ties, covariates that
            cannot be separated from the strengths or from one another, or no finite maximum.
            ``covariates`` and ``ties`` in ``instead`` are those of a model that they can have.

    Source: spec ranking, Models.

    Example:
        Even players of whom side a wins 3 of 4: the side has the log-odds ln 3.

        >>> sides = np.array([0, 0, 1, 1] * 2), np.array([1, 1, 0, 0] * 2)
        >>> rows = ModelRows(2, *sides, np.array([1.0, 1, 1, 1, 1, 0, 1, 0]), np.ones(8),
        ...                  np.ones((8, 1)), ("position",))
        >>> made = fit_model(rows, ties="half", regularization=0, start=np.zeros(2))
        >>> np.exp(made.coefficients).round(6).tolist()
        [3.0]
    """
    n, k = rows.players, rows.covariates.shape[1]
    tie = _first_tie(rows, ties)
    parameters = np.concatenate([start, np.zeros(k), [] if tie is None else [tie]])
    for steps in range(_MAX_STEPS):
        terms, slope, curvature = _derive(rows, parameters, ties, regularization)
        if not steps:
            _require_separate(rows, curvature)
        try:
            step = invert_parameters(curvature, n, singular=regularization == 0.0) @ slope
        except np.linalg.LinAlgError:
            break
        size = float(np.abs(step).max())
        if not np.isfinite(size) or np.abs(parameters).max() > _FARTHEST * max(1, np.ptp(start)):
            break
        step /= max(1.0, size)
        if ties == "rao-kupper":
            step *= min(1.0, 0.9 * parameters[-1] / max(-step[-1], 1e-300))
        parameters = parameters + step
        if size <= _CLOSE:
            made = _fit_of(rows, parameters, terms, curvature, regularization, clusters)
            if made.is_flat(strengths=regularization == 0.0):
                break
            return made
    raise NotScorable(
        "no finite ratings fit best: the model separates the matches completely. Rate without "
        f"{' or '.join(rows.names) or 'a model of ties'}, or with a regularization above 0",
        instead={"covariates": (), "ties": "half"},
    )


def invert_parameters(curvature: Vector, players: int, *, singular: bool) -> Vector:
    """Return the inverse of a curvature, which may be singular in a shift of all strengths."""
    if singular:
        made = curvature.copy()
        block = made[:players, :players]
        block += max(float(np.trace(block)), 1.0) / players**2
        curvature = made
    return invert(curvature, singular=False)


def _derive(
    rows: ModelRows, parameters: Vector, ties: TieModel, regularization: float
) -> tuple[MatchTerms, Vector, Vector]:
    """Return the terms of the matches, the gradient and the curvature."""
    n = rows.players
    beta = parameters[n : n + rows.covariates.shape[1]]
    logits = rows.logits(parameters[:n], beta)
    terms = terms_of(logits, rows.score, ties, float(parameters[-1]))
    tie = None if terms.tie is None else rows.weigh(terms.tie)
    slope = rows.add_up(rows.weigh(terms.logit), tie)
    curvature = rows.squares(
        rows.weigh(terms.ll),
        None if terms.lt is None else rows.weigh(terms.lt),
        None if terms.tt is None else rows.weigh(terms.tt),
    )
    if regularization:
        phantom = logistic(parameters[:n])
        slope[:n] += regularization * (_HALF - phantom)
        curvature[np.arange(n), np.arange(n)] += regularization * phantom * (1.0 - phantom)
    return terms, slope, curvature


def _first_tie(rows: ModelRows, ties: TieModel) -> float | None:
    """Return τ among equal players, or None for a model without it."""
    if ties == "half":
        return None
    if not np.isin(rows.score, (0.0, _HALF, 1.0)).all():
        raise NotScorable(
            f"ties={ties} is a model of wins, losses and ties, and some matches have shares of the "
            "point: set ties=half",
            instead={"ties": "half"},
        )
    share = float(np.average(rows.score == _HALF, weights=rows.weight))
    if share in {0.0, 1.0}:
        which = "no match is a tie" if share == 0.0 else "all matches are ties"
        raise NotScorable(
            f"ties={ties}: {which} among the players that get a rating, so that nothing says how "
            "ties come about: set ties=half",
            instead={"ties": "half"},
        )
    if ties == "davidson":
        return log(2.0 * share / (1.0 - share))
    return log((1.0 + share) / (1.0 - share))


def _require_separate(rows: ModelRows, curvature: Vector) -> None:
    """Check that every covariate says something that strengths and the others do not.

    Args:
        rows: the matches.
        curvature: of the log-likelihood at the start. Where it has an inverse they all do; else
            matches count alike, as those of bots far apart have nearly no curvature.

    Raises:
        NotScorable: one does not.
    """
    n, size = rows.players, rows.players + len(rows.names)
    if not rows.names or _least_curvature(curvature[:size, :size], n)[0] > _SINGULAR:
        return
    least, vector = _least_curvature(rows.squares(rows.weigh(np.ones(len(rows.a))), None, None), n)
    if least > _SINGULAR:
        return
    share = np.abs(vector[n:])
    name = rows.names[int(share.argmax())]
    raise NotScorable(
        f"{name} cannot be separated from the strengths or from another covariate: in these "
        "matches it follows from the bots of both sides. Leave it out, or record matches in which "
        "it differs between matches of the same bots",
        instead={"covariates": tuple(each for each in rows.names if each != name)},
    )


def _least_curvature(curvature: Vector, players: int) -> tuple[float, Vector]:
    """Return the least eigenvalue and its vector, where each parameter has the curvature 1."""
    made = curvature.copy()
    block = made[:players, :players]
    block += max(float(np.trace(block)), 1.0) / players**2
    scale = np.sqrt(np.maximum(np.diagonal(made), 1e-300))
    values, vectors = np.linalg.eigh(made / np.outer(scale, scale))
    return float(values[0]), vectors[:, 0]


def _fit_of(
    rows: ModelRows,
    parameters: Vector,
    terms: MatchTerms,
    curvature: Vector,
    regularization: float,
    clusters: Clusters | None,
) -> ModelFit:
    """Return a fit with its sandwich covariance and the model's own."""
    n, k = rows.players, rows.covariates.shape[1]
    inverse = invert_parameters(curvature, n, singular=regularization == 0.0)
    logit = rows.weigh(terms.logit)
    tie = None if terms.tie is None else rows.weigh(terms.tie)
    if clusters is None:
        robust: tuple[Vector, ...] = (
            rows.squares(
                logit**2, None if tie is None else logit * tie, None if tie is None else tie**2
            ),
        )
    else:
        robust = clusters.squares(_changes(rows, logit, tie))
    own = curvature
    if (w := rows.weight) is not None:
        own = rows.squares(
            w**2 * terms.ll,
            None if terms.lt is None else w**2 * terms.lt,
            None if terms.tt is None else w**2 * terms.tt,
        )
    if regularization:
        phantom = logistic(parameters[:n])
        for each in (*robust, *(() if own is curvature else (own,))):
            each[np.arange(n), np.arange(n)] += regularization * phantom * (1.0 - phantom)
    return ModelFit(
        parameters[:n] - parameters[:n].mean(),
        parameters[n : n + k],
        None if tie is None else float(parameters[-1]),
        tuple(inverse @ each @ inverse for each in (*robust, own)),
        terms.expected,
    )


def _changes(rows: ModelRows, of_logit: Vector, of_tie: Vector | None) -> Any:
    """Return what each match adds to the gradient: a sparse matrix, matches × parameters."""
    from scipy.sparse import coo_array

    matches, n, k = len(rows.a), rows.players, rows.covariates.shape[1]
    row = np.arange(matches)
    values = [of_logit, -of_logit, *(of_logit * column for column in rows.columns)]
    columns = [rows.a, rows.b, *(np.full(matches, n + c) for c in range(k))]
    if of_tie is not None:
        values.append(of_tie)
        columns.append(np.full(matches, n + k))
    return coo_array(
        (np.concatenate(values), (np.tile(row, len(values)), np.concatenate(columns))),
        shape=(matches, n + k + (of_tie is not None)),
    ).tocsr()
