"""What a trial costs above the same two ``podman run`` commands typed by hand."""

import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from report import compare, header, medians  # type: ignore[import-not-found]  # of this folder

from agon.app.containers import AgentTrial, Containers, Image, ImageSpec, Limits, TaskTests
from agon.runners.containers import open_containers, provide_base_image

LIMITS = Limits(timeout_s=60, memory_mib=128, storage_mib=32, processes=64)
AT_ONCE = 8
"""Trials under way: a task of one second leaves the processors to others."""
TRIALS = 100
REPEAT = 15
TEST = "#!/bin/sh\ngrep -q 42 /app/answer\n"


def by_hand(image: Image, folder: Path, seconds: int) -> None:
    """Type the commands: the specification's flags, a folder for what the agent leaves."""
    app = folder / "app"
    app.mkdir()
    flags = [
        *("podman", "run", "--rm", "--network=none", "--memory=128m", "--memory-swap=128m"),
        *("--pids-limit=64", "--cap-drop=ALL", "--security-opt=no-new-privileges"),
        *("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "--workdir=/app"),
        f"--volume={app}:/app",
    ]
    script = f"sleep {seconds}; echo 42 > answer"
    for further, command in (
        ([], ("timeout", "-k", "5", "60", "sh", "-c", script)),
        ([f"--volume={folder.parent}/tests:/tests:ro"], ("timeout", "-k", "5", "60",
                                                         "/tests/test.sh")),
    ):  # fmt: skip
        subprocess.run([*flags, *further, image.reference, *command], check=True)


def by_agon(containers: Containers, image: Image, folder: Path, seconds: int) -> None:
    """Run the same trial behind all isolation_flags, with everything recorded."""
    trial = AgentTrial(run="benchmark", name=folder.name, folder=folder)
    command = ("sh", "-c", f"sleep {seconds}; echo 42 > answer")
    run = containers.run_agent(image, command, trial=trial, limits=LIMITS)
    assert run.outputs is not None
    tests = TaskTests(folder=folder.parent / "tests")
    verification = containers.verify(image, run.outputs, tests, trial=trial, limits=LIMITS)
    assert verification.outcome == "passed"


def many(trial: Callable[[Path], None], folders: Callable[[], Path]) -> float:
    """Time a hundred trials, several at once."""
    begin = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda _: trial(folders()), range(TRIALS)))
    return time.perf_counter() - begin


def main() -> None:
    """Time one trial after the other, then a hundred of a second each."""
    header()
    provide_base_image()
    numbers = count()
    with tempfile.TemporaryDirectory() as room, open_containers() as containers:
        tests = Path(room, "tests")
        tests.mkdir()
        (tests / "test.sh").write_text(TEST)
        (tests / "test.sh").chmod(0o755)
        image = containers.build(ImageSpec(image="localhost/agon-base:1"))

        def folder() -> Path:
            made = Path(room, f"{next(numbers)}")
            made.mkdir()
            return made

        ours, theirs = medians(
            lambda: by_agon(containers, image, folder(), 0),
            lambda: by_hand(image, folder(), 0),
            repeat=REPEAT,
        )
        compare("one trial, two containers", ours, "podman by hand", theirs, 1 / 1.5, 1 / 1.15)
        ours = many(lambda path: by_agon(containers, image, path, 1), folder)
        theirs = many(lambda path: by_hand(image, path, 1), folder)
        compare(
            f"{TRIALS} trials of one second, {AT_ONCE} at once", ours, "podman by hand", theirs,
            1 / 1.5, 1 / 1.15,
        )  # fmt: skip
        print(f"   the seconds of the tasks alone: {TRIALS / AT_ONCE:.1f} s")


if __name__ == "__main__":
    main()
