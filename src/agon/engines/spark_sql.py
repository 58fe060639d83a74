"""Write Spark SQL: types of columns, and Ibis expressions."""

from typing import Any, Final

SQL_TYPES: Final = {
    "string": "STRING",
    "int64": "BIGINT",
    "bool": "BOOLEAN",
    "boolean": "BOOLEAN",
    "double": "DOUBLE",
    "float64": "DOUBLE",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamp[us]": "TIMESTAMP_NTZ",
}
"""The types of columns, by their names in Ibis and Arrow."""


def query_of(expression: Any) -> Any:
    """Return an Ibis expression over unbound tables as a plan of Spark Connect.

    ``session.sql`` and ``toArrow`` would each let the server analyze the query once more.
    """
    import ibis
    from pyspark.sql.connect.plan import SQL

    if ibis.options.pyspark is None:  # its compiler reads them; its backend needs Java
        options = type("Options", (ibis.config.Config,), {"treat_nan_as_null": False})
        ibis.options.pyspark = options()
    return SQL(ibis.to_sql(expression, dialect="pyspark"))


def rows_of(expression: Any, session: Any) -> Any:
    """Return the rows of an Ibis expression over unbound tables as a data frame of a session."""
    from pyspark.sql.connect.dataframe import DataFrame

    return DataFrame(query_of(expression), session)
