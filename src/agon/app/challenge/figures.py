"""Figures of a challenge: weights, burn and forecast."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from agon.app.analysis.score import Result
from agon.app.challenge.epochs import CURVES, Decay, forecast, outcome_of, span
from agon.app.charts import BURNED, OTHERS, Figure, Mark, Panel, Series
from agon.app.charts.figure import HUES, Look
from agon.disciplines.challenge.weights import all_weights, allocations
from agon.errors import NotScorable, did_you_mean

MAX_EPOCHS_DRAWN = 300
"""Maximum number of epochs in a figure; of more, evenly spaced ones with the first and the last."""


def picture(result: Result, kind: str) -> Figure:
    """Return one of the figures in :data:`KINDS` of a scored challenge.

    Raises:
        NotScorable: there is nothing to draw yet.
        ValueError: there is no such figure.
    """
    if kind not in KINDS:
        raise ValueError(f"there is no figure {kind!r}: {did_you_mean(kind, KINDS)}")
    return KINDS[kind](result)


def weights_figure(result: Result) -> Figure:
    """Return the stacked emission of each epoch: the miners who got most, all others, the burn."""
    network = outcome_of(result).network
    epochs = drawn(span(result))
    history = all_weights(network.facts, network.rules, epochs=epochs)
    totals = history.weights.sum(axis=0)
    most = [at for at in np.argsort(-totals, kind="stable")[:HUES].tolist() if totals[at] > 0]
    percents = 100 * history.weights
    series = [
        _ending(f"uid {history.uids[at]}", percents[:, at].tolist(), look="area", hue=hue)
        for hue, at in enumerate(most)
    ]
    if rest := int((totals > 0).sum()) - len(most):
        others = np.maximum(percents.sum(axis=1) - percents[:, most].sum(axis=1), 0.0)
        series.append(_ending(f"all {rest:,} others", others.tolist(), look="area", hue=OTHERS))
    burn = (100 * history.burn).tolist()
    series.append(_ending("burned (uid 0)", burn, look="area", hue=BURNED))
    listed = ", ".join(one.name for one in series)
    return Figure(
        "weights",
        "Who gets the emission",
        f"{result.edition.full_name} · the uids that got most, all others, the burn",
        f"Stacked shares of the emission in {_named(epochs, result)}. "
        f"In epoch {epochs[-1]}: {listed}.",
        "epoch",
        (Panel("", epochs, tuple(series), 100.0, "%"),),
    )


def burn_figure(result: Result) -> Figure:
    """Return the share of each competition and of the network that burned by decay."""
    network = outcome_of(result).network
    epochs = drawn(span(result))
    walked = list(allocations(network, epochs))
    names = [one.id for one in network.facts.competitions]
    largest = _by_share(result)[:HUES]
    series = [
        _ending(name, [float(one.burn_percents[names.index(name)]) for one in walked], hue=hue)
        for hue, name in enumerate(largest)
    ]
    whole = [min(100 * one.burn, 100.0) for one in walked]
    series.append(_ending("all that burns", whole, look="dashes", hue=OTHERS))
    more = _left_out(len(names) - len(largest))
    listed = ", ".join(one.name for one in series)
    return Figure(
        "burn",
        "What burns",
        f"{result.edition.full_name} · percent of a competition's emission that burns by decay; "
        "dashed: of the whole network",
        f"Burn in {_named(epochs, result)}. In epoch {epochs[-1]}: {listed}.{more}",
        "epoch",
        (Panel("", epochs, tuple(series), 100.0, "%"),),
    )


def forecast_figure(result: Result) -> Figure:
    """Return the growth of each competition's burn if no score improves, by both curves.

    Raises:
        NotScorable: nothing can decay yet.
    """
    ahead = forecast(result)
    decaying = [one for one in ahead.decays if one.begins_in is not None]
    if not decaying:
        raise NotScorable(
            f"nothing decays as of epoch {ahead.epochs[0]}: no competition has a score above 0, "
            "or its rules let nothing burn; the forecast has nothing to draw"
        )
    ranks = {name: rank for rank, name in enumerate(_by_share(result))}
    shown = sorted(decaying, key=lambda one: ranks[one.competition])[:HUES]
    more = _left_out(len(decaying) - len(shown))
    return Figure(
        "forecast",
        "If nobody improves",
        f"{result.edition.full_name} · percent of a competition's emission that burns, from epoch "
        f"{ahead.epochs[0]:,} on; dashed: the other curve",
        " ".join(_foretold(one) for one in shown) + more,
        "epoch",
        tuple(_panel(one, ranks[one.competition] % HUES, alone=len(shown) == 1) for one in shown),
    )


def _panel(one: Decay, hue: int, *, alone: bool) -> Panel:
    """Return the panel of a competition: both curves, the begin and the end of the decay."""
    series = [
        Series(curve, one.curves[curve], "line", hue)
        if curve == one.rules.decay_curve
        else Series(curve, one.curves[curve], "dashes", OTHERS)
        for curve in sorted(CURVES, key=lambda name: name == one.rules.decay_curve)
    ]
    marks = []
    if one.begins_in is not None and one.begins_in in one.epochs[1:]:
        marks.append(Mark(one.begins_in, f"begins in {one.begins_in:,}"))
    if one.full_in is not None and one.full_in in one.epochs:
        marks.append(Mark(one.full_in, f"{one.rules.max_burn:g} % in {one.full_in:,}"))
    title = "" if alone else f"{one.competition} · {_percent(100 * one.emission_share)} of all"
    return Panel(title, one.epochs, tuple(series), 100.0, "%", tuple(marks))


def _foretold(one: Decay) -> str:
    now = one.burning[0]
    text = f"{one.competition} burns {_percent(now)} in epoch {one.epochs[0]}"
    if one.full_in is None:
        return f"{text} and never reaches its maximum of {one.rules.max_burn:g} %."
    reaches = "reached" if one.full_in <= one.epochs[0] else "reaches"
    return (
        f"{text} and {reaches} its maximum of {one.rules.max_burn:g} % in epoch {one.full_in} "
        f"({one.rules.decay_curve})."
    )


KINDS: Final[Mapping[str, Callable[[Result], Figure]]] = {
    "weights": weights_figure,
    "burn": burn_figure,
    "forecast": forecast_figure,
}
"""The functions that make the figures, by name."""


def drawn(epochs: range, *, most: int = MAX_EPOCHS_DRAWN) -> list[int]:
    """Return the epochs to draw: all, or ``most`` evenly spaced ones with both ends.

    Example:
        >>> drawn(range(3, 6)), drawn(range(101), most=5)
        ([3, 4, 5], [0, 25, 50, 75, 100])
    """
    if len(epochs) <= most:
        return list(epochs)
    return [epochs[at * (len(epochs) - 1) // (most - 1)] for at in range(most)]


def _ending(name: str, percents: list[float], *, hue: int, look: Look = "line") -> Series:
    """Return a series whose name starts with its last value."""
    return Series(f"{_percent(percents[-1])} {name}", percents, look, hue)


def _by_share(result: Result) -> list[str]:
    """Return the competitions, largest share of the emission first, which fixes their colors."""
    competitions = outcome_of(result).network.facts.competitions
    return [one.id for one in sorted(competitions, key=lambda one: -one.emission_share)]


def _left_out(count: int) -> str:
    return f" {count} smaller competitions are not drawn." if count else ""


def _named(epochs: list[int], result: Result) -> str:
    every = len(span(result))
    some = "" if len(epochs) == every else f" ({len(epochs)} of {every} drawn)"
    return f"epochs {epochs[0]} to {epochs[-1]}{some}" if every > 1 else f"epoch {epochs[0]}"


def _percent(value: float) -> str:
    return f"{value:.1f} %"
