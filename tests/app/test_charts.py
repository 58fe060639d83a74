"""Test charts: valid SVG with any names, separate labels, colors that all readers distinguish."""

import doctest
import itertools
import re
from collections.abc import Sequence
from types import ModuleType
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from agon.app.challenge import figures
from agon.app.charts import (
    BURNED,
    OTHERS,
    ChartPanel,
    Figure,
    Mark,
    Series,
    markup,
    probe_chart,
    scales,
    svg,
)
from agon.app.charts.figure import HUES
from agon.app.charts.markup import (
    DARK,
    DARK_PAPER,
    LIGHT,
    LIGHT_PAPER,
    number,
    shorten,
    style,
    width,
)
from agon.app.charts.scales import Scale, spread, ticks
from agon.kernel.figures import Probe
from sizes import size

laws = settings(max_examples=size(60), deadline=None)
SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ET.Element:
    """Return a picture, parsed as XML."""
    return ET.fromstring(text)  # noqa: S314 - we wrote this text ourselves


def figure(*series: Series, x: Sequence[float] = (0, 1, 2), marks: tuple[Mark, ...] = ()) -> Figure:
    """Return a figure with one panel."""
    panel = ChartPanel("", x, series, 100.0, "%", marks)
    return Figure("f", "A title", "small print", "What it shows.", "epoch", (panel,))


def labels(picture: ET.Element) -> list[tuple[float, str]]:
    """Return the names next to the plot with their heights, from top to bottom."""
    return sorted(
        (float(text.attrib["y"]), text.text or "")
        for text in picture.iter(f"{SVG}text")
        if text.attrib["class"] == "ink"
    )


@laws
@given(st.text(max_size=60), st.text(max_size=20))
def test_any_name_gives_a_valid_picture_without_its_markup(name: str, title: str) -> None:
    """Names come from records: they are shown as text and cannot break the file."""
    panel = ChartPanel(title, [0, 1], (Series(name, [1, 2]),), 100.0, "%", (Mark(1, name),))
    picture = parsed(svg(Figure("f", name, title, name, name, (panel,))))
    tags = {node.tag.removeprefix(SVG) for node in picture.iter()}
    assert tags <= {"svg", "title", "desc", "style", "pattern", "path", "rect", "line", "text"}
    assert not any("href" in key for node in picture.iter() for key in node.attrib)
    descriptions = [node.text for node in picture.iter(f"{SVG}desc")]
    assert descriptions == [re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd",
                            re.sub("\r\n?", "\n", name)) or None]  # fmt: skip


def test_a_name_of_markup_is_shown_as_it_is() -> None:
    """The simplest attack."""
    text = svg(figure(Series("<script>alert(1)</script> & co", [1, 2, 3])))
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in text


def test_equal_figures_give_equal_text() -> None:
    """A picture can be compared and cached."""
    assert svg(figure(Series("a", [1, 2, 3]))) == svg(figure(Series("a", [1, 2, 3])))


def test_a_picture_has_a_title_and_a_description_for_screen_readers() -> None:
    """Their ids are the figure's, so that two pictures in a page have different ones."""
    picture = parsed(svg(figure(Series("a", [1, 2, 3]))))
    assert picture.attrib["role"] == "img"
    texts = {node.attrib["id"]: node.text for node in picture if "id" in node.attrib}
    assert texts["f-title"] == "A title"
    assert texts["f-desc"] == "What it shows."
    assert picture.attrib["aria-labelledby"] == "f-title f-desc"


def test_bands_are_stacked_and_as_wide_as_their_epoch() -> None:
    """30 and 50 of 100: the upper edge of the second lies at 80."""
    picture = parsed(
        svg(figure(Series("a", [30.0], "area"), Series("b", [50.0], "area", 1), x=[7]))
    )
    bands = [path for path in picture.iter(f"{SVG}path") if path.find(f"{SVG}title") is not None]
    frame = [list(map(float, re.findall(r"[\d.]+", path.attrib["d"]))) for path in bands]
    # M left bottom V top H right V bottom H left Z
    left, bottom, top, right = frame[0][:4]
    assert frame[0] == [left, bottom, top, right, bottom, left]
    assert frame[1] == [left, top, frame[1][2], right, top, left]
    height = bottom - top
    assert bottom - frame[1][2] == pytest.approx(height * 80 / 30, abs=0.02)


