"""Charts: whole SVG whatever the names, labels apart, colours anybody can tell apart."""

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
from agon.app.charts import BURNED, OTHERS, Figure, Mark, Panel, Series, markup, scales, svg
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
from sizes import size

laws = settings(max_examples=size(60), deadline=None)
SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ET.Element:
    """Read a picture as any XML reader would."""
    return ET.fromstring(text)  # noqa: S314 - we wrote this text ourselves


def figure(*series: Series, x: Sequence[float] = (0, 1, 2), marks: tuple[Mark, ...] = ()) -> Figure:
    """Make a figure of one panel."""
    panel = Panel("", x, series, 100.0, "%", marks)
    return Figure("f", "A title", "small print", "What it shows.", "epoch", (panel,))


def labels(picture: ET.Element) -> list[tuple[float, str]]:
    """Return where the names beside the plot stand, from top to bottom."""
    return sorted(
        (float(one.attrib["y"]), one.text or "")
        for one in picture.iter(f"{SVG}text")
        if one.attrib["class"] == "ink"
    )


@laws
@given(st.text(max_size=60), st.text(max_size=20))
def test_any_name_gives_a_whole_picture_without_markup_of_its_own(name: str, title: str) -> None:
    """Names come from records: they are shown, not obeyed, and cannot break the file."""
    panel = Panel(title, [0, 1], (Series(name, [1, 2]),), 100.0, "%", (Mark(1, name),))
    picture = parsed(svg(Figure("f", name, title, name, name, (panel,))))
    tags = {one.tag.removeprefix(SVG) for one in picture.iter()}
    assert tags <= {"svg", "title", "desc", "style", "pattern", "path", "rect", "line", "text"}
    assert not any("href" in key for one in picture.iter() for key in one.attrib)
    shown = [one.text for one in picture.iter(f"{SVG}desc")]
    assert shown == [re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd",
                            re.sub("\r\n?", "\n", name)) or None]  # fmt: skip


def test_a_name_of_markup_is_shown_as_it_is() -> None:
    """The plainest attack."""
    text = svg(figure(Series("<script>alert(1)</script> & co", [1, 2, 3])))
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in text


def test_equal_figures_give_equal_text() -> None:
    """A picture can be compared and cached."""
    assert svg(figure(Series("a", [1, 2, 3]))) == svg(figure(Series("a", [1, 2, 3])))


def test_a_screen_reader_finds_title_and_description() -> None:
    """By ids of the figure's own, so that two pictures in a page do not mix them up."""
    picture = parsed(svg(figure(Series("a", [1, 2, 3]))))
    assert picture.attrib["role"] == "img"
    told = {one.attrib["id"]: one.text for one in picture if "id" in one.attrib}
    assert told["f-title"] == "A title"
    assert told["f-desc"] == "What it shows."
    assert picture.attrib["aria-labelledby"] == "f-title f-desc"


def test_bands_stand_on_each_other_and_are_as_wide_as_their_epoch() -> None:
    """30 and 50 of 100: the upper edge of the second lies at 80."""
    picture = parsed(
        svg(figure(Series("a", [30.0], "area"), Series("b", [50.0], "area", 1), x=[7]))
    )
    bands = [one for one in picture.iter(f"{SVG}path") if one.find(f"{SVG}title") is not None]
    frame = [list(map(float, re.findall(r"[\d.]+", one.attrib["d"]))) for one in bands]
    # M left bottom V top H right V bottom H left Z
    left, bottom, top, right = frame[0][:4]
    assert frame[0] == [left, bottom, top, right, bottom, left]
    assert frame[1] == [left, top, frame[1][2], right, top, left]
    height = bottom - top
    assert bottom - frame[1][2] == pytest.approx(height * 80 / 30, abs=0.02)


def test_what_is_nowhere_is_not_drawn_but_named() -> None:
    """A burn of 0 has no band; its name says so."""
    picture = parsed(svg(figure(Series("none burns", [0, 0, 0], "area", BURNED))))
    assert [text for _, text in labels(picture)] == ["none burns"]
    assert not [one for one in picture.iter(f"{SVG}path") if one.find(f"{SVG}title") is not None]


def test_names_never_stand_on_each_other() -> None:
    """Eight lines that end in one point still have eight readable names."""
    many = [Series(f"line {at}", [0, 0, 50], hue=at % HUES) for at in range(8)]
    places = [y for y, _ in labels(parsed(svg(figure(*many))))]
    assert len(places) == 8
    assert min(np.diff(places)) >= 17.9


