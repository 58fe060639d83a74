"""A progress spinner on stderr, shown only on a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

_PATIENCE_SECONDS = 0.7


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show a spinner labeled ``label`` while the block runs; none for short blocks."""
    if not sys.stderr.isatty():
        yield
        return
    spinners: list[Any] = []

    def show() -> None:
        from rich.console import Console

        spinners.append(Console(stderr=True).status(f"{label} …"))
        spinners[0].start()

    timer = Timer(_PATIENCE_SECONDS, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for status in spinners:
            status.stop()
