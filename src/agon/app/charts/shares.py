"""Shares of a whole over time: stacked bands of the largest, of all others, of what is burned."""

from collections.abc import Sequence

from agon.app.charts.figure import BURNED, HUES, OTHERS, ChartPanel, Figure, Series


def shares_figure(
    epochs: Sequence[int],
    largest: Sequence[tuple[str, Sequence[float]]],
    others: tuple[str, Sequence[float]] | None,
    burned: tuple[str, Sequence[float]],
    *,
    title: str,
    subtitle: str,
    span: str,
) -> Figure:
    """Return shares of the emission as a figure; the bands of an epoch end at 100 %.

    Args:
        epochs: rising.
        largest: names with their shares of 1 in each epoch, at most :data:`~figure.HUES`.
        others: what all others are called, with the sum of their shares; None: there are none.
        burned: what the burn is called, with the shares that burn.
        title: one line.
        subtitle: one line of smaller print.
        span: the epochs in words.

    Example:
        >>> figure = shares_figure([3, 4], [("uid 7", [1.0, 0.75])], None,
        ...                        ("uid 0 (burn)", [0.0, 0.25]), title="",
        ...                        subtitle="", span="epochs 3 to 4")
        >>> [series.name for series in figure.panels[0].series]
        ['75.0 % uid 7', '25.0 % uid 0 (burn)']
    """
    bands = [(name, shares, hue) for hue, (name, shares) in enumerate(largest[:HUES])]
    if others is not None:
        bands.append((*others, OTHERS))
    bands.append((*burned, BURNED))
    series = tuple(
        Series(f"{100 * shares[-1]:.1f} % {name}", [100 * share for share in shares], "area", hue)
        for name, shares, hue in bands
    )
    listed = ", ".join(item.name for item in series)
    return Figure(
        "weights",
        title,
        subtitle,
        f"Stacked shares of the emission in {span}. In epoch {epochs[-1]}: {listed}.",
        "epoch",
        (ChartPanel("", epochs, series, 100.0, "%"),),
    )
