"""Estimate time and memory of scoring from measured runs.

A measured run is a point: a discipline, an engine, a form of source, its rows, and the seconds and
the peak of memory of ``agon score``. Through the points of one discipline, engine and form goes

    y(rows) = start + rate · rows,    start, rate >= 0

with the least sum of squared *relative* errors ((y(rows) - measured) / measured)², so that small
sizes count as much as large ones. The interval of an estimate is y / f to y · f, where f is the
largest ratio between a measured value and the curve, at least 1.1. Beyond the largest measured
size f grows by (rows / largest)^0.15, since growth of more than linear order cannot be excluded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import orjson

_LEAST_FACTOR: Final = 1.1
_GROWTH: Final = 0.15
_ONE_MACHINE: Final = frozenset({"embedded", "postgres"})
"""Engines that differ in what they read only, so that a form of source has one curve for both."""


@dataclass(frozen=True)
class Point:
    """A measured run of ``agon score``.

    Attributes:
        discipline: the discipline.
        engine: the engine.
        form: the form of the source (``SourceSize.form``).
        rows: rows of all tables.
        seconds: time from the start of the process to its end.
        memory_bytes: the largest resident memory of the process.
    """

    discipline: str
    engine: str
    form: str
    rows: int
    seconds: float
    memory_bytes: int


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval.

    Attributes:
        value: the estimate.
        low: the lower end.
        high: the upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of scoring.

    Attributes:
        seconds: time from the start of the process to its end.
        memory_bytes: the largest resident memory of the process.
        extrapolated: whether the source is larger than every measured one.
    """

    seconds: Interval
    memory_bytes: Interval
    extrapolated: bool


@dataclass(frozen=True)
class Measurements:
    """The measured runs, and on what they were measured.

    Attributes:
        points: the runs.
        machine: processor, cores used, versions, date, load.
    """

    points: tuple[Point, ...]
    machine: dict[str, Any]


@cache
def measurements() -> Measurements:
    """Return the measured runs that are part of this version of agon."""
    text = (files("agon.app.analysis") / "curves.json").read_bytes()
    loaded = orjson.loads(text)
    points = tuple(Point(**point) for point in loaded.pop("points"))
    return Measurements(points, loaded)


def estimate(
    points: Sequence[Point], *, discipline: str, engine: str, form: str, rows: int
) -> Estimate | None:
    """Return the estimated cost of a run; None: such runs were not measured.

    Example:
        Two seconds at the start, one per million rows; nothing was measured above two million.

        >>> points = [Point("arena", "embedded", "csv", n * 10**6, 2 + n, 10**8) for n in (1, 2)]
        >>> cost = estimate(points, discipline="arena", engine="embedded", form="csv", rows=10**6)
        >>> round(cost.seconds.value, 6), round(cost.seconds.high, 6), cost.extrapolated
        (3.0, 3.3, False)
    """
    engines = _ONE_MACHINE if engine in _ONE_MACHINE else {engine}
    own = [
        point
        for point in points
        if (point.discipline, point.form) == (discipline, form) and point.engine in engines
    ]
    if not own:
        return None
    largest = max(point.rows for point in own)
    widening = max(rows / largest, 1.0) ** _GROWTH
    seconds = [(point.rows, point.seconds) for point in own]
    memory = [(point.rows, float(point.memory_bytes)) for point in own]
    return Estimate(
        _interval(seconds, rows, widening), _interval(memory, rows, widening), rows > largest
    )


def _interval(measured: Sequence[tuple[int, float]], rows: int, widening: float) -> Interval:
    start, rate = fit(measured)
    ratios = [(start + rate * n) / y for n, y in measured]
    factor = max(_LEAST_FACTOR, *(max(ratio, 1 / ratio) for ratio in ratios)) * widening
    value = start + rate * rows
    return Interval(value, value / factor, value * factor)


def fit(measured: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return start and rate of the line with the least squared relative errors, both >= 0.

    Args:
        measured: pairs (n, y) with y > 0.

    Example:
        >>> [round(value, 9) for value in fit([(0, 1.0), (10, 6.0)])]
        [1.0, 0.5]
        >>> fit([(1, 2.0), (2, 2.0)])
        (2.0, 0.0)
    """
    weight = sum(1 / y**2 for _, y in measured)
    n1 = sum(n / y**2 for n, y in measured)
    n2 = sum(n**2 / y**2 for n, y in measured)
    b1, bn = sum(1 / y for _, y in measured), sum(n / y for n, y in measured)
    determinant = weight * n2 - n1**2
    if determinant > 1e-12 * weight * n2:
        start, rate = (b1 * n2 - bn * n1) / determinant, (bn * weight - b1 * n1) / determinant
        if start >= 0 and rate >= 0:
            return start, rate
    # The best line lies on a bound; one of the two has fewer errors.
    lines = [(b1 / weight, 0.0)]
    if n2:
        lines.append((0.0, bn / n2))
    return min(lines, key=lambda line: _errors(measured, *line))


def _errors(measured: Sequence[tuple[int, float]], start: float, rate: float) -> float:
    return sum(((start + rate * n) / y - 1) ** 2 for n, y in measured)
