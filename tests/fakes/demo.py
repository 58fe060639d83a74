"""The output, the files and the server of ``agon demo``, run once for all tests."""

import fcntl
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import orjson

from sizes import ALL

SMALLER = """
from agon.__main__ import main
from agon.app import demo as records
from agon.app.dojo import example
from agon.cli import demo
problems, simulate = example.example_problems()[:3], records.simulate
example.example_problems = lambda: problems
records.simulate = lambda name, size, **more: simulate(name, size=min(size, 300), **more)
demo._STEPS, demo._BOTS, demo._JUDGES, demo._MATCHES = 2, 6, 5, 3
main()
"""


@dataclass(frozen=True)
class Demo:
    """What a demo printed, served and left in its folder.

    Attributes:
        folder: the records, and the contests in ``agon.db``.
        out: the standard output.
        messages: the lines about the server, on standard error.
        page: a page of a board that the server returned.
        history: the steps of its first row's score.
        code: the exit code after SIGTERM.
    """

    folder: Path
    out: str
    messages: tuple[str, str]
    page: Any
    history: Any
    code: int


def _get(address: str) -> Any:
    with urlopen(address, timeout=60) as response:  # noqa: S310 (our own address)
        return orjson.loads(response.read())


def _address_line(lines: Iterator[str]) -> str:
    """Return the line that names the server's address; without one, fail with what was printed."""
    read = []
    for line in lines:
        if line.startswith("agon serves at"):
            return line
        read.append(line)
    raise AssertionError(f"the demo ended before it served: {''.join(read)}")


def run_demo_once(folder: Path) -> Demo:
    """Return the demo in a folder, run by the first process that asks for it."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        stored = folder / "result"
        if not stored.exists():
            stored.write_bytes(pickle.dumps(run_demo(folder)))
        made: Demo = pickle.loads(stored.read_bytes())  # noqa: S301 (our own file)
        return made


def run_demo(folder: Path) -> Demo:
    """Run the demo in a separate process, read a board from its server, and stop it.

    It has fewer steps, problems, records, bots and matches, with TEST_ALL_SIZES as many as users
    see.
    """
    agon = ["-m", "agon"] if ALL else ["-c", SMALLER]
    command = [sys.executable, *agon, "demo", "--dir", str(folder / "demo"), "--port", "0"]
    with (
        (folder / "out").open("wb") as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as serving,
    ):
        try:
            lines = iter(serving.stderr or ())
            served = _address_line(lines)
            board = f"{served.split()[3]}/api/v1/contests/arena/boards/bots"
            page = _get(f"{board}?limit=2")
            history = _get(f"{board}/history/{quote(page['rows'][0]['id'])}")["items"]
            messages = (served, next(lines))
        finally:
            serving.terminate()
            serving.communicate(timeout=60)
    return Demo(
        folder / "demo", (folder / "out").read_text(), messages, page, history, serving.returncode
    )
