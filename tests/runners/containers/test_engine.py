"""Engines that are missing, do not work, or fail sometimes."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agon.app.containers import BuildFailed, Containers, ImageSpec
from agon.errors import Unavailable
from agon.runners.containers import open_containers
from agon.runners.containers.engine import EngineError, find_engine
from agon.runners.containers.isolation import isolation_flags
from runners.containers.course import QUICK, Course, limits, sleeping

Script = Callable[[str], Path]


@pytest.fixture
def engine(tmp_path: Path, containers: Containers) -> Script:
    """Write a program called podman that does what a script says, and else what podman does."""
    del containers  # it has provided the base image

    def write(script: str, name: str = "podman") -> Path:
        path = tmp_path / name
        real = shutil.which("podman")
        path.write_text(f'#!/bin/sh\n{script}\nexec {real} "$@"\n')
        path.chmod(0o755)
        return path

    return write


def write_dockerfile(folder: Path) -> None:
    """Write a Dockerfile of which no image exists."""
    (folder / "Dockerfile").write_text(f"FROM localhost/agon-base:1\n# {os.urandom(4).hex()}\n")


def test_no_engine_names_the_packages_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Unavailable, match="apt-get install podman runc") as caught:
        open_containers()
    assert caught.value.exit_code == 5
    assert "podman is not installed; docker is not installed" in str(caught.value)


def test_an_engine_that_does_not_work_is_named_with_its_complaint(engine: Script) -> None:
    """A missing runtime and a stopped daemon show in its own message."""
    broken = engine("echo 'Error: default OCI runtime \"crun\" not found' >&2; exit 125")
    with pytest.raises(Unavailable, match=r'runtime "crun" not found.*podman runc'):
        find_engine(str(broken))


def test_an_engine_of_another_name_is_rejected_with_a_suggestion() -> None:
    """Other engines take other arguments."""
    with pytest.raises(Unavailable, match="did you mean podman"):
        find_engine("podmann")


def test_an_engine_that_cannot_limit_is_rejected(engine: Script) -> None:
    """Containers without limits do not isolate."""
    info = {"host": {"cgroupControllers": ["pids"], "cgroupVersion": "v1"}}
    cannot = engine(f"[ $1 != info ] || {{ echo '{json.dumps(info)}'; exit 0; }}")
    with pytest.raises(Unavailable, match="cannot limit memory"):
        find_engine(str(cannot))


@pytest.mark.exhaustive
def test_the_environment_chooses_the_engine(
    engine: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By AGON_CONTAINER_ENGINE and AGON_CONTAINER_RUNTIME."""
    monkeypatch.setenv("AGON_CONTAINER_ENGINE", str(engine("")))
    monkeypatch.setenv("AGON_CONTAINER_RUNTIME", "runsc")
    with open_containers() as opened:
        assert opened.engine.runtime == "runsc"


def test_docker_gets_its_own_arguments(tmp_path: Path, course: Course) -> None:
    """The specified isolation flags equal podman's; the other differences are listed."""
    info = {"ServerVersion": "28.0", "CgroupVersion": "2", "DefaultRuntime": "runc",
            "MemoryLimit": True, "PidsLimit": True, "CpuCfsQuota": True}  # fmt: skip
    docker = tmp_path / "docker"
    docker.write_text(f"#!/bin/sh\necho '{json.dumps(info)}'\n")
    docker.chmod(0o755)
    named = find_engine(str(docker), runtime="runsc").named
    assert (named.name, named.cgroups, named.limits_cpus) == ("docker", "v2", True)
    flags = isolation_flags(
        named, course.image, QUICK, agent=False, system_calls=tmp_path / "profile.json"
    )
    assert {"--network=none", "--cap-drop=ALL", "--runtime=runsc"} <= set(flags)
    assert f"--security-opt=seccomp={tmp_path}/profile.json" in flags
    assert not any(
        name in flag for flag in flags for name in ("read-only-tmpfs", "--timeout", "proc-opts")
    )


