"""Ctrl-C ends every command with exit code 130 and one line, wherever it is pressed.

The signal is delivered at a known point of the work, in this process.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from agon.cli.shared import interrupts
from agon.runners.sandbox.pool import Pool
from cli.command import Cli
from cli.test_help import COMMANDS

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Work:
    """A kind of long work.

    Attributes:
        commands: the commands that do it; a name that ends in a blank is all of a group.
        arguments: one of them.
        point: the function at which Ctrl-C is pressed; a method, or looked up at each call, since
            what is imported while it is replaced would keep the replacement.
        error: the error that a library makes of it; None: KeyboardInterrupt goes through.
    """

    commands: tuple[str, ...]
    arguments: tuple[str, ...]
    point: str
    error: Callable[[], Exception] | None = None


DATABASE = ("--database", "sqlite:///contests.db")
WORK = {
    "reading records in DuckDB": Work(
        ("score", "explain", "compare", "check", "attack ", "arena ", "import", "convert",
         "challenge weights", "challenge forecast", "challenge plot", "challenge submit"),
        ("score", "arena", "{arena}"), "agon.app.analysis.score.Result.board",
        lambda: duckdb.InterruptException("INTERRUPT Error: Interrupted!"),
    ),
    "reading a file in DuckDB": Work(
        ("import",), ("score", "arena", "{arena}"), "agon.records.sources.csv_file._read_fast",
        lambda: duckdb.InterruptException("INTERRUPT Error: Interrupted!"),
    ),
    "computing and writing": Work(
        ("simulate", "schema", "engines", "plan", "rules ", "config ", "challenge agents",
         "challenge view", "dojo canonicalize",
         "dojo check", "dojo reveal", "dojo rules", "dojo verify"),
        ("schema", "arena"), "agon.records.Schema.__iter__",
    ),
    "a database": Work(
        ("contest ", "cases ", "replay", "jobs ", "token ", "user ", "webhooks ", "db ", "export ",
         "challenge runs", "challenge trials", "challenge trial"),
        ("contest", "create", "spring", "--discipline", "arena", *DATABASE),
        "sqlalchemy.Engine.connect",
    ),
    "a server": Work(
        ("contest ", "cases ", "jobs ", "token ", "user ", "webhooks ", "challenge runs",
         "challenge trials", "challenge trial"),
        ("user", "list", "--server", "http://127.0.0.1:9"), "httpx2.HTTPTransport.handle_request",
    ),
    "a sandbox": Work(
        ("dojo run", "dojo judge", "dojo rejudge", "dojo publish", "demo"),
        ("dojo", "run", "{solver}"), f"{Pool.__module__}.Pool.run",
    ),
    "containers": Work(
        ("challenge run", "challenge check", "challenge clean"),
        ("challenge", "clean", "--images"), "subprocess.Popen.__init__",
    ),
    "waiting for jobs": Work(
        ("worker",), ("worker", "--kinds", "publish", *DATABASE),
        "agon.app.worker.local_source.LocalSource.wait",
        lambda: OSError("the database was interrupted"),
    ),
    "waiting for processes": Work(
        ("serve",), ("serve", "--port", "0", *DATABASE),
        "agon.cli.service.supervisor.Supervisor._restart_if_ended",
    ),
}  # fmt: skip


def interrupt_at(point: str, error: Callable[[], Exception] | None) -> Callable[..., Any]:
    """Return a function that presses Ctrl-C, and what a library makes of it."""

    def press(*_: Any, **__: Any) -> None:
        if error is None:
            signal.raise_signal(signal.SIGINT)
            return
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise error()

    press.__name__ = point
    return press


@pytest.fixture
def places(
    tmp_path: Path, arena: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Path]]:
    """Return what the commands work with, in a new folder."""
    monkeypatch.chdir(tmp_path)
    started = [SimpleNamespace(process=None)]
    monkeypatch.setattr("agon.cli.service.serve.processes", lambda *_: started)
    solver = tmp_path / "solver.py"
    solver.write_text("def solver():\n    return list(range(200))\n")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield {"arena": arena, "solver": solver}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", WORK)
def test_an_interrupt_ends_with_130_and_one_line(
    agon: Cli, kind: str, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB turns Ctrl-C into an error of its own, which was reported as an unreadable file."""
    work = WORK[kind]
    monkeypatch.setattr(work.point, interrupt_at(work.point, work.error))
    ended = agon(*(word.format(**places) for word in work.arguments))
    lines = ended.err.splitlines()
    assert (ended.code, ended.out, lines[-1:]) == (130, "", ["interrupted"]), ended.err
    assert "Error" not in ended.err
    assert "Traceback" not in ended.err


def test_a_termination_within_a_query_is_no_bug(
    agon: Cli, places: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """DuckDB raises RuntimeError where SIGTERM's handler ends the process within a query."""

    def query(*_: Any, **__: Any) -> None:
        with suppress(SystemExit):
            signal.raise_signal(signal.SIGTERM)
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("agon.app.analysis.score.Result.board", query)
    before = signal.signal(signal.SIGTERM, interrupts.terminate)
    try:
        with pytest.raises(SystemExit) as ended:
            agon("score", "arena", places["arena"])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (ended.value.code, "bug" in capsys.readouterr().err) == (interrupts.TERMINATED, False)


def test_every_command_does_one_of_these_kinds_of_work() -> None:
    """A new command is added to the table, or has a kind of work of its own."""
    names = {name for work in WORK.values() for name in work.commands}
    groups = tuple(name for name in names if name.endswith(" "))
    assert [path for path in COMMANDS if path not in names and not path.startswith(groups)] == []
    assert sorted(name for name in names if not name.endswith(" ") and name not in COMMANDS) == []


def test_no_handler_of_the_errors_of_duckdb_takes_an_interrupt_for_one() -> None:
    """Its InterruptException is an Error: a reader took it for a damaged file and began again."""
    handlers = [
        (path.name, number, lines[number - 2 : number])
        for path in sorted((ROOT / "src" / "agon").rglob("*.py"))
        for lines in [path.read_text().splitlines()]
        for number, line in enumerate(lines)
        if "except" in line and "duckdb.Error" in line
    ]
    assert handlers
    assert [at for *at, before in handlers
            if "except duckdb.InterruptException:" not in before[0]] == []  # fmt: skip
