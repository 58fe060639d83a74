"""The types of tables in memory that records are read from."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class DataFrame(Protocol):
    """A data frame of any library: pandas, polars, pyarrow, a DuckDB relation.

    They share the Arrow PyCapsule interface, so agon imports none of them.
    """

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the rows as a stream of Arrow batches."""


class LazyFrame(Protocol):
    """A data frame of polars that is computed when it is read."""

    def collect(self) -> Any:
        """Return the computed data frame."""


Rows = DataFrame | LazyFrame | Sequence[Mapping[str, Any]]
"""The rows of one table: a data frame, or a list of dicts."""