@pytest.mark.exhaustive
def test_processors_are_limited_where_the_engine_can(course: Course) -> None:
    """Where it cannot, the recorded flags have no such limit."""
    run = course.agent("true", bounds=limits(cpus=0.5))
    assert ("--cpus=0.5" in run.account.flags) == run.account.engine.limits_cpus
    wishful = course.agent("true", bounds=limits(cpus=4000))
    assert wishful.outcome == "finished"


def stumbling(course: Course, engine: Path) -> Course:
    """Return the same trials on an engine that fails sometimes."""
    folder = course.folder / "stumbling"
    folder.mkdir()
    return Course(open_containers(str(engine)), course.image, folder)


def test_an_engine_that_fails_once_costs_one_repetition(
    course: Course, engine: Script, tmp_path: Path
) -> None:
    """Errors of storage or locks are often temporary."""
    path = engine(
        f"if [ $1 = run ] && ! [ -e {tmp_path}/once ]; then : > {tmp_path}/once; "
        "echo 'Error: database is locked' >&2; exit 125; fi"
    )
    stumbled = stumbling(course, path)
    run = stumbled.agent("true")
    stumbled.containers.close()
    assert (run.outcome, run.account.attempts) == ("finished", 2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("code", [125, 126, 127])
def test_an_engine_that_fails_leaves_the_trial_unscored_with_its_cause(
    course: Course, engine: Script, code: int
) -> None:
    """It is not scored as 0, since the agent did not run."""
    path = engine(f"[ $1 != run ] || {{ echo 'Error: no space left on device' >&2; exit {code}; }}")
    stumbled = stumbling(course, path)
    run = stumbled.agent("true")
    stumbled.containers.close()
    assert (run.outcome, run.outputs, run.account.attempts) == ("unscored", None, 2)
    assert run.reason == ("the engine did not start the container: Error: no space left on device")


@pytest.mark.exhaustive
def test_an_engine_that_fails_at_the_tests_leaves_the_trial_unscored(
    course: Course, engine: Script
) -> None:
    """The same holds for the verifier as for the agent."""
    run = course.agent("true")
    stumbled = stumbling(course, engine("[ $1 != run ] || exit 125"))
    verification = stumbled.verify(run, "exit 0")
    stumbled.containers.close()
    assert (verification.outcome, verification.logs) == ("unscored", None)


@pytest.mark.exhaustive
def test_an_image_that_is_gone_leaves_the_trial_unscored(course: Course) -> None:
    """It is not pulled."""
    from dataclasses import replace

    gone = Course(course.containers, replace(course.image, reference="0" * 64), course.folder)
    run = gone.agent("true")
    assert run.outcome == "unscored"
    assert run.reason.startswith("the engine did not start the container: ")


@pytest.mark.exhaustive
def test_a_listing_that_fails_as_another_container_goes_is_repeated(
    engine: Script, tmp_path: Path
) -> None:
    """Podman stops listing when a container it has begun with is removed by another client."""
    failing = engine(
        f'case "$*" in *--external*) echo >> {tmp_path}/listings\n'
        f"[ $(wc -l < {tmp_path}/listings) -gt 2 ] && echo 'id1 agon-1' && exit\n"
        "echo 'Error: determining buildah container for container 1: container not known' >&2\n"
        "exit 125;; esac"
    )
    assert find_engine(str(failing)).containers_named("agon-[0-9]") == ["id1"]
    broken = engine(
        "case $* in *--external*) echo 'Error: database is locked' >&2; exit 125;; esac"
    )
    with pytest.raises(EngineError, match="locked"):
        find_engine(str(broken)).containers_named("agon-[0-9]")


@pytest.mark.exhaustive
def test_a_build_that_meets_a_removed_image_is_repeated_without_cached_layers(
    engine: Script, tmp_path: Path
) -> None:
    """Podman's search for cached layers fails on an image that another client removes."""
    write_dockerfile(tmp_path)
    error = (
        "Error: checking if cached image exists from a previous build: "
        "getting top layer info: layer not known"
    )
    builds = tmp_path / "builds"
    failing = f'[ $1 != build ] || {{ echo "$*" >> {builds}; %s }}'
    once = f"[ $(wc -l < {builds}) -gt 1 ] || {{ echo '{error}' >&2; exit 125; }};"
    with open_containers(str(engine(failing % once))) as opened:
        assert not opened.build(ImageSpec(context=tmp_path)).cached
    first, second, *_own_layers = builds.read_text().splitlines()
    assert "--layers=false" not in first.split()
    assert "--layers=false" in second.split()

    builds.unlink()
    write_dockerfile(tmp_path)
    always = engine(failing % f"echo '{error}' >&2; exit 125;")
    with open_containers(str(always)) as opened, pytest.raises(BuildFailed, match="layer not kno"):
        opened.build(ImageSpec(context=tmp_path))
    assert len(builds.read_text().splitlines()) == 5


@pytest.mark.exhaustive
@pytest.mark.parametrize("step", ["image", "run"])
def test_a_build_is_repeated_whichever_step_meets_an_image_that_is_not_whole(
    engine: Script, tmp_path: Path, step: str
) -> None:
    """Podman writes an image's manifest after the image; a removal leaves none for a moment."""
    write_dockerfile(tmp_path)
    error = 'Error: locating item named "manifest" for image with ID "4fd9": file does not exist'
    times = tmp_path / "times"
    path = engine(
        f"if [ $1 = {step} ]; then echo x >> {times}; "
        f"if [ $(wc -l < {times}) -lt 4 ]; then echo '{error}' >&2; exit 125; fi; fi"
    )
    with open_containers(str(path)) as opened:
        assert not opened.build(ImageSpec(context=tmp_path)).cached
    assert len(times.read_text().splitlines()) >= 4


@pytest.mark.exhaustive
@pytest.mark.parametrize("printed", ["", "/root\\n/bin\\n"], ids=["nothing", "a part"])
def test_a_listing_whose_output_is_cut_off_is_repeated(
    engine: Script, tmp_path: Path, printed: str
) -> None:
    """Podman's client may return exit code 0 before it has received all output of a container."""
    write_dockerfile(tmp_path)
    runs = tmp_path / "runs"
    path = engine(
        f"if [ $1 = run ]; then echo x >> {runs}; "
        f"if [ $(wc -l < {runs}) -lt 3 ]; then printf '{printed}'; exit 0; fi; fi"
    )
    with open_containers(str(path)) as opened:
        image = opened.build(ImageSpec(context=tmp_path))
        assert "/root" in image.writable
    assert len(runs.read_text().splitlines()) == 3

    always = engine(f"[ $1 != run ] || {{ printf '{printed}'; exit 0; }}")
    write_dockerfile(tmp_path)
    with open_containers(str(always)) as opened, pytest.raises(Unavailable, match="cut off 4 ti"):
        opened.build(ImageSpec(context=tmp_path))


@pytest.mark.exhaustive
def test_an_engine_that_fails_at_building_is_unavailable(engine: Script) -> None:
    """Its own failure is not the task's."""
    path = engine("[ $1 != image ] || { echo 'Error: storage is broken' >&2; exit 125; }")
    with open_containers(str(path)) as opened, pytest.raises(Unavailable, match="storage"):
        opened.build(ImageSpec(image="localhost/agon-base:1"))


@pytest.mark.exhaustive
def test_an_engine_that_hangs_at_building_is_ended(engine: Script, tmp_path: Path) -> None:
    """The task's time limit holds for the client and all processes that it started."""
    (tmp_path / "Dockerfile").write_text(f"FROM localhost/agon-base:1\n# {os.getpid()}\n")
    number = 10**6 + os.getpid()
    path = engine(f"[ $1 != build ] || {{ sleep {number} & sleep {number}; }}")
    with open_containers(str(path)) as opened, pytest.raises(BuildFailed, match="more than 1 s"):
        opened.build(ImageSpec(context=tmp_path, timeout_s=1))
    assert not sleeping(number)
