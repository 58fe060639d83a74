"""Boards on Apache Spark are those of the other engines: a master and two worker processes.

``make test-engines`` installs Java and Spark, and runs these tests; ``make test SPARK=1`` runs them
with all others, as CI does. ``make test`` needs no JVM.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import agon
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import score
from agon.engines import open_tables
from agon.records.relational import TableEngine, inspect_in
from conftest import Postgresql
from disciplines.arena.arenas import RULES
from disciplines.arena.arenas import TIMES as ARENA_TIMES
from disciplines.community.test_oracle import TIMES
from engines.drawn import (
    CHANGES,
    Database,
    EngineLostAt,
    compare_arenas,
    compare_communities,
    compare_repeats,
    databases,
)
from engines.named_session import share_session
from sizes import ALL
from spark_cluster import Cluster, start_cluster

_DRAWN = settings(
    max_examples=500 if ALL else 2,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster on loopback."""
    with start_cluster(tmp_path_factory.mktemp("spark"), quick=not ALL) as started:
        yield started


@pytest.fixture(scope="module")
def spark(cluster: Cluster) -> Iterator[TableEngine]:
    """A session on the cluster."""
    engine = open_tables(cluster.address)
    yield engine
    engine.close()


@_DRAWN
@given(database=databases("community"), changes=CHANGES, time=TIMES)
def test_spark_counts_what_every_engine_and_a_naive_scorer_count(
    spark: TableEngine,
    sail: TableEngine,
    postgresql: Postgresql,
    database: Database,
    changes: dict[str, Any],
    time: datetime | None,
) -> None:
    """On repeats, ties, empty values and tables, zones, any ids, extreme numbers, at any time."""
    compare_communities([sail, spark], postgresql, database, changes, time)


@_DRAWN
@given(database=databases("arena"), changes=RULES, time=st.sampled_from([None, *ARENA_TIMES]))
def test_spark_rates_as_every_engine_and_a_naive_scorer_do(
    spark: TableEngine,
    sail: TableEngine,
    postgresql: Postgresql,
    database: Database,
    changes: dict[str, Any],
    time: datetime | None,
) -> None:
    """With votes and without, on equal and unknown times, audits, controls, new versions."""
    compare_arenas([sail, spark], postgresql, database, changes, time)


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