def test_a_single_epoch_is_a_picture_too() -> None:
    """A season begins with one."""
    picture = parsed(svg(figure(Series("a", [40.0]), Series("b", [60.0], "dashes", OTHERS), x=[3])))
    assert "3" in {one.text for one in picture.iter(f"{SVG}text")}
    assert "nan" not in svg(figure(Series("a", [40.0]), x=[3]))


def test_a_mark_near_an_edge_keeps_its_words_inside() -> None:
    """At the left edge they begin at the rule, at the right one they end there."""
    marks = (Mark(0, "first"), Mark(5, "middle"), Mark(10, "last"))
    picture = parsed(svg(figure(Series("a", range(11)), x=range(11), marks=marks)))
    anchors = {one.text: one.attrib.get("text-anchor") for one in picture.iter(f"{SVG}text")}
    assert (anchors["first"], anchors["middle"], anchors["last"]) == ("start", "middle", "end")


def test_values_without_an_x_are_refused() -> None:
    """A line is drawn whole or not at all."""
    with pytest.raises(ValueError, match="2 values for 3 x"):
        figure(Series("a", [1, 2]))
    with pytest.raises(ValueError, match="at least one x, got none"):
        figure(x=[])


def test_a_figure_without_panels_is_its_title() -> None:
    """Nothing to draw is no crash."""
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
def test_labels_move_as_little_as_can_be(places: list[float], gap: float) -> None:
    """As isotonic regression by scipy has it, where there is room beyond the edges."""
    wanted = sorted(places)
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
def test_a_name_is_cut_to_its_room_and_says_so(text: str, room: float) -> None:
    """Nothing runs out of the picture, and what fits is whole."""
    cut = shorten(text, max_width=room)
    assert width(cut) <= room
    assert cut == text if width(text) <= room else cut.endswith("…")


@given(st.floats(-1e5, 1e5))
def test_coordinates_are_short_and_never_minus_zero(value: float) -> None:
    """Two decimals of a pixel are more than an eye sees."""
    text = number(value)
    assert float(text) == pytest.approx(value, abs=0.0051)
    assert text != "-0"
    assert "e" not in text


@pytest.mark.parametrize("module", [markup, scales, figures])
def test_the_examples_hold(module: ModuleType) -> None:
    """They are what a reader checks the functions with."""
    tried = doctest.testmod(module)
    assert (tried.failed, tried.attempted > 0) == (0, True)


def test_a_scale_maps_ends_to_ends() -> None:
    """The y axis runs upwards."""
    scale = Scale(0, 100, 300, 20)
    assert (scale(0), scale(100), scale(50)) == (300, 20, 160)


# Colours. sRGB → linear → what a dichromat sees (Machado, Oliveira, Fernandes 2009) → CIELAB.
SEEN_BY = {
    "everybody": np.eye(3),
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


def linear(colour: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a colour's linear light."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.2)."""
    low, high = sorted(float(linear(colour) @ XYZ[1]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(colour: str, eyes: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return how a colour looks to someone, in CIELAB."""
    light = np.clip(np.array(SEEN_BY[eyes]) @ linear(colour), 0, 1)
    x, y, z = XYZ @ light / [0.95047, 1.0, 1.08883]
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


@pytest.mark.parametrize(("colours", "paper"), [(LIGHT, LIGHT_PAPER), (DARK, DARK_PAPER)])
def test_colours_stand_out_and_can_be_told_apart_by_anybody(
    colours: tuple[str, ...], paper: str
) -> None:
    """3 : 1 against the paper (WCAG 2.2, 1.4.11); 20 apart for every kind of eyes."""
    assert len(colours) == HUES
    assert min(contrast(colour, paper) for colour in colours) >= 3
    for eyes in SEEN_BY:
        closest = min(
            np.linalg.norm(lab(one, eyes) - lab(other, eyes))
            for one, other in itertools.combinations(colours, 2)
        )
        assert closest >= 20, eyes


def test_words_are_readable_in_light_and_dark() -> None:
    """4.5 : 1 against the paper (WCAG 2.2, 1.4.3)."""
    light, dark = style().split("@media (prefers-color-scheme:dark)")
    for sheet, paper in ((light, LIGHT_PAPER), (dark, DARK_PAPER)):
        for ink in ("ink", "quiet"):
            found = re.search(rf"\.{ink}\{{fill:(#\w{{6}})\}}", sheet)
            assert found is not None
            assert contrast(found[1], paper) >= 4.5
