"""The shares of the emission over epochs: a chart, and the same rows as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from agon.api.models.analysis import Epochs
from agon.api.models.contests import Contest
from agon.app.charts import shares_figure, svg
from agon.web.labels import weight_labels
from agon.web.rendering import for_both_widths, number_text

_HOTKEY: Final = 8
"""Number of characters of a hotkey that are shown."""

_TABLE_ROWS: Final = 60


@dataclass(frozen=True)
class EpochShares:
    """The shares of the emission over epochs.

    Attributes:
        svg: the chart.
        names: of the bands: miners, all others, what is burned.
        rows: the last epochs, the newest first, with their shares in percent, a band each.
    """

    svg: Markup
    names: Sequence[str]
    rows: Sequence[tuple[int, Sequence[float]]]


def epoch_shares(listed: Epochs, contest: Contest) -> EpochShares:
    """Return the shares of the emission in the epochs of a list.

    Args:
        listed: the epochs.
        contest: whose epochs they are.
    """
    items, miners = listed.items, listed.miners
    label, burn = weight_labels(contest)
    bands = [(miner_text(label(each.uid), each.hotkey), each.shares) for each in miners]
    others = None
    if listed.others:
        sums = (sum(each.shares[index] for each in miners) for index in range(len(items)))
        rest = [max(0.0, item.paid - drawn) for item, drawn in zip(items, sums, strict=True)]
        others = (f"all {number_text(listed.others)} others", rest)
    burned = (burn, [item.burn for item in items])
    figure = shares_figure(
        [item.epoch for item in items], bands, others, burned,
        title="Shares of the emission", subtitle="",
        span=f"epochs {items[0].epoch} to {items[-1].epoch}",
    )  # fmt: skip
    drawn = [*bands, *([others] if others else []), burned]
    rows = [
        (items[index].epoch, [round(100 * shares[index], 2) for _, shares in drawn])
        for index in reversed(range(len(items)))
    ]
    return EpochShares(
        svg=for_both_widths(lambda narrow: svg(figure, is_part=True, narrow=narrow)),
        names=[name for name, _ in drawn],
        rows=rows[:_TABLE_ROWS],
    )


def miner_text(label: str, hotkey: str | None) -> str:
    """Return a miner as text: what it is called, and the beginning of its hotkey if it is known.

    Example:
        >>> miner_text("uid 5", None), miner_text("uid 5", "5F3sa2TJAWMqDhXG6jhV4N8ko9Sx")
        ('uid 5', 'uid 5 · 5F3sa2TJ…')
    """
    if not hotkey:
        return label
    return f"{label} · {hotkey if len(hotkey) <= _HOTKEY else hotkey[:_HOTKEY] + '…'}"
