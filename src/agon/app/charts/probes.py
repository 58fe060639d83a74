"""The probes of a board as a chart: verdict, figure and sentence of each."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Final

from agon.app.charts.markup import document, element, shorten, words
from agon.kernel.figures import Probe

WIDTH: Final = 820.0

_MARGIN: Final = 16.0
_HEAD: Final = 66.0  # title and subtitle
_LINE, _ROW = 17.0, 16.0  # height of a line of a sentence; space after the last one
_NAMES: Final = 130.0
_VERDICTS: Final = 110.0
_CHARS: Final = 82  # of a line of a sentence
_SHADES: Final = {"fine": "f0", "look": "f1", "cannot tell": "f-others"}


def probe_chart(probes: Sequence[Probe], *, under: str) -> str:
    """Return the answers of probes as SVG: a mark, the verdict, and the sentence.

    Equal answers give equal text. The verdict is written beside its mark, so that color alone
    says nothing.

    Args:
        probes: the answers.
        under: name of the edition.

    Example:
        >>> probe = Probe(name="ties", figure=0.0, expected=0.0, verdict="fine",
        ...               sentence="there are no ties")
        >>> "there are no ties" in probe_chart([probe], under="arena/sentience-1")
        True
    """
    looks = sum(probe.verdict == "look" for probe in probes)
    drawn = [
        element("text", ["How sure is this board?"], x=_MARGIN, y=30, class_="title ink"),
        element(
            "text",
            [words(f"{looks} of {len(probes)} probes say look · {under}")],
            x=_MARGIN, y=50, class_="small quiet",
        ),
    ]  # fmt: skip
    top = _HEAD
    for probe in probes:
        lines = wrap(probe.sentence, _CHARS) or [""]
        drawn += _row(probe, lines, top=top)
        top += _LINE * len(lines) + _ROW
    height = top + _MARGIN
    return document(
        [element("rect", width=WIDTH, height=height, class_="paper"), *drawn],
        name="probes",
        title="How sure is this board?",
        description=" ".join(f"{each.name}, {each.verdict}: {each.sentence}." for each in probes),
        width=WIDTH,
        height=height,
    )


def _row(probe: Probe, lines: Sequence[str], *, top: float) -> Iterator[str]:
    """Yield the elements of a probe."""
    name = shorten(probe.name, max_width=_NAMES - 8)
    left = _MARGIN + _NAMES
    yield element("text", [words(name)], x=_MARGIN, y=top + 12, class_="ink")
    yield element("rect", x=left, y=top + 1, width=8, height=14, class_=_SHADES[probe.verdict])
    yield element("text", [words(probe.verdict)], x=left + 14, y=top + 12, class_="ink")
    for number, line in enumerate(lines):
        y = top + 12 + _LINE * number
        yield element("text", [words(line)], x=left + _VERDICTS, y=y, class_="small quiet")
