"""Return the rating tests real votes."""

from importlib.resources import files

import pyarrow.csv
import pytest


@pytest.fixture(scope="session")
def votes() -> tuple[list[str], list[str], list[float]]:
    """Return the crowd's votes in file order: left model, right model, score of the left one."""
    source = files("agon") / "examples" / "llmfao" / "crowd-comparisons.csv"
    with source.open("rb") as stream:
        table = pyarrow.csv.read_csv(stream)
    points = {"left": 1.0, "right": 0.0, "tie": 0.5}
    return (
        table["left"].to_pylist(),
        table["right"].to_pylist(),
        [points[winner] for winner in table["winner"].to_pylist()],
    )
