"""The result of an import: a discipline's tables and notes about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from agon.kernel.findings import Finding
from agon.records.unused import NameReport


@dataclass(frozen=True, repr=False)
class ImportedRecords:
    """Imported records; :func:`agon.score` and :func:`agon.write_records` take them.

    Attributes:
        discipline: the discipline of the records.
        tables: the tables, by name.
        notes: what was decided in the conversion, one sentence each.
        names: how the names of the source were read.
        findings: what the rows show that no table of the records does, such as repeated rows.
    """

    discipline: str
    tables: Mapping[str, pa.Table]
    notes: tuple[str, ...] = ()
    names: NameReport = field(default_factory=NameReport)
    findings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {table.num_rows:,}" for name, table in self.tables.items())
        return f"<{type(self).__name__} {self.discipline}: {counts}>"
