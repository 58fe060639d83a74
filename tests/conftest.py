"""Choose what `make test` runs, and provide what tests of all folders share."""

import os
import signal

import pytest
from hypothesis import settings

from fakes.demo import Demo, run_demo_once
from sizes import ALL, left_out, size

# OpenBLAS starts a thread per processor that waits in a loop: where these are busy, solving a
# system of 400 equations then takes seconds instead of milliseconds. It reads this when loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

pytest_plugins = ["postgresql_server"]

# `make test` tries the same examples in every run; `make test-all` draws new ones, and more.
settings.register_profile("agon", derandomize=not ALL, deadline=None, max_examples=size(100))
settings.load_profile("agon")


def pytest_configure() -> None:
    """Let commands get Ctrl-C, which what a shell runs in the background ignores and passes on."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what `make test-all` alone runs."""
    others = left_out(items)
    if len(others) < len(items):  # a test that is named runs, whatever its marks
        config.hook.pytest_deselected(items=[*others])
        items[:] = [item for item in items if item not in others]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Demo:
    """Run ``agon demo`` once, in the process whose test needs it first; the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    folder = base if worker_id == "master" else base.parent
    return run_demo_once(folder / "demo")