def test_a_value_of_zero_is_named_but_not_drawn() -> None:
    """A burn of 0 has no band; its label states the value."""
    picture = parsed(svg(figure(Series("none burns", [0, 0, 0], "area", BURNED))))
    assert [text for _, text in labels(picture)] == ["none burns"]
    assert not [path for path in picture.iter(f"{SVG}path") if path.find(f"{SVG}title") is not None]


def test_names_do_not_overlap() -> None:
    """Eight lines that end at one point have eight readable names."""
    many = [Series(f"line {at}", [0, 0, 50], hue=at % HUES) for at in range(8)]
    positions = [y for y, _ in labels(parsed(svg(figure(*many))))]
    assert len(positions) == 8
    assert min(np.diff(positions)) >= 17.9


def test_a_single_epoch_is_drawn() -> None:
    """A season begins with one epoch."""
    picture = parsed(svg(figure(Series("a", [40.0]), Series("b", [60.0], "dashes", OTHERS), x=[3])))
    assert "3" in {node.text for node in picture.iter(f"{SVG}text")}
    assert "nan" not in svg(figure(Series("a", [40.0]), x=[3]))


def test_the_text_of_a_mark_near_an_edge_stays_inside() -> None:
    """At the left edge it begins at the line, at the right edge it ends there."""
    marks = (Mark(0, "first"), Mark(5, "middle"), Mark(10, "last"))
    picture = parsed(svg(figure(Series("a", range(11)), x=range(11), marks=marks)))
    anchors = {node.text: node.attrib.get("text-anchor") for node in picture.iter(f"{SVG}text")}
    assert (anchors["first"], anchors["middle"], anchors["last"]) == ("start", "middle", "end")


def test_values_without_an_x_are_rejected() -> None:
    """A line is drawn completely or not at all."""
    with pytest.raises(ValueError, match="2 values for 3 x"):
        figure(Series("a", [1, 2]))
    with pytest.raises(ValueError, match="at least one x, got none"):
        figure(x=[])


def test_a_figure_without_panels_is_its_title() -> None:
    """A figure may have nothing to draw."""
    assert "A title" in svg(Figure("f", "A title", "", "", "epoch", ()))


@laws
@given(
    low=st.integers(-(10**9), 10**9),
    size=st.one_of(st.integers(0, 10**9), st.floats(0.001, 1e6)),
    most=st.integers(2, 12),
    integers=st.booleans(),
)
def test_ticks_are_few_and_round_and_in_range(
    *, low: int, size: float, most: int, integers: bool
) -> None:
    """Steps are 1, 2 or 5 times a power of ten; integers for epochs."""
    if low and not integers:
        low = 0  # axes of values begin at 0
    values = ticks(low, low + size, most=most, integers=integers)
    assert 1 <= len(values) <= most
    if len(values) > 1:
        steps = np.diff(values)
        assert steps == pytest.approx(steps[0])
        digits = f"{steps[0]:.6e}"
        assert re.match(r"[125]\.0+e|[149]\.9+", digits), digits
        assert min(values) >= low - 1e-6
        assert max(values) <= low + size + 1e-6
    if integers:
        assert all(float(value).is_integer() for value in values)


@laws
@given(st.lists(st.floats(0, 400), max_size=12), st.floats(1, 30))
def test_labels_move_as_little_as_possible(positions: list[float], gap: float) -> None:
    """As isotonic regression by scipy gives, where there is space beyond the edges."""
    wanted = sorted(positions)
    moved = spread(wanted, gap=gap, low=-1e6, high=1e6)
    shifts = gap * np.arange(len(wanted))
    if wanted:
        expected = isotonic_regression(np.array(wanted) - shifts).x + shifts
        assert moved == pytest.approx(expected.tolist(), abs=1e-6)
    within = spread(wanted, gap=gap, low=0, high=400)
    assert all(later - former >= gap - 1e-6 for former, later in itertools.pairwise(within))
    if gap * (len(wanted) - 1) <= 400:
        assert all(-1e-6 <= place <= 400 + 1e-6 for place in within)


