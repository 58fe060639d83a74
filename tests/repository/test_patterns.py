"""Test that no regular expression of agon needs long for hostile text."""

import pkgutil
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

import pytest

import agon
from sizes import sample

SECONDS = 20
"""Limit of CPU time. All patterns take about two seconds; an exponential one exceeds any limit."""

PIECES = [*"aA0-_./ :,'=+#[%\né", "http://", "0.", "a=", ",("]
REPEATED = [first + second for first in PIECES for second in ("", *PIECES)]


class TooSlowError(Exception):
    """Matching took longer than the limit."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise ``TooSlowError`` after a processor time; matching stops for signals, too."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def patterns() -> dict[re.Pattern[Any], str]:
    """Return the patterns of all modules with the name of each."""
    found: dict[re.Pattern[Any], str] = {}
    for module in pkgutil.walk_packages(agon.__path__, "agon."):
        if not module.name.endswith(("__main__", "migrations.env")):  # they run when imported
            for name, value in vars(import_module(module.name)).items():
                if isinstance(value, re.Pattern):
                    found.setdefault(value, f"{module.name}.{name}")
    return found


def attack(pattern: re.Pattern[Any], hostile: str) -> None:
    """Match hostile text."""
    subject = hostile.encode() if isinstance(pattern.pattern, bytes) else hostile
    pattern.fullmatch(subject)
    pattern.search(subject)


def test_no_pattern_backtracks_exponentially() -> None:
    """A pattern that tries all ways to divide a text blocks the process.

    The message names that pattern: write it so that each text matches in only one way.
    """
    found = patterns()
    assert len(found) > 40
    texts = [repeated * 24 + "!" for repeated in sample(REPEATED, dear=True)]
    with cpu_limit(SECONDS):
        for pattern, name in found.items():
            try:
                for hostile in texts:
                    attack(pattern, hostile)
            except TooSlowError:
                pytest.fail(f"{name} takes too long for repeated text")


def test_an_exponential_pattern_is_stopped() -> None:
    """Otherwise the limit would be none, and the test above would never end."""
    with cpu_limit(0.05), pytest.raises(TooSlowError):
        attack(re.compile("(a|aa)+$"), "a" * 60 + "!")
