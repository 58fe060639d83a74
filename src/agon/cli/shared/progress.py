"""A progress spinner on stderr, shown only on a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

_PATIENCE_SECONDS = 0.7


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner labeled ``what`` while the block runs; none for short blocks."""
    if not sys.stderr.isatty():
        yield
        return
    shown: list[Any] = []

    def show() -> None:
        from rich.console import Console

        shown.append(Console(stderr=True).status(f"{what} …"))
        shown[0].start()

    timer = Timer(_PATIENCE_SECONDS, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for status in shown:
            status.stop()
