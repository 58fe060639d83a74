"""The pictures in the documentation are what the commands below them draw today."""

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
    """It is the first thing a stranger sees; a score that is no longer given would be a lie."""
    result = score("community", ROOT / "examples" / "tutorial")
    drawn = waterfall(result.explain("ada"), under=result.edition.full_name)
    assert (PICTURES / "why.svg").read_text() == drawn + "\n", REMEDY


def test_the_emission_is_current(tmp_path: Path) -> None:
    """The same for the epochs of a simulated challenge."""
    records = simulate("challenge", size=3_000, seed=3)
    write_simulation(records, tmp_path / "season")
    drawn = svg(picture(score("challenge", tmp_path / "season"), "weights"))
    assert (PICTURES / "weights.svg").read_text().rstrip("\n") == drawn.rstrip("\n"), REMEDY


@pytest.mark.parametrize("file", sorted(PICTURES.iterdir()), ids=lambda file: file.name)
def test_every_picture_is_shown_somewhere(file: Path) -> None:
    """A picture nobody shows is not kept current by anybody."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*/*.md")]
    assert any(f"pictures/{file.name}" in page.read_text() for page in pages)
