"""Measure the findings of a discipline in simulation."""

from dataclasses import dataclass
from typing import Any

from agon.attacks.detectors import WORLDS, PowerMeasurement, measure
from agon.errors import Unreadable


@dataclass(frozen=True)
class DetectorReport:
    """Power and false alarms of the findings of a discipline.

    Attributes:
        discipline: its name.
        size: of each simulated contest; None: the one with which the checks are tested.
        seed: of the first contest.
        worlds: number of contests per row.
        detectors: a row for each finding, attack, number of actions and threshold.
    """

    discipline: str
    size: int | None
    seed: int
    worlds: int
    detectors: tuple[PowerMeasurement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return a plain value for JSON."""
        return {**vars(self), "detectors": [row.to_dict() for row in self.detectors]}


def detectors(
    discipline_name: str, *, size: int | None = None, seed: int = 1, worlds: int = WORLDS
) -> DetectorReport:
    """Return power and false alarms of the findings of a discipline.

    Raises:
        NotFound: there is no such discipline.
        Unreadable: the size is too small for a contest.
    """
    try:
        rows = tuple(measure(discipline_name, size=size, seed=seed, worlds=worlds))
    except ValueError as error:
        raise Unreadable(f"cannot simulate {discipline_name}: {error}") from None
    return DetectorReport(discipline_name, size, seed, worlds, rows)
