"""Start Apache Spark on loopback: a master, two workers of one core each, and Spark Connect."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Final

_DEADLINE: Final = 900  # seconds until a process that does not start is an error
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_CONF: Final = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.cores": "1",
    "spark.sql.codegen.cache.maxEntries": "1000",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}
_INTERPRETED: Final = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
"""Settings with which small queries are interpreted, which takes less time than compiling them."""

_QUICK: Final = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Options of Java for processes that live for a minute: most of their time is compilation."""


class JavaProcess:
    """A process of Spark with the processes it starts, which are killed together."""

    def __init__(self, words: list[str], *, started: str, options: str) -> None:
        self._pattern, self._started, self._log = re.compile(started), Event(), ""
        self._address = ""
        home = Path(os.environ["SPARK_HOME"])
        self._process = subprocess.Popen(
            [home / "bin" / words[0], *words[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_TOOL_OPTIONS": options},
        )
        self._reader = Thread(target=self._read)
        self._reader.start()

    def wait_for_start(self) -> str:
        """Return what the group of the pattern matched in the log, when it has."""
        if not self._started.wait(_DEADLINE) or not self._address:
            self.kill()
            raise AssertionError(self._log)
        return self._address

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._log = (self._log + line)[-20_000:]
            match = self._pattern.search(line)
            if match and not self._started.is_set():
                self._address = match[1]
                self._started.set()
        self._started.set()  # or it has ended

    @property
    def cpu_seconds(self) -> float:
        """Return the seconds of CPU of the process, and of those that it started."""
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            if int(fields[2]) == self._process.pid:
                ticks += sum(map(int, fields[11:15]))
        return ticks / _TICKS

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
    """A standalone master, two workers, and a Spark Connect server.

    Attributes:
        master: the master's address.
        address: the server's, for ``--engine``.
        workers: one process for each, which a test may replace.
        others: the master and the server.
        options: of Java, for all of them.
        conf: the settings of Spark.
    """

    master: str
    address: str
    workers: list[JavaProcess]
    others: list[JavaProcess]
    options: str
    conf: dict[str, str]

    @property
    def cpu_seconds(self) -> float:
        """Return the seconds of CPU of all processes."""
        return sum(process.cpu_seconds for process in (*self.others, *self.workers))

    def add_worker(self, folder: Path) -> None:
        """Start a further worker."""
        self.workers.append(_worker(self.master, folder, self.options))
        self.workers[-1].wait_for_start()


@contextmanager
def start_cluster(folder: Path, *, memory: str = "768m", quick: bool = True) -> Iterator[Cluster]:
    """Yield a cluster on loopback.

    Args:
        folder: where workers write.
        memory: of the executor in each worker.
        quick: whether Java and Spark compile little, which suits small queries.
    """
    options = _QUICK if quick else ""
    with ExitStack() as stack:
        master = JavaProcess(
            ["spark-class", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
             "--port", "0", "--webui-port", "0"],
            started=r"Starting Spark master at (\S+)", options=options,
        )  # fmt: skip
        stack.callback(master.kill)
        address = master.wait_for_start()
        workers: list[JavaProcess] = []
        stack.callback(_kill_all, workers)
        workers.extend(_worker(address, folder / name, options) for name in ("a", "b"))
        conf = {
            **_CONF,
            **(_INTERPRETED if quick else {}),
            "spark.driver.memory": memory,
            "spark.executor.memory": memory,
        }
        server = _connect_server(address, conf, options)
        stack.callback(server.kill)
        for worker in workers:
            worker.wait_for_start()
        connect = f"sc://{server.wait_for_start()}"
        yield Cluster(address, connect, workers, [master, server], options, conf)


def _worker(master: str, folder: Path, options: str) -> JavaProcess:
    words = ["spark-class", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1",
             "--cores", "1", "--memory", "4g", "--webui-port", "0", "--work-dir", str(folder),
             master]  # fmt: skip
    return JavaProcess(words, started=r"(Successfully registered) with master", options=options)


def _connect_server(master: str, conf: dict[str, str], options: str) -> JavaProcess:
    words = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    return JavaProcess(
        ["spark-submit", "--master", master, *words, "--class",
         "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"],
        started=r"Spark Connect server started at: (\S+)", options=options,
    )  # fmt: skip


def _kill_all(processes: list[JavaProcess]) -> None:
    """Kill the processes that are in a list by then."""
    for process in processes:
        process.kill()
