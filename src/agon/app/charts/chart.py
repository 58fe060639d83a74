"""A chart that a notebook shows and that can be saved."""

from dataclasses import dataclass
from pathlib import Path

from agon.errors import Unreadable
from agon.records.writing import write_atomically


@dataclass(frozen=True, repr=False)
class Chart:
    """A chart as SVG; it follows the light or dark preference of its reader.

    Attributes:
        svg: the document.
    """

    svg: str

    def save(self, file: str | Path) -> None:
        """Write the chart to a file whose name ends in ``.svg``.

        Raises:
            Unreadable: the name ends otherwise.
        """
        path = Path(file)
        if path.suffix.lower() != ".svg":
            raise Unreadable(f"{path} does not end in .svg; name it {path.with_suffix('.svg')}")
        write_atomically(path, [self.svg.encode()])

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Chart: {len(self.svg):,} characters of SVG; save('chart.svg') writes it>"
