"""The result of an import: a discipline's tables and notes about them."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Imported:
    """Imported records.

    Attributes:
        discipline: whose records they are.
        tables: the tables, by name.
        notes: what was settled on the way, one sentence each.
    """

    discipline: str
    tables: Mapping[str, pa.Table]
    notes: tuple[str, ...] = ()
