"""Let each test see the processes it began, and no others; run few cases on cold starts."""

from collections.abc import Iterator

import pytest

from runners import processes
from sizes import ALL


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run one case of each test on the sandbox that starts cold, whose runs take ten times as long.

    The other sandboxes run all cases; so does this one with TEST_ALL_SIZES.
    """
    if ALL:
        return
    seen: set[str] = set()
    further = []
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if parameters.get("sandbox") == "cold":
            test = item.nodeid.partition("[")[0]
            if test in seen:
                further.append(item)
            seen.add(test)
    config.hook.pytest_deselected(items=further)
    items[:] = [item for item in items if item not in further]


@pytest.fixture(autouse=True)
def own_processes() -> Iterator[None]:
    """Leave out what was running before: other tests of this process may share a server."""
    processes.already.clear()
    processes.already.update(processes.descendants())
    yield
    processes.already.clear()
