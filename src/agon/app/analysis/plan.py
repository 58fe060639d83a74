"""Count the rows and bytes of a source, and say which engines can score it, without reading it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agon.app.analysis.records import format_of_file
from agon.disciplines import discipline
from agon.engines import ENGINES, require_engine
from agon.errors import Conflict, Unavailable
from agon.records import Table
from agon.records.names.mapping import MappingSource, source_mapping
from agon.records.sources.sizes import SourceSize, file_of_rows_size, source_size


@dataclass(frozen=True)
class EnginePlan:
    """Whether an engine can score a source.

    Attributes:
        engine: the engine.
        reason: why it cannot; empty: it can.
    """

    engine: str
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        return {"engine": self.engine, "reason": self.reason or None}


@dataclass(frozen=True)
class SourcePlan:
    """The size of a source, and the engines that can score it.

    Attributes:
        discipline: the discipline.
        size: the source's size.
        engines: the engines.
    """

    discipline: str
    size: SourceSize
    engines: tuple[EnginePlan, ...]

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
        }


def plan(
    discipline_name: str,
    source: str | Path,
    *,
    engine: str | None = None,
    mapping: MappingSource | None = None,
) -> SourcePlan:
    """Return the size of a source, and the engines that can score it.

    Args:
        discipline_name: the name of the discipline.
        source: a folder, a DuckDB or SQLite file, or ``postgresql://…``; of a discipline with a
            format of one table also a file of such rows.
        engine: one engine (None: all).
        mapping: how names of the source are read, as for :func:`agon.read_records`; rows that it
            leaves out are counted.

    Raises:
        NotFound: there is no such discipline, engine or source.
        Conflict: the engine cannot read the source.
        Unreadable, Unavailable: the source cannot be opened, the mapping has unknown names, or the
            engine is not installed.

    Example:
        >>> made = plan("community", "examples/tutorial", engine="embedded")
        >>> made.size.rows, made.engines[0].reason
        (69, '')
    """
    schema = discipline(discipline_name).schema
    if engine is not None:
        require_engine(engine, source)
    names = [each.name for each in ENGINES] if engine is None else [engine]
    form = format_of_file(discipline_name, source)
    if form is None:
        size = source_size(schema, source, mapping=source_mapping(mapping))
    else:
        size = file_of_rows_size(Table(form.name, ()), Path(source))
    is_file = form is not None
    return SourcePlan(
        discipline_name, size, tuple(_engine_plan(name, source, is_file=is_file) for name in names)
    )


def _engine_plan(name: str, source: str | Path, *, is_file: bool) -> EnginePlan:
    try:
        if require_engine(name, source).counts and is_file:
            return EnginePlan(name, "it reads folders of Parquet files")
    except (Conflict, Unavailable) as error:
        return EnginePlan(name, str(error))
    return EnginePlan(name)
