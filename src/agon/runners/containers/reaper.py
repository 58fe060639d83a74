"""Remove the containers and networks of a process that has ended; started as a separate program.

It imports nothing of agon and waits for the end of two pipes. The first ends when its owner does,
however that happens; an owner that closes normally writes a byte first. The second ends when the
engine's clients that the owner started have ended too: until then further containers may start.

    python reaper.py SECOND_PIPE FOLDER PATTERN ENGINE LISTING REMOVING

The pattern is that of the names of containers and networks; the last three are lists of arguments
in JSON, of which two list and remove containers.
"""

import json
import os
import re
import select
import shutil
import subprocess
import sys
import time

_MAX_SECONDS = 120.0
_PAUSE_S = 0.2
_NETWORKS = ("network", "ls", "--format={{.ID}} {{.Name}}")


def main(
    second_pipe: int,
    folder: str,
    pattern: str,
    engine: list[str],
    listing: list[str],
    removing: list[str],
) -> None:
    """Wait for the owner's end, then remove containers until none is there or can start."""
    if os.read(0, 1):
        return
    last_round = time.monotonic() + _MAX_SECONDS
    while True:
        no_more_come = bool(select.select([second_pipe], [], [], _PAUSE_S)[0])
        names = _names([*engine, *listing], pattern)
        if names:
            _remove([*engine, *removing, *names])
        if (no_more_come and names == []) or time.monotonic() > last_round:
            break
    for network in _names([*engine, *_NETWORKS], pattern) or ():
        _remove([*engine, "network", "rm", network])
    shutil.rmtree(folder, ignore_errors=True)


def _remove(command: list[str]) -> None:
    subprocess.run(  # noqa: S603  # the engine its owner found
        command,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        check=False,
    )  # fmt: skip


def _names(listing: list[str], pattern: str) -> list[str] | None:
    """Return the names in a list of ids and names that match; None when the engine failed."""
    listed = subprocess.run(  # noqa: S603  # the engine its owner found
        listing, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    names = [line.partition(" ")[2] for line in listed.stdout.splitlines()]
    matches = [name for name in names if re.fullmatch(pattern, name)]
    return matches if matches or not listed.returncode else None


if __name__ == "__main__":
    _, pipe, its_folder, its_pattern, *lists = sys.argv
    main(int(pipe), its_folder, its_pattern, *map(json.loads, lists))
