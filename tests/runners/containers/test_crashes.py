"""Killed processes leave no container, and no trial gets a score by accident."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from agon.runners.containers import open_containers, runs
from agon.runners.containers.cleanup_guard import CleanupGuard
from agon.runners.containers.engine import CommandLine, find_engine
from agon.runners.containers.isolation import container_name, name_pattern
from runners.containers.conftest import running
from runners.containers.course import Course, limits
from runners.processes import descendants, eventually
from sizes import ALL

OWNER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from agon.app.containers import AgentTrial, Image, Limits
from agon.runners.containers import open_containers, runs

reference, writable, run, folder = sys.argv[1:]
image = Image(reference=reference, content="", user="", writable=tuple(writable.split(":")),
              cached=True, seconds=0.0)
limits = Limits(timeout_s=100, memory_mib=64, storage_mib=8, processes=32)

def trial(number):
    path = Path(folder, str(number))
    path.mkdir()
    alone = AgentTrial(run=run, name=str(number), folder=path, servers_s=100.0 * number)
    with opened.open_network(image, trial=alone) if number else nullcontext(alone) as placed:
        opened.run_agent(image, ("sh", "-c", "sleep 3000 & sleep 3000"), limits=limits,
                         trial=placed)

opened = open_containers()
print("open", flush=True)
with ThreadPoolExecutor(2) as both:
    list(both.map(trial, range(2)))
"""


def all_containers(run: str) -> list[str]:
    """List the containers of a run, running or not, and those without labels yet."""
    engine = find_engine()
    return engine.containers(f"agon.run={run}") + engine.containers_named(name_pattern(run=run))


@pytest.mark.sample(1)
@pytest.mark.parametrize("part", range(4 if ALL else 2))
@pytest.mark.parametrize("target", ["process", "group", "all"])
def test_a_killed_agon_leaves_no_container(
    course: Course, tmp_path: Path, part: int, target: str
) -> None:
    """Killed at a random time: the reaper removes what was started.

    If that is killed, too, ``clean`` finds all, even a container that was just being created.
    """
    image = course.image
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, image.reference, ":".join(image.writable), course.run_name,
         str(tmp_path)],
        stdout=subprocess.PIPE, start_new_session=True, env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    with owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"open\n"
        children = descendants(owner.pid)
        time.sleep(random.uniform(0, 0.1 + 0.6 * part))  # not a secret
        if target == "group":
            os.killpg(owner.pid, signal.SIGKILL)
        elif target == "process":
            owner.kill()
        else:
            children = descendants(owner.pid)
            for process in (owner.pid, *children):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
    assert eventually(lambda: not any(Path(f"/proc/{child}").exists() for child in children))
    if target == "all":
        course.containers.clean(course.run_name)
    else:
        assert not list(tmp_path.glob("agon-*"))
    assert all_containers(course.run_name) == []


NETWORK_OWNER = """
import sys, time
from pathlib import Path
from agon.app.containers import AgentTrial, AllowedHost, Egress, Image
from agon.runners.containers import open_containers

reference, run, folder = sys.argv[1:]
image = Image(reference=reference, content="", user="", writable=(), cached=True, seconds=0.0)
host = AllowedHost(name="model.test", addresses=("10.88.0.1",))
trial = AgentTrial(run=run, name="alone", folder=Path(folder),
                   egress=Egress(mode="allowlist", hosts=(host,)))
opened = open_containers()
with opened.open_network(image, trial=trial):
    print("open", flush=True)
    time.sleep(3000)
"""


def networks_of(run: str) -> str:
    """List the networks of a run."""
    return find_engine().ask("network", "ls", "--quiet", f"--filter=label=agon.run={run}")


