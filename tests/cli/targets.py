"""The two targets of commands: a local database and a real server."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli.command import Cli, CommandResult


@dataclass
class Target:
    """Runs commands at one target; each test has a separate contest."""

    agon: Cli
    options: tuple[object, ...]
    contest: str
    far: bool
    folder: Path = field(default_factory=Path)

    def __call__(self, *arguments: object) -> CommandResult:
        """Run a command at the target."""
        return self.agon(*arguments, *self.options)

    def good(self, *arguments: object) -> CommandResult:
        """Run a command that has to succeed."""
        ended = self(*arguments)
        assert ended.code == 0, ended.err
        return ended

    def json(self, *arguments: object) -> Any:
        """Run a command and read its JSON."""
        return self.good(*arguments, "--format", "json").json()

    def scored(self, rows: int = 3, *, seq: int | None = None) -> Any:
        """Return the board once it has this number of rows (and this position)."""
        return self.until(
            lambda: self("contest", "board", self.contest, "--format", "json"),
            lambda condition: condition["rows_total"] == rows and seq in (None, condition["seq"]),
        )

    def until(self, call: Callable[[], CommandResult], right: Callable[[Any], bool]) -> Any:
        """Repeat a call until its result is as expected; locally it is so at once."""
        end = time.monotonic() + (60 if self.far else 0)
        while True:
            ended = call()
            if ended.code == 0 and right(ended.json()):
                return ended.json()
            assert time.monotonic() < end, (ended.out, ended.err)
            time.sleep(0.1)


@dataclass(frozen=True)
class Server:
    """The URL of a running server and the file of an operator's token."""

    url: str
    token_file: Path
