"""A cluster of Apache Spark: a master and two worker processes, of which one is killed.

``make test-engines`` installs Java and Spark, and runs all tests of the engines, as CI does after
``make test``, which needs no JVM.
"""

from pathlib import Path

import pytest

import agon
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import score
from agon.records.relational import TableEngine, inspect_in
from engines.drawn import EngineLostAt, compare_repeats
from engines.named_session import share_session
from sizes import ALL
from spark_cluster import Cluster


def test_repeated_ids_are_counted_exactly(spark: TableEngine, tmp_path: Path) -> None:
    """Spark shifts bits by the type of the number."""
    compare_repeats(spark, tmp_path)


def test_runs_share_a_session_that_stays(cluster: Cluster, tmp_path: Path) -> None:
    """A later run uses what the server compiled; each removes its tables."""
    share_session(cluster.address, tmp_path, "arena")


@pytest.mark.parametrize("query", range(10) if ALL else [6])
def test_a_worker_lost_in_the_middle_changes_no_hash(
    cluster: Cluster, spark: TableEngine, tmp_path: Path, query: int
) -> None:
    """The cluster counts again what the worker had counted, and what it kept from query 4 on."""
    folder = tmp_path / "records"
    agon.write_records(agon.simulate("community", size=20, seed=5), folder)
    engine = EngineLostAt(spark, cluster.workers.pop(0), query)
    board = score(inspect_in(engine, SCHEMA, folder)[0], CommunityRules()).board("user-score")
    cluster.add_worker(tmp_path / "worker")
    assert engine.query < 0
    assert board.sha256 == agon.score("community", folder).board().sha256
