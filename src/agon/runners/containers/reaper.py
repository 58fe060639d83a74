"""Remove the containers of a process that has ended; started as a separate program.

It imports nothing of agon and waits for the end of two pipes. The first ends when its owner does,
however that happens; an owner that closes normally writes a byte first. The second ends when the
engine's clients that the owner started have ended too: until then further containers may start.

    python reaper.py SECOND_PIPE FOLDER LABEL ENGINE REMOVING

The last two are lists of arguments in JSON.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import time

_LONGEST_S = 120.0
_PAUSE_S = 0.2


def main(second_pipe: int, folder: str, label: str, engine: list[str], removing: list[str]) -> None:
    """Wait for the owner's end, then remove containers until none can start any more."""
    if os.read(0, 1):
        return
    last_round = time.monotonic() + _LONGEST_S
    while True:
        no_more_come = bool(select.select([second_pipe], [], [], _PAUSE_S)[0])
        _remove(label, engine, removing)
        if no_more_come or time.monotonic() > last_round:
            break
    shutil.rmtree(folder, ignore_errors=True)


def _remove(label: str, engine: list[str], removing: list[str]) -> None:
    listed = subprocess.run(  # noqa: S603  # the engine its owner found
        [*engine, "ps", "-a", "-q", f"--filter=label={label}"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if names := listed.stdout.split():
        subprocess.run(  # noqa: S603  # the same
            [*engine, *removing, *names],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=False,
        )  # fmt: skip


if __name__ == "__main__":
    _, pipe, its_folder, its_label, *lists = sys.argv
    main(int(pipe), its_folder, its_label, *map(json.loads, lists))
