"""A killed build leaves no container and no process that cleaning does not find."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from agon.app.containers import BuildFailed, Containers, ImageSpec
from agon.runners.containers.engine import find_engine
from runners.containers.course import sleeping
from runners.processes import descendants, eventually
from sizes import ALL

OWNER = """
import sys
from pathlib import Path
from agon.app.containers import ImageSpec
from agon.runners.containers import open_containers

opened = open_containers()
print("open", flush=True)
opened.build(ImageSpec(context=Path(sys.argv[1]), timeout_s=300))
"""


def task(folder: Path, seconds: int) -> Path:
    """Write a Dockerfile whose build takes that long."""
    (folder / "Dockerfile").write_text(f"FROM localhost/agon-base:1\nRUN sleep {seconds}\n")
    return folder


def build_files() -> list[Path]:
    """List the files in which podman describes the containers of builds."""
    storage = find_engine().ask("info", "--format={{.Store.GraphRoot}}/{{.Store.GraphDriverName}}")
    return list(Path(f"{storage.strip()}-containers").glob("*/userdata/buildah.json"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(4 if ALL else 2))
@pytest.mark.parametrize("target", ["process", "group", "all"])
def test_a_killed_build_is_cleaned(
    containers: Containers, tmp_path: Path, part: int, target: str
) -> None:
    """Podman's build containers have no labels; the name of their owner is found in them."""
    seconds = 3 * 10**6 + os.getpid() * 10 + part
    context = tmp_path / "context"
    context.mkdir()
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(task(context, seconds))],
        stdout=subprocess.PIPE, start_new_session=True, env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    with owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"open\n"
        if part == 0:
            assert eventually(lambda: sleeping(seconds))
        else:
            time.sleep(random.uniform(0, 0.5 * part))  # not a secret
        processes = descendants(owner.pid)
        if target == "group":
            os.killpg(owner.pid, signal.SIGKILL)
        else:
            for process in (owner.pid, *processes) if target == "all" else (owner.pid,):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
    mark = f".{owner.pid}."
    containers.clean("another run")
    assert eventually(lambda: not sleeping(seconds))
    assert not [file for file in build_files() if mark in file.read_text()]


@pytest.mark.exhaustive
def test_a_build_that_takes_too_long_leaves_nothing(containers: Containers, tmp_path: Path) -> None:
    """The builder is killed at the limit, and its container removed at once."""
    seconds = 3 * 10**6 + os.getpid() * 10 + 9
    with pytest.raises(BuildFailed, match="more than 3 s"):
        containers.build(ImageSpec(context=task(tmp_path, seconds), timeout_s=3))
    assert not sleeping(seconds)
    mark = f".{os.getpid()}."
    assert not [file for file in build_files() if mark in file.read_text()]


@pytest.mark.exhaustive
def test_a_build_that_goes_on_is_not_disturbed(containers: Containers, tmp_path: Path) -> None:
    """Cleaning removes what has no owner, while another process builds."""
    seconds = 3 * 10**6 + os.getpid() * 10 + 8
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(task(tmp_path, seconds))],
        stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    with owner:
        try:
            assert eventually(lambda: sleeping(seconds))
            containers.clean("another run")
            assert sleeping(seconds)
            assert [file for file in build_files() if f".{owner.pid}." in file.read_text()]
        finally:
            owner.kill()
    containers.clean("another run")
    assert eventually(lambda: not sleeping(seconds))
