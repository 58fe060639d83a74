"""Rate bots by a model of ties, of positions and of styles; say what each of them changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from agon.disciplines.arena.formulas import Ints, Vector
from agon.disciplines.arena.ratings.clusters import Verdicts
from agon.disciplines.arena.ratings.covariates import POSITION, controls, without_control
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotScorable
from agon.kernel.ratings.clusters import Clusters
from agon.kernel.ratings.covariance import Covariance, connected_groups, degrees_of
from agon.kernel.ratings.intervals import Intervals, covariance_intervals
from agon.kernel.ratings.models import ModelFit, ModelRows, fit_model
from agon.kernel.ratings.pair_counts import PairCounts
from agon.kernel.rounding import publish
from agon.kernel.statistics import two_sided_quantile

MAX_MODEL_BOTS = 2000  # the matrices of a model are dense, and inverted in each step
_LISTED = 5
_PLAIN = {"ties": "half", "position": "ignored", "control": ""}
_MEANINGS = {
    "half": "",
    "davidson": "ties: log of the odds of a tie to the geometric mean of a win and a loss",
    "rao-kupper": "ties: log-odds by which a side must be ahead so that it wins more than half",
}


@dataclass(frozen=True, eq=False)
class Model:
    """What a model has besides strengths, and the ratings without it.

    Attributes:
        parameters: name, value, low and high of each coefficient and of the tie parameter.
        plain: the ratings of the plain model, by row.
        expected: the points that the first bot of each pair is expected to take.
        context: the choices, for readers.
    """

    parameters: tuple[dict[str, Any], ...]
    plain: Vector
    expected: Vector
    context: dict[str, Any]

    def moves(self, names: list[str], score: Vector) -> list[dict[str, Any]]:
        """Return the bots whose rank differs between both models, the farthest first."""
        before, after = ranks_of(self.plain), ranks_of(score)
        moved = np.flatnonzero(before != after)
        order = moved[np.lexsort((moved, -np.abs(before - after)[moved]))]
        return [
            {"id": names[row], "plain": int(before[row]), "rank": int(after[row])}
            for row in order.tolist()
        ]

    def to_dict(self, names: list[str], score: Vector) -> dict[str, Any]:
        """Return the choices, the parameters and who moves, as a plain value for JSON."""
        parameters = list(self.parameters)
        return {**self.context, "parameters": parameters, "moves": self.moves(names, score)}

    def columns(self, spread: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the columns of the plain model, with values of rated bots placed by ``spread``."""
        return {"plain_score": spread(self.plain), "plain_rank": spread(ranks_of(self.plain))}

    def notes(self, names: list[str], score: Vector) -> tuple[str, ...]:
        """Return in words what the model adds, and who moves."""
        said = [
            f"{each['name']}: {each['value']:+.3f} log-odds ({each['low']:+.3f} to "
            f"{each['high']:+.3f})"
            for each in self.parameters
        ]
        moves = self.moves(names, score)
        listed = ", ".join(f"{m['id']} {m['plain']} → {m['rank']}" for m in moves[:_LISTED])
        rest = f" and {len(moves) - _LISTED} more" if len(moves) > _LISTED else ""
        changed = f"{len(moves)} ranks differ from the plain model: {listed}{rest}"
        return (*said, changed if moves else "no rank differs from the plain model")


def is_modeled(rules: ArenaRules) -> bool:
    """Return whether the rules ask for more than strengths, a tie being half a win."""
    return rules.ties != "half" or rules.position == "fitted" or bool(controls(rules))


def fit_verdicts(
    verdicts: Verdicts,
    counts: PairCounts,
    rules: ArenaRules,
    *,
    row: Ints,
    start: Vector,
    center: Vector,
    clusters: Clusters | None,
) -> tuple[Intervals, Model]:
    """Return the ratings of a model with intervals, and what it has besides them.

    Args:
        verdicts: the rated matches, with their covariates.
        counts: the outcomes of every pair of rated bots.
        rules: of the model.
        row: the row of each bot among the rated ones, −1 for others.
        start: the log-strengths of the plain model.
        center: the weight of each bot in the reference.
        clusters: which matches depend on one another; None: they do not.

    Raises:
        NotScorable: there are too many bots, or the matches do not say what the model asks.
    """
    _require_model(counts, rules)
    rows = _model_rows(verdicts, rules, row=row, players=counts.players, clusters=clusters)
    try:
        fit = fit_model(
            rows,
            ties=rules.ties,
            regularization=rules.bradley_terry_regularisation,
            start=start,
            clusters=clusters,
        )
    except NotScorable as error:
        raise NotScorable(str(error), instead=_rules_of(error.instead, rules)) from error
    size = counts.players
    covariance = Covariance(
        tuple(each[:size, :size] for each in fit.estimates),
        center,
        connected_groups(counts),
        degrees_of(clusters),
    )
    elo = rules.elo_scale / log(10.0)
    plain = publish((start - center @ start) * elo + rules.elo_start)
    context = {
        "ties": rules.ties,
        "position": rules.position,
        "control": list(controls(rules)),
        "control_form": rules.control_form,
    }
    model = Model(
        _parameters(fit, rows.names, rules), plain, _expect_points(rows, fit, counts), context
    )
    return covariance_intervals(fit.strength, covariance, level=rules.confidence), model


