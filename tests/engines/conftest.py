"""Share a Sail server; tests on Apache Spark run where ``SPARK_HOME`` is set."""

import os
from collections.abc import Iterator

import pytest

from agon.engines import open_tables
from agon.records.relational import TableEngine

collect_ignore = [] if "SPARK_HOME" in os.environ else ["test_apache_spark.py"]


@pytest.fixture(scope="session")
def sail() -> Iterator[TableEngine]:
    """A session on a Sail server on loopback."""
    engine = open_tables("sail")
    yield engine
    engine.close()
