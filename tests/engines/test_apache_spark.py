"""Boards on Apache Spark are those of the embedded engine: a master and two worker processes.

``make test-engines`` installs Java and Spark, and runs these tests; ``make test`` needs no JVM.
"""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import agon
from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import score
from agon.engines import open_tables
from agon.records import read
from agon.records.relational import TableEngine, inspect_in
from disciplines.community import oracle
from disciplines.community.test_oracle import ALL_ON, EASY, TIMES, same
from engines.test_relational import CHANGES, Database, EngineLostAt, databases, hashes, write
from sizes import ALL

_DEADLINE = 120  # seconds until a process that does not start fails the test


class JavaProcess:
    """A process of Spark with the processes it starts, which are killed together.

    Attributes:
        address: what the group of the pattern matched in the log.
    """

    def __init__(self, words: list[str], *, started: str) -> None:
        self.address = ""
        self._pattern, self._started, self._log = re.compile(started), Event(), ""
        home = Path(os.environ["SPARK_HOME"])
        self._process = subprocess.Popen(
            [home / "bin" / words[0], *words[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        )
        self._reader = Thread(target=self._read)
        self._reader.start()
        if not self._started.wait(_DEADLINE):
            self.kill()
            raise AssertionError(self._log)

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._log = (self._log + line)[-20_000:]
            match = self._pattern.search(line)
            if match and not self._started.is_set():
                self.address = match[1]
                self._started.set()

    def kill(self) -> None:
        """Kill the processes; a second call does nothing."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        assert self._process.stderr is not None
        self._process.stderr.close()

    def wait(self) -> None:
        """Return when the process has ended."""
        self._process.wait()


@dataclass
class Cluster:
    """A standalone master, two workers of one core each, and a Spark Connect server."""

    master: str
    workers: list[JavaProcess]
    address: str


def start_worker(master: str, folder: Path) -> JavaProcess:
    """Start a worker of one core."""
    words = ["spark-class", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1",
             "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder),
             master]  # fmt: skip
    return JavaProcess(words, started=r"(Successfully registered) with master")


def kill_all(processes: list[JavaProcess]) -> None:
    """Kill the processes that are in a list by then."""
    for process in processes:
        process.kill()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster on loopback."""
    folder = tmp_path_factory.mktemp("spark")
    with ExitStack() as stack:
        master = JavaProcess(
            ["spark-class", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
             "--port", "0", "--webui-port", "0"], started=r"Starting Spark master at (\S+)",
        )  # fmt: skip
        stack.callback(master.kill)
        workers: list[JavaProcess] = []
        stack.callback(kill_all, workers)
        workers.extend(start_worker(master.address, folder / name) for name in ("a", "b"))
        conf = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": "0",
            "spark.driver.host": "127.0.0.1",
            "spark.executor.cores": "1",
            "spark.executor.memory": "768m",
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
        }
        options = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
        server = JavaProcess(
            ["spark-submit", "--master", master.address, *options, "--class",
             "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"],
            started=r"Spark Connect server started at: (\S+)",
        )  # fmt: skip
        stack.callback(server.kill)
        yield Cluster(master.address, workers, f"sc://{server.address}")


@pytest.fixture(scope="module")
def spark(cluster: Cluster) -> Iterator[TableEngine]:
    """A session on the cluster."""
    engine = open_tables(cluster.address)
    yield engine
    engine.close()


@settings(
    max_examples=20 if ALL else 3,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(database=databases(), changes=CHANGES, time=TIMES)
def test_spark_counts_what_a_naive_scorer_counts(
    spark: TableEngine, database: Database, changes: dict[str, Any], time: datetime | None
) -> None:
    """On repeats, ties, empty values and tables, zones, any ids, extreme numbers, at any time."""
    rules = {**EASY, **ALL_ON, **changes}
    in_force = CommunityRules().override(rules)
    with write(database) as folder:
        records, issues = inspect_in(spark, SCHEMA, folder)
        assert issues == []
        scored = score(records.as_of(time), in_force)
        same(scored, oracle.score(database.rows, rules, time))
        with read(SCHEMA, folder) as embedded:
            assert hashes(scored) == hashes(score(embedded.as_of(time), in_force))


@pytest.mark.parametrize("query", [1, 4])
def test_a_worker_lost_in_the_middle_changes_no_hash(
    cluster: Cluster, spark: TableEngine, tmp_path: Path, query: int
) -> None:
    """The cluster counts again what the worker had counted."""
    folder = tmp_path / "records"
    agon.write_records(agon.simulate("community", size=20, seed=5), folder)
    engine = EngineLostAt(spark, cluster.workers.pop(0), query)
    board = score(inspect_in(engine, SCHEMA, folder)[0], CommunityRules()).board("user-score")
    cluster.workers.append(start_worker(cluster.master, tmp_path / "worker"))
    assert engine.query < 0
    assert board.sha256 == agon.score("community", folder).board().sha256
