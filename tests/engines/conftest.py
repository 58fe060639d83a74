"""Share a Sail server, and a cluster of Apache Spark where ``SPARK_HOME`` says where it is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agon.engines import open_tables
from agon.records.relational import TableEngine
from sizes import ALL
from spark_cluster import Cluster, start_cluster

_HAS_SPARK = "SPARK_HOME" in os.environ

collect_ignore = [] if _HAS_SPARK else ["test_apache_spark.py"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run what needs Apache Spark where it is; `make test` runs the other tests of engines."""
    others = [
        item
        for item in items
        if _HAS_SPARK
        and item.path.is_relative_to(Path(__file__).parent)
        and "cluster" not in getattr(item, "fixturenames", ())
    ]
    if len(others) < len(items):  # a test that is named runs
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


@pytest.fixture(scope="session")
def sail() -> Iterator[TableEngine]:
    """A session on a Sail server on loopback."""
    engine = open_tables("sail")
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of Apache Spark on loopback."""
    with start_cluster(tmp_path_factory.mktemp("spark"), quick=not ALL) as started:
        yield started


@pytest.fixture(scope="session")
def spark(cluster: Cluster) -> Iterator[TableEngine]:
    """A session on the cluster."""
    engine = open_tables(cluster.address)
    yield engine
    engine.close()


def _sail_and_spark(sail: TableEngine, spark: TableEngine) -> list[TableEngine]:
    return [sail, spark]


def _sail_alone(sail: TableEngine) -> list[TableEngine]:
    return [sail]


engines = pytest.fixture(_sail_and_spark if _HAS_SPARK else _sail_alone, name="engines")
"""The engines that tables are sent to."""
