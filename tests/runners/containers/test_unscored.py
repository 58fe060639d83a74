"""No agent makes a trial unscored, and none takes more of the host's disk than its budget."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agon.app.containers import Containers, Image, Mount
from agon.runners.containers import client_process, open_containers
from agon.runners.containers.backend import CommandLineContainers
from agon.runners.containers.engine import CommandLine, find_engine
from agon.runners.containers.isolation import passes_descriptors, report_bytes
from runners.containers.course import QUICK, Course

LIMITS_OF_ONE = ("fsize", "nofile", "as")


@pytest.fixture(scope="module")
def mounting() -> Iterator[Containers]:
    """Open an engine that cannot pass descriptors, as docker and gVisor cannot."""
    known = find_engine()
    other = replace(known.named, runtime="other")
    with CommandLineContainers(CommandLine(known.command, other)) as opened:
        yield opened


@pytest.fixture(params=["pipe", "mount"])
def either(
    request: pytest.FixtureRequest, containers: Containers, image: Image, tmp_path: Path
) -> Course:
    """Return the course with each of the two ways of the result file."""
    chosen = containers if request.param == "pipe" else request.getfixturevalue("mounting")
    assert passes_descriptors(chosen.engine) == (request.param == "pipe")
    return Course(chosen, image, tmp_path)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy ``prlimit`` with its libraries, and a script that starts it in any image."""
    folder = tmp_path_factory.mktemp("tools")
    program = shutil.which("prlimit")
    assert program is not None, "install the Debian package util-linux"
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    libraries = [word for word in listed.split() if word.startswith("/")]
    for path in (program, *libraries):
        shutil.copy(path, folder)
    loader = next(Path(path).name for path in libraries if Path(path).name.startswith("ld"))
    (folder / "prlimit.sh").write_text(
        f'/tools/{loader} --library-path /tools /tools/prlimit "$@" 2>&1\n'
    )
    return folder


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LIMITS_OF_ONE)
def test_an_agent_that_limits_the_first_process_has_a_score(
    either: Course, tools: Path, name: str
) -> None:
    """A first process that cannot write its report is the agent's failure."""
    mount = Mount(source=tools, target="/tools")
    run = either.agent(f"sh /tools/prlimit.sh --pid 1 --{name}=0:0; true", mounts=(mount,))
    assert run.outcome in {"finished", "failed", "timeout"}, run.reason
    copied = either.agent(
        "cp -r /tools .; sed -i s,/tools,/app/tools,g tools/prlimit.sh; "
        f"echo 'sh /app/tools/prlimit.sh --pid 1 --{name}=0:0; echo 42' > solve.sh",
        mounts=(mount,),
    )
    verification = either.verify(copied, "sh /app/solve.sh; exit 1")
    assert verification.outcome in {"failed", "timeout"}, verification.reason


@pytest.mark.exhaustive
def test_outputs_larger_than_the_memory_are_rejected(either: Course) -> None:
    """A sparse file takes no memory in the container; packed it would fill the host's disk."""
    run = either.agent("dd of=sparse bs=1M seek=140 count=0")
    assert (run.outcome, run.account.limits_hit) == ("failed", ("storage",)), run.reason
    assert run.reason == f"it hands over more than {report_bytes(QUICK) >> 20} MiB"
    assert sum(path.stat().st_size for path in either.folder.rglob("*")) < report_bytes(QUICK)


def test_an_agent_cannot_write_the_result_file(course: Course) -> None:
    """With podman it is a pipe that only the first process has."""
    run = course.agent("ls /.agon; ls -l /proc/self/fd; cat /dev/zero >> /.agon/account; echo $?")
    printed = run.account.stdout.path.read_text()
    assert "account" not in printed
    assert "pipe" not in printed.partition(" 2 -> ")[2].partition("\n")[2]
    assert printed.endswith("1\n")


@pytest.mark.sample(1)
@pytest.mark.parametrize("write", ["cat /dev/zero >> ", "dd bs=1M seek=140 count=0 of="])
def test_a_result_file_that_grows_ends_the_agent(
    mounting: Containers, image: Image, tmp_path: Path, write: str
) -> None:
    """Where the file must be mounted, the host watches its size."""
    run = Course(mounting, image, tmp_path).agent(f"{write}/.agon/account; sleep 15")
    assert (run.outcome, run.account.limits_hit) == ("failed", ("storage",)), run.reason


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["stdout.txt", "outputs.tar"])
def test_a_full_disk_of_the_host_is_an_error_of_the_host(course: Course, name: str) -> None:
    """The trial's files cannot be written: no verdict about the agent, and nothing runs on.

    A partial archive is removed, so that the result can be written.
    """
    trial = course.trial()
    (trial.folder / "agent").mkdir()
    (trial.folder / "agent" / name).symlink_to("/dev/full")
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        course.containers.run_agent(
            course.image, ("sh", "-c", "echo much; sleep 1"), trial=trial, limits=QUICK
        )
    assert not (trial.folder / "agent" / "outputs.tar").is_symlink()


SLOW_ENGINE = """\
#!{python}
import os, sys
arguments = sys.argv[1:]
if arguments[0] == "run":
    arguments = [*arguments[: arguments.index("-c") + 1], "sleep 60"]
os.execv({podman!r}, [{podman!r}, *arguments])
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("entries", "outcome"), [(1500, "failed"), (1, "unscored")])
def test_outputs_that_take_too_long_to_unpack_fail(
    course: Course, monkeypatch: pytest.MonkeyPatch, entries: int, outcome: str
) -> None:
    """An agent could leave more entries than a host unpacks in time, and have no score."""
    run = course.agent(f"i=0; while [ $i -lt {entries} ]; do : > $i; i=$((i+1)); done")
    engine = course.folder / "podman"
    engine.write_text(SLOW_ENGINE.format(python=sys.executable, podman=shutil.which("podman")))
    engine.chmod(0o755)
    monkeypatch.setattr(client_process, "HAND_OVER_S", 4)
    with open_containers(str(engine)) as opened:
        slow = Course(opened, course.image, course.folder, run_name=course.run_name)
        slow._numbers = course._numbers
        verification = slow.verify(run, "exit 0")
    assert (verification.outcome, verification.account.attempts) == (outcome, 2)
