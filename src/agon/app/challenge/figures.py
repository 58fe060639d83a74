"""Figures of a challenge: weights, burn and forecast."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import numpy as np

from agon.app.analysis.score import Result
from agon.app.challenge.epochs import CURVES, Decay, forecast, outcome_of, span
from agon.app.charts import OTHERS, ChartPanel, Figure, Mark, Series, shares_figure
from agon.app.charts.figure import HUES, Style
from agon.disciplines.challenge.columns import row_label
from agon.disciplines.challenge.weights import all_weights, allocations
from agon.errors import NotScorable, did_you_mean

MAX_EPOCHS_DRAWN = 300
"""Maximum number of epochs in a figure; of more, evenly spaced ones with the first and the last."""


def picture(result: Result, kind: str) -> Figure:
    """Return one of the figures in :data:`KINDS` of a scored challenge.

    Raises:
        NotScorable: there are no values to draw yet.
        ValueError: there is no such figure.
    """
    if kind not in KINDS:
        raise ValueError(f"there is no figure {kind!r}: {did_you_mean(kind, KINDS)}")
    return KINDS[kind](result)


def weights_figure(result: Result) -> Figure:
    """Return the stacked emission of each epoch: the miners who got most, all others, the burn."""
    network = outcome_of(result).network
    called = partial(row_label, "weights", rules=network.rules)
    epochs = epochs_to_draw(span(result))
    history = all_weights(network.facts, network.rules, epochs=epochs)
    totals = history.weights.sum(axis=0)
    most = [
        index for index in np.argsort(-totals, kind="stable")[:HUES].tolist() if totals[index] > 0
    ]
    others = None
    if rest := int((totals > 0).sum()) - len(most):
        sums = history.weights.sum(axis=1) - history.weights[:, most].sum(axis=1)
        others = (f"all {rest:,} others", np.maximum(sums, 0.0).tolist())
    return shares_figure(
        epochs,
        [(called(str(history.uids[index])), history.weights[:, index].tolist()) for index in most],
        others,
        (called(str(network.rules.burn_uid)), history.burn.tolist()),
        title="Shares of the emission",
        subtitle=f"{result.rules_title} · the uids that got most, all others, the burn",
        span=_epochs_text(epochs, result),
    )


def burn_figure(result: Result) -> Figure:
    """Return the share of each competition and of the network that burned by decay."""
    network = outcome_of(result).network
    epochs = epochs_to_draw(span(result))
    walked = list(allocations(network, epochs))
    names = [item.id for item in network.facts.competitions]
    largest = _by_share(result)[:HUES]
    series = [
        _ending(name, [float(item.burn_percents[names.index(name)]) for item in walked], hue=hue)
        for hue, name in enumerate(largest)
    ]
    burning = [100 * item.burn for item in walked]
    series.append(_ending("total burn", burning, style="dashes", hue=OTHERS))
    more = _left_out(len(names) - len(largest))
    listed = ", ".join(item.name for item in series)
    return Figure(
        "burn",
        "Burn by decay",
        f"{result.rules_title} · percent of a competition's emission that burns by decay; "
        "dashed: of the whole network",
        f"Burn in {_epochs_text(epochs, result)}. In epoch {epochs[-1]}: {listed}.{more}",
        "epoch",
        (ChartPanel("", epochs, tuple(series), 100.0, "%"),),
    )


def forecast_figure(result: Result) -> Figure:
    """Return the growth of each competition's burn if no score improves, by both curves.

    Raises:
        NotScorable: nothing can decay yet.
    """
    ahead = forecast(result)
    decaying = [item for item in ahead.decays if item.begins_in is not None]
    if not decaying:
        raise NotScorable(
            f"nothing decays as of epoch {ahead.epochs[0]}: no competition has a score above 0, "
            "or its rules let nothing burn; the forecast has nothing to draw"
        )
    ranks = {name: rank for rank, name in enumerate(_by_share(result))}
    shown = sorted(decaying, key=lambda item: ranks[item.competition])[:HUES]
    more = _left_out(len(decaying) - len(shown))
    return Figure(
        "forecast",
        "If no score improves",
        f"{result.rules_title} · percent of a competition's emission that burns, from epoch "
        f"{ahead.epochs[0]:,} on; dashed: the other curve",
        " ".join(_sentence(item) for item in shown) + more,
        "epoch",
        tuple(
            _panel(item, ranks[item.competition] % HUES, alone=len(shown) == 1) for item in shown
        ),
    )


def _panel(decay: Decay, hue: int, *, alone: bool) -> ChartPanel:
    """Return the panel of a competition: both curves, the start and the end of the decay."""
    series = [
        Series(curve, decay.curves[curve], "line", hue)
        if curve == decay.rules.decay_curve
        else Series(curve, decay.curves[curve], "dashes", OTHERS)
        for curve in sorted(CURVES, key=lambda name: name == decay.rules.decay_curve)
    ]
    marks = []
    if decay.begins_in is not None and decay.begins_in in decay.epochs[1:]:
        marks.append(Mark(decay.begins_in, f"begins in {decay.begins_in:,}"))
    if decay.full_in is not None and decay.full_in in decay.epochs:
        marks.append(Mark(decay.full_in, f"{decay.rules.max_burn:g} % in {decay.full_in:,}"))
    title = "" if alone else f"{decay.competition} · {_percent(100 * decay.emission_share)} of all"
    return ChartPanel(title, decay.epochs, tuple(series), 100.0, "%", tuple(marks))


def _sentence(decay: Decay) -> str:
    now = decay.burning[0]
    text = f"{decay.competition} burns {_percent(now)} in epoch {decay.epochs[0]}"
    if decay.full_in is None:
        return f"{text} and never reaches its maximum of {decay.rules.max_burn:g} %."
    reaches = "reached" if decay.full_in <= decay.epochs[0] else "reaches"
    return (
        f"{text} and {reaches} its maximum of {decay.rules.max_burn:g} % in epoch {decay.full_in} "
        f"({decay.rules.decay_curve})."
    )


KINDS: Final[Mapping[str, Callable[[Result], Figure]]] = {
    "weights": weights_figure,
    "burn": burn_figure,
    "forecast": forecast_figure,
}


def epochs_to_draw(epochs: range, *, most: int = MAX_EPOCHS_DRAWN) -> list[int]:
    """Return the epochs to draw: all, or ``most`` evenly spaced ones with both ends.

    Example:
        >>> epochs_to_draw(range(3, 6)), epochs_to_draw(range(101), most=5)
        ([3, 4, 5], [0, 25, 50, 75, 100])
    """
    if len(epochs) <= most:
        return list(epochs)
    return [epochs[index * (len(epochs) - 1) // (most - 1)] for index in range(most)]


def _ending(name: str, percents: list[float], *, hue: int, style: Style = "line") -> Series:
    """Return a series whose name starts with its last value."""
    return Series(f"{_percent(percents[-1])} {name}", percents, style, hue)


def _by_share(result: Result) -> list[str]:
    """Return the competitions, largest share of the emission first, which fixes their colors."""
    competitions = outcome_of(result).network.facts.competitions
    return [item.id for item in sorted(competitions, key=lambda item: -item.emission_share)]


def _left_out(count: int) -> str:
    return f" {count} smaller competitions are not drawn." if count else ""


def _epochs_text(epochs: list[int], result: Result) -> str:
    every = len(span(result))
    note = "" if len(epochs) == every else f" ({len(epochs)} of {every} drawn)"
    return f"epochs {epochs[0]} to {epochs[-1]}{note}" if every > 1 else f"epoch {epochs[0]}"


def _percent(value: float) -> str:
    return f"{value:.1f} %"
