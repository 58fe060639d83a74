"""A sparkline shows its numbers."""

import re

from hypothesis import given
from hypothesis import strategies as st

from agon.app.charts import sparkline
from agon.app.charts.sparkline import HEIGHT, WIDTH, scales

STEPS = st.lists(st.tuples(st.integers(0, 10**7), st.floats(-1e6, 1e6)), min_size=1, max_size=20)


@given(STEPS.map(sorted))
def test_each_step_of_a_sparkline_is_where_its_time_and_value_are(
    steps: list[tuple[float, float]],
) -> None:
    """Coordinates that cannot be turned back into data mislead."""
    along, up = scales(steps)
    path = re.findall(r' d="([^"]*)"', sparkline(steps, label="<b>"))[0]
    numbers = [float(text) for text in re.findall(r"-?[0-9.]+", path)]
    drawn = list(zip(numbers[::2], numbers[1::2], strict=True))
    assert len(drawn) == len(steps)
    for (x, y), (at, value) in zip(drawn, steps, strict=True):
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT
        assert abs(x - along(at)) <= 0.5
        assert abs(y - up(value)) <= 0.5
