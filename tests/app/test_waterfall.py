"""The picture of a score: the same numbers as the explanation, readable by everybody."""

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
    """Make an explanation of some points."""
    parts = tuple(
        Part(f"{name} {at}", one, {}, {}, f"reason {at}", missing=missing)
        for at, one in enumerate(points)
    )
    return Explanation("bots", "ada", 1, round(sum(points), 6), parts)


def texts(drawn: str) -> list[str]:
    """List the words that are drawn."""
    root = ET.fromstring(drawn)  # noqa: S314 - we wrote it
    return [one.text or "" for one in root.iter(f"{SVG}text")]


def bars(drawn: str) -> list[tuple[float, float]]:
    """List where the bars begin and end, that of the score last; the paper is none."""
    root = ET.fromstring(drawn)  # noqa: S314 - we wrote it
    found = [(float(one.attrib["x"]), float(one.attrib["width"])) for one in root.iter(f"{SVG}rect")
             if "x" in one.attrib]  # fmt: skip
    return [(begin, begin + long) for begin, long in found]


def test_a_waterfall_shows_every_part_and_the_score() -> None:
    """Nobody should have to add up what the picture left out."""
    drawn = waterfall(explained(50.0, -20.0, 5.5), under="community/scores0002-1")
    words = texts(drawn)
    assert words[:2] == ["ada · rank 1", "bots · community/scores0002-1"]
    for one in ("part 0", "+50", "reason 0", "−20", "+5.5", "score", "35.5"):
        assert one in words
    assert bars(drawn)[-1][1] == pytest.approx(bars(drawn)[-2][1], abs=0.01)


def test_each_bar_begins_where_the_one_before_ended() -> None:
    """That is what makes it a waterfall: the way to the score can be followed."""
    *steps, total = bars(waterfall(explained(30.0, 20.0, 50.0), under="rules"))
    assert all(one[1] == pytest.approx(next_[0], abs=0.02) for one, next_ in pairwise(steps))
    assert total[0] == pytest.approx(steps[0][0])
    assert total[1] == pytest.approx(steps[-1][1], abs=0.02)


def test_a_part_without_points_tells_what_is_missing() -> None:
    """The next bonus is what people look for; the reason of a zero they can guess."""
    words = texts(waterfall(explained(0.0, 5.0, missing="one more prompt"), under="rules"))
    assert "→ one more prompt" in words
    assert "reason 0" not in words
    assert "reason 1" in words


def test_a_first_step_that_dwarfs_the_others_is_cut() -> None:
    """A rating begins at 1000 and moves by tens; the tens are what is asked about."""
    assert levels([1000.0, 10.0, -5.0], cut=0.1)[1:] == (999.0, 1010.0)
    assert levels([-1000.0, 10.0], cut=0.1) == ([-989.0, -1000.0, -990.0], -1000.0, -989.0)
    assert levels([3.0, 1.0], cut=0.1) == ([0.0, 3.0, 4.0], 0.0, 4.0)
    assert levels([], cut=0.1) == ([0.0], 0.0, 0.0)


def test_many_parts_end_in_one_for_the_rest() -> None:
    """A bot has thousands of matches, and a picture has an end."""
    words = texts(waterfall(explained(*[1.0] * 100), under="rules"))
    assert "77 more" in words
    assert "+77" in words
    assert sum(word.startswith("part ") for word in words) == MAX_PARTS - 1


def test_without_a_score_the_reason_is_told() -> None:
    """Unscored is a value with a reason, in pictures too."""
    alone = Explanation("bots", "ada", None, None, (), reason="no match was played")
    drawn = waterfall(alone, under="rules")
    assert texts(drawn)[0] == "ada · unscored"
    assert "No score: no match was played." in drawn
    partly = replace(explained(3.0), rank=None, score=None, reason="one validator of three")
    assert "+3" in texts(waterfall(partly, under="rules"))


@given(st.lists(st.floats(-1e6, 1e6).map(lambda one: round(one, 3)), max_size=30), st.text())
@settings(max_examples=size(60), deadline=None)
def test_whatever_is_drawn_is_svg_that_stays_on_its_paper(points: list[float], name: str) -> None:
    """Names come from strangers, and points from every discipline."""
    drawn = waterfall(explained(*points, name=name), under=name)
    root = ET.fromstring(drawn)  # noqa: S314 - we wrote it
    assert not re.search(r"<(script|image|a|foreignObject)\b|url\(http", drawn)
    width = float(root.attrib["width"])
    assert all(0 <= begin <= end <= width for begin, end in bars(drawn))
    assert root.find(f"{SVG}desc") is not None
