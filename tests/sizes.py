"""How much generative and exhaustive tests try: a part in `make test`, all in `make test-all`.

Hypothesis tries ``size`` examples, loops go through a ``sample``, a test marked ``sample(3)`` runs
with three of its cases, one marked ``one_database`` runs each case on SQLite or on PostgreSQL, and
one marked ``exhaustive`` runs in `make test-all` only.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar
from zlib import crc32

import pytest

Value = TypeVar("Value")

ALL: Final = os.environ.get("TEST_ALL_SIZES") == "1"
"""Whether these tests run in full size."""

_PART: Final = 8
_DEAR_PART: Final = 50
_DATABASES: Final = ("sqlite", "postgresql")


def size(full: int, *, at_least: int = 5, dear: bool = False) -> int:
    """Return how many cases a generative test tries: ``full``, or an eighth of it.

    Args:
        full: the number of cases in full size.
        at_least: the fewest cases.
        dear: a fiftieth instead of an eighth, for cases that take a good part of a second each.

    Example:
        >>> size(10_000) in (1_250, 10_000), size(8) in (5, 8), size(60, dear=True) in (5, 60)
        (True, True, True)
    """
    return full if ALL else min(full, max(at_least, full // (_DEAR_PART if dear else _PART)))


def sample(values: Sequence[Value], *, at_least: int = 3, dear: bool = False) -> Sequence[Value]:
    """Return the values an exhaustive test tries: all, or an eighth at equal distances.

    ``dear`` makes it a fiftieth, as for ``size``.

    Example:
        >>> sample("abcdefghijklmnopqrstuvwxyz") in ("aiqy", "abcdefghijklmnopqrstuvwxyz")
        True
    """
    part = _DEAR_PART if dear else _PART
    return values if ALL else values[:: max(1, min(part, len(values) // at_least))]


def left_out(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that only `make test-all` runs, by their marks."""
    if ALL:
        return set()
    tests: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    return {item for cases in tests.values() for item in _not_chosen(cases)}


def _not_chosen(cases: list[pytest.Item]) -> set[pytest.Item]:
    if cases[0].get_closest_marker("exhaustive"):
        return set(cases)
    chosen = _on_one_database(cases) if cases[0].get_closest_marker("one_database") else cases
    mark = cases[0].get_closest_marker("sample")
    return set(cases).difference(_spread(chosen, mark.args[0]) if mark else chosen)


def _on_one_database(cases: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the cases that differ in more than the database; the names decide which has which."""
    alike: defaultdict[tuple[str, ...], list[pytest.Item]] = defaultdict(list)
    for case in cases:
        values = (value for _, value in _values(case) if value.lower() not in _DATABASES)
        alike[case.nodeid.partition("[")[0], *values].append(case)
    return [same[crc32("-".join(key).encode()) % len(same)] for key, same in alike.items()]


def _spread(cases: Sequence[pytest.Item], count: int) -> Iterator[pytest.Item]:
    """Yield cases in which every value of each parameter occurs about as often as the others.

    The names decide between equals, so the choice is the same in every run and process.
    """
    uses: Counter[tuple[int, str]] = Counter()
    waiting = sorted(cases, key=lambda case: crc32(case.name.encode()))
    for _ in range(min(count, len(cases))):
        case = min(waiting, key=lambda case: sum(uses[value] for value in _values(case)))
        waiting.remove(case)
        uses.update(_values(case))
        yield case


def _values(case: pytest.Item) -> list[tuple[int, str]]:
    return list(enumerate(case.name.partition("[")[2].removesuffix("]").split("-")))
