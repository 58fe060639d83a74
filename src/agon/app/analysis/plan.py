"""Estimate what scoring a source costs, without reading its records."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agon.app.analysis.curves import Estimate, Interval, Measurements, estimate, measurements
from agon.disciplines import discipline
from agon.engines import ENGINES, require_engine
from agon.errors import Conflict, Unavailable
from agon.records.sources.sizes import SourceSize, source_size


@dataclass(frozen=True)
class EnginePlan:
    """What scoring costs on one engine.

    Attributes:
        engine: the engine.
        cost: the estimated cost; None: there is none.
        reason: why there is no estimate, or what limits it; empty: nothing.
    """

    engine: str
    cost: Estimate | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        cost = self.cost
        return {
            "engine": self.engine,
            "seconds": cost and _interval(cost.seconds, 2),
            "memory_bytes": cost and _interval(cost.memory_bytes, 0),
            "extrapolated": cost and cost.extrapolated,
            "reason": self.reason or None,
        }


@dataclass(frozen=True)
class Plan:
    """The size of a source, and what scoring it costs on each engine.

    Attributes:
        discipline: the discipline.
        size: the source's size.
        engines: the engines.
        measured: the runs on which estimates are based.
    """

    discipline: str
    size: SourceSize
    engines: tuple[EnginePlan, ...]
    measured: Measurements

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, as ``--format json`` prints it."""
        return {
            "discipline": self.discipline,
            "source": self.size.label,
            "form": self.size.form,
            "rows": self.size.rows,
            "bytes": self.size.bytes,
            "tables": [
                {
                    "table": table.name,
                    "rows": table.rows,
                    "bytes": table.bytes,
                    "counted": table.counted,
                }
                for table in self.size.tables
            ],
            "engines": [engine.to_dict() for engine in self.engines],
            "measured": self.measured.machine,
        }


def plan(of: str, source: str | Path, *, engine: str | None = None) -> Plan:
    """Return the size of a source, and the estimated cost of scoring it.

    Args:
        of: the name of the discipline.
        source: a folder, a DuckDB or SQLite file, or ``postgresql://…``.
        engine: one engine (None: all).

    Raises:
        NotFound: there is no such discipline, engine or source.
        Conflict: the engine cannot read the source.
        Unreadable, Unavailable: the source cannot be opened, or the engine is not installed.

    Example:
        >>> made = plan("community", "examples/tutorial", engine="embedded")
        >>> made.size.rows, made.engines[0].cost.extrapolated
        (69, False)
    """
    schema = discipline(of).schema
    names = [each.name for each in ENGINES] if engine is None else [engine]
    if engine is not None:
        require_engine(engine, source)
    size = source_size(schema, source)
    measured = measurements()
    engines = tuple(_engine_plan(name, of, source, size, measured) for name in names)
    return Plan(of, size, engines, measured)


def _engine_plan(
    name: str, of: str, source: str | Path, size: SourceSize, measured: Measurements
) -> EnginePlan:
    try:
        require_engine(name, source)
    except (Conflict, Unavailable) as error:
        return EnginePlan(name, None, str(error))
    cost = estimate(measured.points, discipline=of, engine=name, form=size.form, rows=size.rows)
    if cost is None:
        return EnginePlan(name, None, f"not measured: {of} from {size.form} on {name}")
    reason = "larger than every measured source" if cost.extrapolated else ""
    return EnginePlan(name, cost, reason)


def _interval(interval: Interval, digits: int) -> dict[str, float]:
    return {
        "estimate": round(interval.value, digits or None),
        "low": round(interval.low, digits or None),
        "high": round(interval.high, digits or None),
    }