@laws
@given(st.text(max_size=80), st.floats(20, 300))
def test_a_name_that_is_too_wide_ends_with_an_ellipsis(text: str, max_width: float) -> None:
    """No text leaves the picture, and a name that fits is complete."""
    cut = shorten(text, max_width=max_width)
    assert width(cut) <= max_width
    assert cut == text if width(text) <= max_width else cut.endswith("…")


@given(st.floats(-1e5, 1e5))
def test_coordinates_are_short_and_never_minus_zero(value: float) -> None:
    """Two decimals of a pixel are more than an eye sees."""
    text = number(value)
    assert float(text) == pytest.approx(value, abs=0.0051)
    assert text != "-0"
    assert "e" not in text


@pytest.mark.parametrize("module", [markup, scales, figures])
def test_the_examples_of_the_docstrings_are_right(module: ModuleType) -> None:
    """Readers check the functions with them."""
    tried = doctest.testmod(module)
    assert (tried.failed, tried.attempted > 0) == (0, True)


def test_a_scale_maps_ends_to_ends() -> None:
    """The y axis runs upwards."""
    scale = Scale(0, 100, 300, 20)
    assert (scale(0), scale(100), scale(50)) == (300, 20, 160)


# Colors. sRGB → linear → what a dichromat sees (Machado, Oliveira, Fernandes 2009) → CIELAB.
SEEN_BY = {
    "no deficiency": np.eye(3),
    "protanopes": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopes": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopes": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip


def linear(color: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a color's linear light."""
    parts = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colors (WCAG 2.2)."""
    low, high = sorted(float(linear(color) @ XYZ[1]) for color in (first, second))
    return (high + 0.05) / (low + 0.05)


def lab(color: str, eyes: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a color as seen with a deficiency, in CIELAB."""
    light = np.clip(np.array(SEEN_BY[eyes]) @ linear(color), 0, 1)
    x, y, z = XYZ @ light / [0.95047, 1.0, 1.08883]
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


@pytest.mark.parametrize(("colors", "paper"), [(LIGHT, LIGHT_PAPER), (DARK, DARK_PAPER)])
def test_colors_differ_from_the_background_and_from_each_other(
    colors: tuple[str, ...], paper: str
) -> None:
    """3 : 1 against the background (WCAG 2.2, 1.4.11); 20 apart with every color deficiency."""
    assert len(colors) == HUES
    assert min(contrast(color, paper) for color in colors) >= 3
    for eyes in SEEN_BY:
        closest = min(
            np.linalg.norm(lab(first, eyes) - lab(second, eyes))
            for first, second in itertools.combinations(colors, 2)
        )
        assert closest >= 20, eyes


def test_text_is_readable_in_light_and_dark() -> None:
    """4.5 : 1 against the background (WCAG 2.2, 1.4.3)."""
    light, dark = style().split("@media (prefers-color-scheme:dark)")
    for sheet, paper in ((light, LIGHT_PAPER), (dark, DARK_PAPER)):
        for ink in ("ink", "quiet"):
            rule = re.search(rf"\.{ink}\{{fill:(#\w{{6}})\}}", sheet)
            assert rule is not None
            assert contrast(rule[1], paper) >= 4.5


def test_probes_are_drawn_with_verdict_and_sentence_and_names_are_escaped() -> None:
    """The picture says what table and page say; a name of a bot cannot end an element."""
    alike = "2 bots look alike: '<b>', 'b' " + "and so on " * 20
    silent = "no match names its judge"
    probes = [
        Probe(name="names", figure=2.0, expected=0.0, verdict="look", sentence=alike),
        Probe(name="voters", figure=None, expected=None, verdict="cannot tell", sentence=silent),
    ]
    picture = probe_chart(probes, under="arena/sentience-1")
    drawn = ET.fromstring(picture)  # noqa: S314 (our own text)
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"names", "look", "cannot tell", "no match names its judge"} <= set(texts)
    assert "1 of 2 probes say look · arena/sentience-1" in texts
    assert any(text is not None and "'<b>'" in text for text in texts)
    assert picture == probe_chart(probes, under="arena/sentience-1")
