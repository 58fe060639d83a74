"""Judging of programs by workers on separate hosts, over HTTP, and the loss of hosts.

Each host is a network namespace with an address of its own behind a bridge; only the server's port
is between them. Programs are queued while the queue is paused, so that the time from its end to the
last verdict is that of judging. Then, on four hosts, one host's interface is taken down and the
processes of another are killed in the middle: each submission must have its one verdict, and the
ledger must verify. Needs root, iproute2, bubblewrap and PostgreSQL.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

import report  # type: ignore[import-not-found]  # of this folder
from databases import database  # type: ignore[import-not-found]  # of this folder

from agon.api.models.contests import ContestCreate
from agon.api.models.jobs import QueueUpdate
from agon.api.models.submissions import ProblemCreate, SubmissionCreate
from agon.client import Client

AGON: Final = (sys.executable, "-m", "agon")
BRIDGE: Final = "agon-bench"
NETWORK: Final = "10.213.77"
PORT: Final = 8099
CONTEST: Final = "autumn"
SETTER: Final = "def seq(n):\n    return n * n + 1\n"
SOLVER: Final = (
    "def solver():\n    total = {seed}\n    for k in range({loops}):\n"
    "        total = (total * 31 + k) % 1000003\n"
    "    return [n * n + 1 + (total < 0) for n in range(1, 201)]\n"
)
_NUMBERS: Final = count(2)


def main() -> None:
    """Measure 1, 2 and 4 hosts, then the loss of two of four."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=120, help="submissions per run")
    parser.add_argument("--loops", type=int, default=3_000_000, help="work of each program")
    parser.add_argument("--hosts", type=int, nargs="+", default=[1, 2, 4])
    options = parser.parse_args()
    report.header("fastapi", "uvicorn", "psycopg")
    print(f"load {os.getloadavg()[0]:.1f}; {options.programs} programs of {options.loops:,} loops")
    with ExitStack() as stack:
        url = stack.enter_context(database("postgresql"))
        folder = Path(stack.enter_context(TemporaryDirectory()))
        stack.enter_context(bridge())
        client = stack.enter_context(serving(url, folder))
        problem = published(client, url, folder)
        token = worker_token(url, folder)
        rates: dict[int, float] = {}
        for hosts in options.hosts:
            queued(client, problem, options, begin=hosts * 100_000)
            with ExitStack() as running:
                for _ in range(hosts):
                    running.enter_context(Host(token))
                rates[hosts] = options.programs / drained(client)
                _print_rate(hosts, rates)
        queued(client, problem, options, begin=900_000)
        lose_two_hosts(client, token, options.programs)
        judged(client, options.programs * (len(options.hosts) + 1))
        agon("db", "verify", "--database", url, **keys(folder))
        print(f"{report.MARK} two of four hosts lost while judging: no verdict was lost or "
              "stored twice, and the ledger verifies: aim met")  # fmt: skip


def _print_rate(hosts: int, rates: dict[int, float]) -> None:
    first = rates[min(rates)]
    print(f"{report.MARK} {hosts} hosts: {rates[hosts]:.1f} programs/s, "
          f"{rates[hosts] / first:.2f} times that of {min(rates)}", flush=True)  # fmt: skip


