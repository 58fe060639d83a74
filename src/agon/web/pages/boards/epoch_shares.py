"""The shares of the emission over epochs: a chart, and the same rows as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from agon.api.models.analysis import Epochs
from agon.app.charts import shares_figure, svg
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


def epoch_shares(listed: Epochs) -> EpochShares:
    """Return the shares of the emission in the epochs of a list."""
    items, miners = listed.items, listed.miners
    bands = [(miner_text(each.uid, each.hotkey), each.shares) for each in miners]
    others = None
    if listed.others:
        sums = (sum(each.shares[at] for each in miners) for at in range(len(items)))
        rest = [max(0.0, item.paid - drawn) for item, drawn in zip(items, sums, strict=True)]
        others = (f"all {number_text(listed.others)} others", rest)
    burned = [item.burn for item in items]
    figure = shares_figure(
        [item.epoch for item in items], bands, others, burned,
        title="Shares of the emission", subtitle="",
        span=f"epochs {items[0].epoch} to {items[-1].epoch}",
    )  # fmt: skip
    drawn = [*bands, *([others] if others else []), ("burned", burned)]
    rows = [
        (items[at].epoch, [round(100 * shares[at], 2) for _, shares in drawn])
        for at in reversed(range(len(items)))
    ]
    return EpochShares(
        svg=for_both_widths(lambda narrow: svg(figure, is_part=True, narrow=narrow)),
        names=[name for name, _ in drawn],
        rows=rows[:_TABLE_ROWS],
    )


def miner_text(uid: str, hotkey: str | None) -> str:
    """Return a miner as text: its uid, and the beginning of its hotkey where it is known.

    Example:
        >>> miner_text("5", None), miner_text("5", "5F3sa2TJAWMqDhXG6jhV4N8ko9Sx")
        ('uid 5', 'uid 5 · 5F3sa2TJ…')
    """
    if not hotkey:
        return f"uid {uid}"
    return f"uid {uid} · {hotkey if len(hotkey) <= _HOTKEY else hotkey[:_HOTKEY] + '…'}"
