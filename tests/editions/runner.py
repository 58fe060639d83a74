"""Run groups of commands of agon, each group in a fork of a process that has imported all of it.

A line of the standard input is a group as JSON, a line of the output its exit codes and outputs.
"""

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module

from agon.cli.run import run
from agon.disciplines import BUILT_IN, discipline
from agon.editions.release import main as release

_MODULES = (
    "agon.app.contests.boards.publish",
    "agon.cli.contest",
    "agon.client.local",
    "alembic.command",
    "sqlalchemy.dialects.sqlite",
)
"""What commands import only when they run."""


def execute(commands: Iterable[list[str]]) -> Iterator[tuple[int, str, str]]:
    """Run commands, ``release`` among them; yield exit code, output and errors of each."""
    for command in commands:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "12")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            released = command[0] == "release"
            code = release([*BUILT_IN, *command[1:]]) if released else run(command)
        yield code, _written(out), _written(err)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def main() -> None:
    """Run the groups of the standard input."""
    for module in _MODULES:
        import_module(module)
    for name in BUILT_IN:
        discipline(name)
    for line in sys.stdin:
        read, write = os.pipe()
        if os.fork() == 0:
            os.write(write, json.dumps(list(execute(json.loads(line)))).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as group:
            print(group.read(), flush=True)  # noqa: T201 - the response
        os.wait()


if __name__ == "__main__":
    main()
