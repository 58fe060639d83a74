"""Test the picture of a score: it shows the numbers of the explanation."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.app.charts import waterfall
from agon.app.charts.waterfall import MAX_PARTS, levels
from agon.kernel.explanations import Explanation, Part
from sizes import size

SVG = "{http://www.w3.org/2000/svg}"


def explained(*points: float, name: str = "part", missing: str | None = None) -> Explanation:
    """Return an explanation with some points."""
    parts = tuple(
        Part(f"{name} {at}", value, {}, {}, f"reason {at}", missing=missing)
        for at, value in enumerate(points)
    )
    return Explanation("bots", "ada", 1, round(sum(points), 6), parts)


def texts(drawn: str) -> list[str]:
    """Return the texts of a picture."""
    root = ET.fromstring(drawn)  # noqa: S314 - we wrote it
    return [node.text or "" for node in root.iter(f"{SVG}text")]


def bars(drawn: str) -> list[tuple[float, float]]:
    """Return begin and end of each bar, that of the score last, without the background."""
    root = ET.fromstring(drawn)  # noqa: S314 - we wrote it
    rows = [
        (float(node.attrib["x"]), float(node.attrib["width"]))
        for node in root.iter(f"{SVG}rect")
        if "x" in node.attrib
    ]
    return [(begin, begin + width) for begin, width in rows]


def test_a_waterfall_shows_every_part_and_the_score() -> None:
    """The parts of the picture add up to the score."""
    drawn = waterfall(explained(50.0, -20.0, 5.5), under="community/scores0002-1")
    words = texts(drawn)
    assert words[:2] == ["ada · rank 1", "bots · community/scores0002-1"]
    for word in ("part 0", "+50", "reason 0", "−20", "+5.5", "score", "35.5"):
        assert word in words
    assert bars(drawn)[-1][1] == pytest.approx(bars(drawn)[-2][1], abs=0.01)


def test_each_bar_begins_at_the_end_of_the_one_before() -> None:
    """A reader can follow the sum to the score."""
    *steps, total = bars(waterfall(explained(30.0, 20.0, 50.0), under="rules"))
    assert all(bar[1] == pytest.approx(next_[0], abs=0.02) for bar, next_ in pairwise(steps))
    assert total[0] == pytest.approx(steps[0][0])
    assert total[1] == pytest.approx(steps[-1][1], abs=0.02)


def test_a_part_without_points_names_what_is_missing() -> None:
    """Participants want to know what the next bonus needs."""
    words = texts(waterfall(explained(0.0, 5.0, missing="one more prompt"), under="rules"))
    assert "→ one more prompt" in words
    assert "reason 0" not in words
    assert "reason 1" in words


def test_a_first_step_that_dwarfs_the_others_is_cut() -> None:
    """A rating begins at 1000 and changes by tens, which have to be visible."""
    assert levels([1000.0, 10.0, -5.0], cut=0.1)[1:] == (999.0, 1010.0)
    assert levels([-1000.0, 10.0], cut=0.1) == ([-989.0, -1000.0, -990.0], -1000.0, -989.0)
    assert levels([3.0, 1.0], cut=0.1) == ([0.0, 3.0, 4.0], 0.0, 4.0)
    assert levels([], cut=0.1) == ([0.0], 0.0, 0.0)


def test_many_parts_end_with_one_for_the_others() -> None:
    """A bot has thousands of matches, and a picture has a limit."""
    words = texts(waterfall(explained(*[1.0] * 100), under="rules"))
    assert "77 more" in words
    assert "+77" in words
    assert sum(word.startswith("part ") for word in words) == MAX_PARTS - 1


def test_without_a_score_the_reason_is_shown() -> None:
    """A participant without a score has a reason, also in a picture."""
    alone = Explanation("bots", "ada", None, None, (), reason="no match was played")
    drawn = waterfall(alone, under="rules")
    assert texts(drawn)[0] == "ada · unscored"
    assert "No score: no match was played." in drawn
    partly = replace(explained(3.0), rank=None, score=None, reason="one validator of three")
    assert "+3" in texts(waterfall(partly, under="rules"))


@given(st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), max_size=30), st.text())
@settings(max_examples=size(60), deadline=None)
def test_every_picture_is_svg_within_its_size(points: list[float], name: str) -> None:
    """Names come from unknown users, and points from every discipline."""
    drawn = waterfall(explained(*points, name=name), under=name)
    root = ET.fromstring(drawn)  # noqa: S314 - we wrote it
    assert not re.search(r"<(script|image|a|foreignObject)\b|url\(http", drawn)
    width = float(root.attrib["width"])
    assert all(0 <= begin <= end <= width for begin, end in bars(drawn))
    assert root.find(f"{SVG}desc") is not None
