"""Ctrl-C and SIGTERM: whether one came while a command runs, whatever error it led to."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import NoReturn

TERMINATED = 143

_signals: list[int] = []


def note(number: int) -> None:
    """Note a signal in a command's own handler; the command then ends with exit code 130."""
    if number == signal.SIGINT:
        _signals.append(number)


def is_noted() -> bool:
    """Return whether Ctrl-C was pressed since the command began."""
    return signal.SIGINT in _signals


def terminate(number: int, _frame: FrameType | None) -> NoReturn:
    """Handle SIGTERM: note it, and unwind, so that unfinished outputs are removed."""
    _signals.append(number)
    sys.exit(TERMINATED)


def raise_noted() -> None:
    """Raise what a noted signal raises, where an engine or a library made another error of it.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed since the command began.
        SystemExit: SIGTERM came.
    """
    if signal.SIGINT in _signals:
        raise KeyboardInterrupt from None
    if signal.SIGTERM in _signals:
        sys.exit(TERMINATED)


@contextmanager
def noting() -> Iterator[None]:
    """Note each Ctrl-C in the block, and raise KeyboardInterrupt as Python does.

    An engine or a library may turn the KeyboardInterrupt into an error of its own.
    """
    _signals.clear()
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    note(number)
    raise KeyboardInterrupt
