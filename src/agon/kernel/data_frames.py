"""Tables as data frames of libraries that are optional."""

from typing import Any

import pyarrow as pa

from agon.extras import missing_extra


def polars_frame(table: pa.Table) -> Any:
    """Return a table as a polars DataFrame.

    Raises:
        Unavailable: polars is not installed (``pip install 'agon-engine[polars]'``).
    """
    try:
        import polars as pl
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from None

    return pl.from_arrow(table)


def pandas_frame(table: pa.Table) -> Any:
    """Return a table as a pandas DataFrame.

    Raises:
        Unavailable: pandas is not installed (``pip install 'agon-engine[pandas]'``).
    """
    try:
        return table.to_pandas()
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from None