@pytest.mark.exhaustive
def test_a_killed_agon_leaves_no_network(course: Course, tmp_path: Path) -> None:
    """Neither the network of an allowlist nor its proxy waits for the same run to continue.

    The cleanup process removes them; if that is killed, too, the next process that opens the
    engine does, and leaves those of a process that still runs.
    """
    run, other_run = course.run_name, f"other-{course.run_name}"
    with (
        network_owner(course, tmp_path / "other", other_run) as other,
        network_owner(course, tmp_path / "own", run) as owner,
    ):
        for process in (owner.pid, *descendants(owner.pid)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        owner.wait()
        assert networks_of(run)
        open_containers().close()
        assert not networks_of(run)
        assert all_containers(run) == []
        assert networks_of(other_run)
        other.kill()
    assert eventually(lambda: not networks_of(other_run))
    assert all_containers(other_run) == []


@contextmanager
def network_owner(course: Course, folder: Path, run: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a process that has a network with a proxy; kill it at the end."""
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", NETWORK_OWNER, course.image.reference,
         run, str(folder)],
        stdout=subprocess.PIPE, start_new_session=True,
    ) as owner:  # fmt: skip
        try:
            assert owner.stdout is not None
            assert owner.stdout.readline() == b"open\n"
            yield owner
        finally:
            owner.kill()


@pytest.mark.exhaustive
def test_a_container_without_labels_is_found_by_its_name(tmp_path: Path) -> None:
    """Podman writes the name first; a container killed in between is listed as external."""
    own, other = container_name("agon-0123456789ab", "r", 7), "agon-0123456789ab-7"
    engine = tmp_path / "podman"
    engine.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *--external*) [ -e {tmp_path}/gone ] || echo "id1 {own}"; '
        f'echo "id2 {other}";; '
        f'rm*) echo "$*" >> {tmp_path}/removed; [ -e {tmp_path}/once ] && : > {tmp_path}/gone; '
        f": > {tmp_path}/once; [ -e {tmp_path}/gone ];; "
        f'info*) exec {shutil.which("podman")} "$@";; esac\n'
    )
    engine.chmod(0o755)
    assert re.fullmatch(name_pattern(), own)
    with open_containers(str(engine)) as opened:
        assert opened.clean("another").containers == 0
        assert opened.clean("r").containers == 1
        assert opened.clean("r").containers == 0
    assert (tmp_path / "removed").read_text() == "rm -f -v -t 0 --depend id1\n" * 2


def client_of(name: str) -> int | None:
    """Return the engine's client that runs a trial; None when there is none."""
    for process in descendants():
        try:
            line = Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue
        if f"agon.trial={name}".encode() in line.split(b"--label=")[-1] or (
            f"--label=agon.trial={name}\\0".encode().replace(b"\\0", b"\0") in line
        ):
            return process
    return None


END = "/run/end"
UNTIL_END = f"until [ -e {END} ]; do sleep 0.1; done"


def podman(*arguments: str) -> None:
    """Run a command of the engine; the container may have ended meanwhile."""
    subprocess.run(["podman", *arguments], capture_output=True, check=False)


@contextmanager
def repeated(work: Callable[[], None], *, pause_s: float) -> Iterator[None]:
    """Do some work again and again in a thread."""
    done = threading.Event()

    def run() -> None:
        while not done.wait(pause_s):
            work()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def client_killed(course: Course, *, times: int = 1) -> Iterator[None]:
    """Kill the clients of the first trial, each when its agent runs; let a later agent end."""
    clients: set[int] = set()
    ended: set[str] = set()

    def kill() -> None:
        client, running_ids = client_of("trial-0"), set(running(course.run_name)) - ended
        if not running_ids or client is None or client in clients:
            return
        if len(clients) < times:
            clients.add(client)
            ended.update(running_ids)
            os.kill(client, signal.SIGKILL)
        for name in running_ids - ended:
            podman("exec", name, "touch", END)

    with repeated(kill, pause_s=0.02):
        yield


@pytest.mark.exhaustive
def test_a_client_that_is_killed_once_costs_one_repetition(course: Course) -> None:
    """The first container is removed, the second gives the result."""
    with client_killed(course):
        run = course.agent(f"{UNTIL_END}; echo 42 > answer", bounds=limits(timeout_s=100))
    assert (run.outcome, run.account.attempts) == ("finished", 2)
    assert len(running(course.run_name)) == 0


@pytest.mark.exhaustive
def test_a_client_that_is_killed_twice_leaves_the_trial_unscored(course: Course) -> None:
    """An internal error is never the agent's failure."""
    with client_killed(course, times=2):
        run = course.agent(UNTIL_END, bounds=limits(timeout_s=100))
    assert (run.outcome, run.account.attempts) == ("unscored", 2)
    assert run.reason == "the engine's client was killed (signal 9)"


@pytest.mark.exhaustive
def test_a_container_that_others_remove_leaves_the_trial_unscored(course: Course) -> None:
    """Cleaning while trials run costs their scores, and fails none."""
    cleaned = 0

    def clean() -> None:
        nonlocal cleaned
        deadline = time.monotonic() + 100
        while cleaned < 2 and time.monotonic() < deadline:
            if running(course.run_name):
                cleaned += course.containers.clean(course.run_name).containers
            time.sleep(0.05)

    cleaner = threading.Thread(target=clean)
    cleaner.start()
    run = course.agent("sleep 100", bounds=limits(timeout_s=100))
    cleaner.join()
    assert cleaned == 2
    assert (run.outcome, run.account.attempts) == ("unscored", 2)


@contextmanager
def running_ones(course: Course, act: Callable[[str], None]) -> Iterator[None]:
    """Do something to each container of a run as soon as it runs."""

    def act_on_all() -> None:
        for name in running(course.run_name):
            act(name)

    with repeated(act_on_all, pause_s=0.05):
        yield


@pytest.mark.exhaustive
def test_a_container_that_is_killed_in_order_to_be_removed_was_removed(course: Course) -> None:
    """An engine removes what is running by killing it first, and takes its time in between."""

    def remove(name: str) -> None:
        podman("kill", name)
        time.sleep(0.5)
        podman("rm", "-f", name)

    with running_ones(course, remove):
        run = course.agent("sleep 100", bounds=limits(timeout_s=100))
    assert (run.outcome, run.account.attempts) == ("unscored", 2)
    assert run.reason == "the container was removed from outside"


@pytest.mark.exhaustive
def test_a_container_that_is_killed_twice_fails(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The most likely cause is a full memory, which must not leave a trial unscored."""
    monkeypatch.setattr(runs, "_REMOVAL_S", 0.5)
    with running_ones(course, partial(podman, "kill")):
        run = course.agent("sleep 100", bounds=limits(timeout_s=100))
    assert (run.outcome, run.account.attempts) == ("failed", 2)
    assert run.account.limits_hit == ("memory",)


@pytest.mark.exhaustive
def test_a_first_process_killed_for_memory_fails_at_once(course: Course) -> None:
    """The engine's monitor reports it, so the container is not run again."""
    filling = "for d in /app /tmp /run /root /home; do cat /dev/zero > $d/full; done"
    raising = "echo 0 > /proc/self/oom_score_adj; "
    run = course.agent(f"{raising}{filling}; sleep 5", bounds=limits(memory_mib=32))
    assert run.outcome in {"finished", "failed"}
    assert "memory" in run.account.limits_hit
    assert run.account.attempts == 1


@pytest.mark.exhaustive
def test_closing_ends_what_runs(course: Course, tmp_path: Path) -> None:
    """An interrupted agon leaves no container."""
    opened = open_containers()
    own = Course(opened, course.image, tmp_path / "own", run_name=course.run_name)
    own.folder.mkdir()
    results = []
    thread = threading.Thread(target=lambda: results.append(own.agent("sleep 60")))
    thread.start()
    assert eventually(
        lambda: bool(running(course.run_name)),
    )
    opened.close()
    opened.close()
    thread.join(60)
    assert [run.outcome for run in results] == ["unscored"]
    assert all_containers(course.run_name) == []


@pytest.mark.exhaustive
def test_what_a_crash_of_the_machine_left_is_cleaned_by_label(course: Course) -> None:
    """``clean`` finds containers without their owner or its reaper, and ignores other runs."""
    labels = (f"--label=agon.run={course.run_name}", "--label=agon.trial=lost")
    subprocess.run(
        ["podman", "run", "-d", "--ulimit=nofile=512:512", "--ulimit=nproc=512:512",
         "--network=none", *labels, "localhost/agon-base:1", "sleep", "3000"],
        check=True, capture_output=True,
    )  # fmt: skip
    assert course.containers.clean("another run").containers == 0
    assert course.containers.clean(course.run_name).containers == 1
    assert course.containers.clean(course.run_name).containers == 0


def test_a_reaper_whose_owner_closes_removes_nothing(tmp_path: Path) -> None:
    """A normal end is no crash, and a killed reaper no error."""
    engine = CommandLine(("false",), find_engine().named)
    lifeline = CleanupGuard(engine, pattern="agon-none", folder=tmp_path)
    lifeline.close()
    assert not Path(f"/proc/{lifeline.process}").exists()
    assert tmp_path.exists()
    second = CleanupGuard(engine, pattern="agon-none", folder=tmp_path)
    os.kill(second.process, signal.SIGKILL)
    second.close()


@pytest.mark.exhaustive
def test_the_outer_limit_holds_when_the_inner_one_is_gone(course: Course) -> None:
    """An agent that killed all processes with a clock ends at the outer limit."""
    begin = time.monotonic()
    run = course.agent(
        "trap '' TERM; kill -9 -1; while :; do sleep 1; done",
        bounds=limits(timeout_s=0.5),
    )
    assert run.outcome == "timeout"
    assert 10 < time.monotonic() - begin < 120
