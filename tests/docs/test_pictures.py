"""The pictures in the documentation equal the current output of the commands below them."""

from pathlib import Path

import pytest

from agon.app.analysis.score import score
from agon.app.analysis.simulate import simulate, write_simulation
from agon.app.challenge.figures import picture
from agon.app.charts import svg, waterfall

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
REMEDY = "make pictures"


def test_the_waterfall_is_current() -> None:
    """New readers see it first, so its score must be current."""
    result = score("community", ROOT / "examples" / "tutorial")
    drawn = waterfall(result.explain("ada"), under=result.edition.full_name)
    assert (PICTURES / "why.svg").read_text() == drawn + "\n", REMEDY


def test_the_emission_is_current(tmp_path: Path) -> None:
    """The picture shows the epochs of a simulated challenge."""
    records = simulate("challenge", size=3_000, seed=3)
    write_simulation(records, tmp_path / "season")
    drawn = svg(picture(score("challenge", tmp_path / "season"), "weights"))
    assert (PICTURES / "weights.svg").read_text().rstrip("\n") == drawn.rstrip("\n"), REMEDY


@pytest.mark.parametrize("file", sorted(PICTURES.iterdir()), ids=lambda file: file.name)
def test_every_picture_is_shown_somewhere(file: Path) -> None:
    """An unused picture should be deleted."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*/*.md")]
    assert any(f"pictures/{file.name}" in page.read_text() for page in pages)
