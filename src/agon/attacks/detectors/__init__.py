"""Measure the findings of the disciplines: power against an attack, and false alarms."""

from collections.abc import Iterator
from importlib import import_module

from agon.attacks.catalog import LABS
from agon.attacks.detectors import simulated
from agon.attacks.detectors.measurement import PowerMeasurement
from agon.attacks.detectors.simulated import SimulatedContests
from agon.errors import NotFound, did_you_mean
from agon.kernel.progress import stages

WORLDS = 20
"""Simulated contests per row where no number is chosen."""


def contests_of(discipline: str) -> SimulatedContests:
    """Return the simulated contests that measure the checks of a discipline.

    Raises:
        NotFound: it has none, as disciplines of other packages.

    Example:
        >>> contests_of("challenge").attacks["stake-whale"].finding
        'stake-concentration'
    """
    if discipline not in LABS:
        raise NotFound(
            f"{discipline} has no simulated contests that measure its checks: "
            f"{did_you_mean(discipline, LABS)}"
        )
    contests: SimulatedContests = import_module(f"{LABS[discipline]}.check_power_cases").CONTESTS
    return contests


def measure(
    discipline: str, *, size: int | None = None, seed: int = 1, worlds: int = WORLDS
) -> Iterator[PowerMeasurement]:
    """Yield every finding of a discipline against the attacks that it is made for.

    The attacks are those that the discipline's simulation can add, each with some of its actions
    and with all of them, and what a discipline measures besides.

    Args:
        discipline: its name.
        size: of each simulated contest; None: the one with which the checks are tested.
        seed: of the first contest; each further one has the next seed.
        worlds: number of contests per row.

    Raises:
        NotFound: the discipline has no such contests.
        ValueError: the size is too small for a contest.
    """
    contests = contests_of(discipline)
    rows = len(contests.further) + len(contests.attacks) + 1
    with stages("simulated contests", total=rows * worlds) as advance:
        for further in contests.further:
            yield from further(seed, worlds, advance)
        yield from simulated.measure(contests, size=size, seed=seed, worlds=worlds, advance=advance)


__all__ = ["WORLDS", "PowerMeasurement", "SimulatedContests", "contests_of", "measure"]