def _require_model(counts: PairCounts, rules: ArenaRules) -> None:
    """Raise if there are too many bots for a model, or its intervals are asked of another one."""
    if counts.players > MAX_MODEL_BOTS:
        raise NotScorable(
            f"models of ties, positions and styles are fitted for up to {MAX_MODEL_BOTS:,} bots, "
            f"and {counts.players:,} are rated here: set ties=half, position=ignored and no "
            "control",
            instead=_PLAIN,
        )
    if rules.interval == "bootstrap":
        asked = [
            f"{name}={getattr(rules, name)}"
            for name in _PLAIN
            if getattr(rules, name) != _PLAIN[name]
        ]
        raise NotScorable(
            "interval=bootstrap resamples the plain model: set interval=sandwich with "
            + " and ".join(asked),
            instead=_PLAIN,
        )


def _model_rows(
    verdicts: Verdicts, rules: ArenaRules, *, row: Ints, players: int, clusters: Clusters | None
) -> ModelRows:
    """Return the matches between rated bots, with standardized covariates.

    Raises:
        NotScorable: a covariate is the same in all of them.
    """
    a, b = row[verdicts.a], row[verdicts.b]
    inside = (a >= 0) & (b >= 0)
    chosen: Ints | slice = slice(None) if inside.all() else np.flatnonzero(inside)
    if clusters is not None and clusters.match is not None:
        chosen = clusters.match  # in the order of the clusters
    names = tuple(verdicts.covariates)
    columns = [_standardize(name, verdicts.covariates[name][chosen], rules) for name in names]
    score = verdicts.score[chosen]
    return ModelRows(
        players,
        a[chosen],
        b[chosen],
        score,
        None if verdicts.weight is None else verdicts.weight[chosen],
        np.array(columns).reshape(len(names), len(score)).T,
        names,
    )


def _rules_of(model: Mapping[str, Any], rules: ArenaRules) -> dict[str, Any]:
    """Return the rules of a model that is stated as its covariates and ties."""
    made = {name: value for name, value in model.items() if name == "ties"}
    if "covariates" in model:
        left = model["covariates"]
        made["control"] = ",".join(name for name in controls(rules) if name in left)
        made["position"] = rules.position if POSITION in left else "ignored"
    return made


def _standardize(name: str, values: Vector, rules: ArenaRules) -> Vector:
    """Return a covariate divided by its standard deviation; the position as it is.

    Raises:
        NotScorable: it is the same in all matches.
    """
    if name == POSITION:
        return values
    spread = float(values.std()) if len(values) else 0.0
    if spread <= 1e-12 * (1.0 + float(np.abs(values).max(initial=0.0))):
        raise NotScorable(
            f"control={name}: it is the same in all rated matches, so that there is nothing to "
            "control for. Leave it out",
            instead=without_control(rules, name),
        )
    return values / spread


def _parameters(
    fit: ModelFit, names: tuple[str, ...], rules: ArenaRules
) -> tuple[dict[str, Any], ...]:
    values = [*fit.coefficients.tolist(), *([] if fit.tie is None else [fit.tie])]
    labels = [*names, *([] if fit.tie is None else ["ties"])]
    z = two_sided_quantile(rules.confidence)
    return tuple(
        {
            "name": label,
            "value": publish(value),
            "low": publish(value - z * error),
            "high": publish(value + z * error),
            "meaning": _meaning(label, rules),
        }
        for label, value, error in zip(labels, values, fit.errors().tolist(), strict=True)
    )


def _meaning(label: str, rules: ArenaRules) -> str:
    if label == "ties":
        return _MEANINGS[rules.ties]
    if label == POSITION:
        return "log-odds of the side that is shown first"
    form = "(a − b)/(a + b)" if rules.control_form == "relative" else "a − b"
    return f"log-odds by one standard deviation of {label}, {form}"


def _expect_points(rows: ModelRows, fit: ModelFit, counts: PairCounts) -> Vector:
    """Return the expected points of the first bot of each pair."""
    low, high = np.minimum(rows.a, rows.b), np.maximum(rows.a, rows.b)
    size = counts.players
    of_low = np.where(rows.a == low, fit.expected, 1.0 - fit.expected)
    cell = low.astype(np.int64) * size + high
    points = np.bincount(cell, rows.weigh(of_low), size**2)
    return points[counts.i.astype(np.int64) * size + counts.j]


def ranks_of(score: Vector) -> Ints:
    """Return the rank of each score, the highest first; equal ones share it."""
    return 1 + np.searchsorted(np.sort(-score), -score, side="left")
