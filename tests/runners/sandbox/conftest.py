"""Let each test see the processes it began, and no others; spread the cases over sandboxes."""

from collections.abc import Iterator
from typing import Final, get_args
from zlib import crc32

import pytest

from agon.app.sandbox import Mode
from runners import processes
from sizes import ALL

MODES: Final = get_args(Mode)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run each case on one of the sandboxes that start warm, and each test once on the cold one.

    Which of the two depends on the names alone; with TEST_ALL_SIZES every case runs on all three.
    A run on the cold one takes ten times as long.
    """
    if ALL:
        return
    on_cold: set[str] = set()
    further = []
    for item in items:
        used = getattr(getattr(item, "callspec", None), "params", {}).get("sandbox")
        test, _, case = item.nodeid.partition("[")
        if used == "cold" and test not in on_cold:
            on_cold.add(test)
        elif used in MODES and used != _warm(test, case.removesuffix("]").split("-")):
            further.append(item)
    config.hook.pytest_deselected(items=further)
    items[:] = [item for item in items if item not in further]


def _warm(test: str, case: list[str]) -> str:
    """Return the sandbox of a case, whose name has that of a sandbox as one of its parts."""
    rest = [part for part in case if part not in MODES]
    return ("bwrap", "degraded")[crc32("-".join([test, *rest]).encode()) % 2]


@pytest.fixture(autouse=True)
def own_processes() -> Iterator[None]:
    """Leave out what was running before: other tests of this process may share a server."""
    processes.already.clear()
    processes.already.update(processes.descendants())
    yield
    processes.already.clear()