class Host:
    """A network namespace with a worker."""

    def __init__(self, token: Path) -> None:
        number = next(_NUMBERS)  # the kernel removes a namespace some time after its deletion
        self._name, self._link, self._token = f"agon-h{number}", f"agon-v{number}", token
        self._address = f"{NETWORK}.{number}"

    def __enter__(self) -> Self:
        ip("netns", "add", self._name)
        ip("link", "add", self._link, "type", "veth", "peer", "name", "eth0", "netns", self._name)
        ip("link", "set", self._link, "master", BRIDGE, "up")
        ip("-n", self._name, "address", "add", f"{self._address}/24", "dev", "eth0")
        ip("-n", self._name, "link", "set", "eth0", "up")
        ip("-n", self._name, "link", "set", "lo", "up")
        self._process = subprocess.Popen(
            ["ip", "netns", "exec", self._name, *AGON, "worker", "--kinds", "judge",
             "--name", self._name, "--server", f"http://{NETWORK}.1:{PORT}",
             "--token-file", str(self._token)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        line = self._process.stderr.readline() if self._process.stderr else ""
        assert line.startswith(f"worker {self._name}"), line
        return self

    def disconnect(self) -> None:
        """Take the interface down: what it sends is lost, and no connection is closed."""
        ip("link", "set", self._link, "down")

    def kill(self) -> None:
        """Kill all processes of the host with SIGKILL."""
        listed = subprocess.run(
            ["ip", "netns", "pids", self._name], capture_output=True, text=True, check=True
        )
        for number in listed.stdout.split():
            os.kill(int(number), signal.SIGKILL)

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()
        ip("netns", "delete", self._name)


@contextmanager
def bridge() -> Iterator[None]:
    """Make the network between the hosts and the server."""
    ip("link", "add", BRIDGE, "type", "bridge")
    try:
        ip("address", "add", f"{NETWORK}.1/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        yield
    finally:
        ip("link", "delete", BRIDGE)


def ip(*arguments: str) -> None:
    """Run ``ip``."""
    subprocess.run(["ip", *arguments], check=True)


def agon(*arguments: str, **environment: str) -> str:
    """Run a command of agon to its end; return its output."""
    done = subprocess.run(
        [*AGON, *arguments], env={**os.environ, **environment}, check=True, text=True,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    return done.stdout


def keys(folder: Path) -> dict[str, str]:
    """Return the settings of the keys."""
    return {
        "AGON_SIGNING_KEY_FILE": str(folder / "signing.key"),
        "AGON_SERVER_KEY_FILE": str(folder / "server.key"),
    }


@contextmanager
def serving(url: str, folder: Path) -> Iterator[Client]:
    """Run the server without workers; its operator's client is lent."""
    agon("db", "upgrade", "--database", url, **keys(folder))
    token = agon("token", "create", "--user", "root", "--role", "operator", "--database", url,
                 **keys(folder)).strip()  # fmt: skip
    own = {
        **keys(folder),
        "AGON_LEASE_SECONDS": "6",
        "AGON_RATE_LIMIT_TOKEN": "1000000/second",
        "AGON_RATE_LIMIT_ADDRESS": "1000000/second",
    }
    process = subprocess.Popen(
        [*AGON, "serve", "--host", f"{NETWORK}.1", "--port", str(PORT), "--workers", "0",
         "--database", url],
        env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        # The client repeats requests until the server answers.
        with Client(f"http://{NETWORK}.1:{PORT}", token=token, patience=60) as client:
            yield client
    finally:
        process.terminate()
        process.wait()


def published(client: Client, url: str, folder: Path) -> str:
    """Create a contest with one problem; return the problem's id."""
    client.contests.create(ContestCreate(id=CONTEST, discipline="dojo", title="Autumn"))
    package = {"title": "Squares", "interface": "seq", "N_check": 200, "first_index": 1,
               "source": SETTER}  # fmt: skip
    made = client.problems.publish(CONTEST, ProblemCreate(package=package))
    agon("worker", "--kinds", "gate", "--once", "--database", url, **keys(folder))
    return str(made.id)


def worker_token(url: str, folder: Path) -> Path:
    """Create a token for untrusted workers."""
    path = folder / "worker.token"
    agon("token", "create", "--user", "host", "--role", "worker", "--out", str(path),
         "--database", url, **keys(folder))  # fmt: skip
    return path


def queued(client: Client, problem: str, options: argparse.Namespace, *, begin: int) -> None:
    """Pause the queue and submit programs, each of another participant."""
    client.jobs.set_queue(QueueUpdate(paused=True))
    for seed in range(begin, begin + options.programs):
        source = SOLVER.format(seed=seed, loops=options.loops)
        content = {"source": source}
        client.submissions.create(
            CONTEST, SubmissionCreate(user=f"u{seed}", problem=problem, content=content)
        )


def drained(client: Client, *, left: int = 0) -> float:
    """End the pause; return the seconds until at most ``left`` programs have no verdict."""
    client.jobs.set_queue(QueueUpdate(paused=False))
    begin = time.perf_counter()
    while waiting(client) > left:
        time.sleep(0.05)
    return time.perf_counter() - begin


def waiting(client: Client) -> int:
    """Return how many programs have no verdict."""
    counts = client.jobs.queue().counts
    return sum(each.jobs for each in counts if each.kind == "judge" and each.state in _OPEN)


_OPEN: Final = ("queued", "leased")


def lose_two_hosts(client: Client, token: Path, programs: int) -> None:
    """Judge on four hosts, and lose two when a quarter is judged."""
    with ExitStack() as stack:
        hosts = [stack.enter_context(Host(token)) for _ in range(4)]
        begin = time.perf_counter()
        drained(client, left=programs * 3 // 4)
        hosts[0].disconnect()
        hosts[1].kill()
        drained(client)
        print(f"with the loss: {programs / (time.perf_counter() - begin):.1f} programs/s")


def judged(client: Client, programs: int) -> None:
    """Check that each program has exactly one verdict, which is ok."""
    verdicts = [submission.records for submission in client.submissions.list(CONTEST)]
    assert len(verdicts) == programs, (len(verdicts), programs)
    for records in verdicts:
        assert [record["verdict"] for record in records] == ["ok"], json.dumps(records)


if __name__ == "__main__":
    main()
