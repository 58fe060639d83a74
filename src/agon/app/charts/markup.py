"""SVG markup: elements, escaped text, short numbers and the style sheet."""

import re
from collections.abc import Iterable
from html import escape
from typing import Final
from unicodedata import east_asian_width

from agon.kernel.text.bidi import closed_text

LIGHT = ("#0b6bb0", "#b47a22", "#7f29d6", "#d35077", "#455214", "#672260")
DARK = ("#5ab0ea", "#dab33e", "#e8c9e5", "#cf6e8b", "#b2d194", "#da563e")
"""Found by search: any two differ by more than 20 in CIELAB for normal vision, protanopia,
deuteranopia and tritanopia, and each has a contrast of more than 3 : 1 to its background."""

LIGHT_PAPER, DARK_PAPER = "#ffffff", "#14171c"

_INKS = {
    # class: (property, light, dark)
    "paper": ("fill", LIGHT_PAPER, DARK_PAPER),
    "ink": ("fill", "#1b1f24", "#e8eaed"),
    "quiet": ("fill", "#57606a", "#a3abb5"),
    "grid": ("stroke", "#d8dce1", "#30363d"),
    "axis": ("stroke", "#57606a", "#a3abb5"),
    "edge": ("stroke", LIGHT_PAPER, DARK_PAPER),
    "hatch": ("stroke", "#57606a", "#a3abb5"),
}
_OTHERS = (("#6e7781", "#c9d0d7"), ("#8b949e", "#454c56"))  # of a line, of a band

WIDTH: Final = 820.0
NARROW_WIDTH: Final = 360.0
"""The width of a chart in pixels, and of one that is laid out for a phone."""

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT = (
    "text{font:13px system-ui,'Segoe UI','Helvetica Neue','DejaVu Sans',Arial,sans-serif}"
    ".title{font-size:18px;font-weight:600}.panel{font-weight:600}.small{font-size:12px}"
    ".line,.dashes{fill:none;stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round}"
    ".dashes{stroke-dasharray:2 5}.dot{stroke-width:7;stroke-linecap:round}"
    ".area.edge{stroke-width:.75}line{shape-rendering:crispEdges}"
    ".lead{fill:none;opacity:.7}.rule{stroke-dasharray:4 3}"
)


def style() -> str:
    """Return the style sheet: light by default, dark where the reader prefers that."""

    def inks(theme: int, hues: tuple[str, ...]) -> str:
        rules = [f".{name}{{{prop}:{both[theme]}}}" for name, (prop, *both) in _INKS.items()]
        colors = {str(index): (hue, hue) for index, hue in enumerate(hues)} | {
            "-others": _OTHERS[theme]
        }
        for name, (line, band) in colors.items():
            rules.append(f".s{name}{{stroke:{line}}}.f{name}{{fill:{band}}}")
        return "".join(rules)

    dark = f"@media (prefers-color-scheme:dark){{{inks(1, DARK)}}}"
    return element("style", [_TEXT, inks(0, LIGHT), dark])


def document(
    parts: Iterable[str],
    *,
    name: str,
    title: str,
    description: str | None,
    width: float,
    height: float,
    is_part: bool = False,
    role: str = "img",
) -> str:
    """Return an SVG document with a title and a description for screen readers.

    Args:
        parts: its elements, back to front.
        name: prefix of the ids, so that one page can have several charts.
        title: what it shows, in a line.
        description: what it shows, in sentences; None: the labels of its links say it.
        width: in pixels.
        height: in pixels.
        is_part: whether it is part of a page, which has the styles; such a page allows no others.
        role: ``img``, or ``group`` if it holds links.
    """
    head = [
        element("title", [words(title)], id=f"{name}-title"),
        *(
            []
            if description is None
            else [element("desc", [words(description)], id=f"{name}-desc")]
        ),
        *([] if is_part else [style()]),
    ]
    return element(
        "svg",
        [*head, *parts],
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        **({"class_": f"chart{' narrow' if width == NARROW_WIDTH else ''}"} if is_part else {}),
        role=role,
        aria_labelledby=f"{name}-title" + ("" if description is None else f" {name}-desc"),
    )


def element(tag: str, children: Iterable[str] = (), **attributes: str | float) -> str:
    """Return an element; an underscore in an attribute's name becomes a hyphen.

    Example:
        >>> element("line", x1=0, y1=2.5, stroke_width=1, class_="a & b")
        '<line x1="0" y1="2.5" stroke-width="1" class="a &amp; b"/>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
    )
    inside = "".join(children)
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"


def words(text: str) -> str:
    r"""Return escaped text that closes its controls of direction; what XML cannot hold is replaced.

    Example:
        >>> words("<b> & \x1b")
        '&lt;b&gt; &amp; \ufffd'
    """
    return escape(_UNWRITABLE.sub("\ufffd", closed_text(text)), quote=True)


def number(value: float) -> str:
    """Return a coordinate with at most two decimals.

    Example:
        >>> number(2.0), number(1 / 3), number(-0.001)
        ('2', '0.33', '0')
    """
    return f"{round(value, 2) + 0.0:.9g}"  # -0.0 + 0.0 is 0.0


def width(text: str) -> float:
    """Estimate the width of 13 px text in pixels; East Asian characters are twice as wide."""
    return sum(13.0 if east_asian_width(char) in "WF" else 7.3 for char in text)


def shorten(text: str, *, max_width: float) -> str:
    """Return text shortened to a width, with an ellipsis where something is left out.

    Example:
        >>> shorten("competition", max_width=50)
        'compe…'
    """
    if width(text) <= max_width:
        return text
    beginning = text
    while beginning and width(beginning + "…") > max_width:
        beginning = beginning[:-1]
    return beginning + "…"


def _value(value: str | float) -> str:
    return words(value) if isinstance(value, str) else number(value)
