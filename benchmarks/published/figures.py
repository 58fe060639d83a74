"""Define a published figure next to the one that is computed here."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agon.kernel.rounding import publish

Comparison = Literal["within", "at most", "at least"]
"""How a figure must compare: at most the tolerance away, not above, or not below."""

Sources = Mapping[str, Callable[[], Mapping[str, Any]]]
"""Records of the arena by name, ``crowd`` and ``gpt-4``; a call imports them, as tables."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a publication, or of its method computed here, and ours.

    Attributes:
        name: what is measured.
        theirs, ours: the figures.
        comparison: how ours must compare with theirs.
        tolerance: by how much it may differ.
        unit: of both figures; empty for counts and shares.
    """

    name: str
    theirs: float
    ours: float
    comparison: Comparison
    tolerance: float = 0.0
    unit: str = ""

    def with_unit(self, value: float) -> str:
        """Return one of the figures with its unit.

        Example:
            >>> Figure(name="", theirs=1, ours=2, comparison="within", unit="%").with_unit(2.5)
            '2.5 %'
        """
        return f"{value:g} {self.unit}".rstrip()

    @property
    def limit(self) -> str:
        """Return how ours must compare with theirs: ``± 2``, ``at most`` or ``at least``."""
        return f"± {self.tolerance:g}" if self.comparison == "within" else self.comparison

    @property
    def holds(self) -> bool:
        """Return whether ours compares with theirs as it must.

        Example:
            >>> Figure(name="utility", theirs=60, ours=61, comparison="within", tolerance=2).holds
            True
            >>> Figure(name="votes", theirs=3, ours=4, comparison="at most").holds
            False
        """
        difference = publish(self.ours - self.theirs)
        if self.comparison == "within":
            return abs(difference) <= self.tolerance
        below = difference if self.comparison == "at most" else -difference
        return below <= self.tolerance


@dataclass(frozen=True)
class Experiment:
    """A published result that can be repeated.

    Attributes:
        name: a short name for progress.
        source: where the figures were published.
        figures: computes the figures; each call gives the same ones.
    """

    name: str
    source: str
    figures: Callable[[Sources], Iterator[Figure]]
