"""Docker gets commands that its command line documents; agon's tests run none of its containers."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agon.app.containers import AgentTrial, ImageSpec, ServiceSpec, TaskTests
from agon.errors import Unavailable
from agon.runners.containers import open_containers
from agon.runners.containers.engine import find_engine
from runners.containers.course import QUICK
from runners.containers.docker_client import write_docker


def test_a_task_needs_only_what_docker_documents(tmp_path: Path) -> None:
    """Each command of a build, a trial with services, its tests and the cleaning."""
    program, log = write_docker(tmp_path)
    context, folder, tests = (tmp_path / name for name in ("context", "trial", "tests"))
    for path in (context, folder, tests):
        path.mkdir()
    (context / "Dockerfile").write_text("FROM scratch\n")
    (tests / "test.sh").write_text("#!/bin/sh\n")
    with open_containers(str(program), runtime="runc") as containers:
        assert (containers.engine.name, containers.engine.version) == ("docker", "28.2.2")
        image = containers.build(ImageSpec(context=context))
        assert (image.workdir, image.environment) == ("/app", (("PATH", "/bin"),))
        trial = AgentTrial(run="docker", name="one", folder=folder)
        service = ServiceSpec(name="db", image=image, command=("serve",), limits=QUICK)
        with containers.open_network(
            image, trial=trial, services=[service], main="client"
        ) as placed:
            run = containers.run_agent(image, ("true",), trial=placed, limits=QUICK,
                                       environment=(("A", "1"),))  # fmt: skip
            assert (run.outcome, run.reason) == ("finished", "")
            assert run.outputs is not None
            verification = containers.verify(
                image,
                run.outputs,
                TaskTests(folder=tests),
                trial=placed,
                limits=replace(QUICK, cpus=0.5),
            )
        assert (verification.outcome, verification.reason) == ("passed", "")
        assert containers.clean(images=True).images == 0
        with pytest.raises(Unavailable, match="use podman with runc or crun"):
            containers.open_network(image, trial=replace(trial, servers_s=1.0)).__enter__()
    asked = log.read_text().splitlines()
    verbs = {line.split()[0] for line in asked}
    assert verbs == {"build", "image", "images", "info", "network", "ps", "rm", "run"}
    shared = [line for line in asked if "--network=container:agon-" in line]
    assert len(shared) == 3
    assert not any("--hostname" in line for line in shared)


def test_the_stand_in_rejects_what_docker_rejects(tmp_path: Path) -> None:
    """It would show nothing otherwise."""
    program, _ = write_docker(tmp_path)
    for arguments, complaint in (
        (("run", "--no-hosts", "x"), "unknown flag: --no-hosts"),
        (("run", "--network=container:a", "--hostname=b", "x"), "hostname and the network mode"),
        (("rm", "-f", "-t", "0", "x"), "unknown flag: -t"),
        (("pod", "ls"), "is not a docker command"),
    ):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode
        assert complaint in done.stderr


def _podman_info(version: str, controllers: list[str], cgroups: str) -> dict[str, Any]:
    """Return the description that rootless podman prints of itself."""
    host = {"cgroupControllers": controllers, "cgroupVersion": cgroups,
            "ociRuntime": {"name": "runc"}, "security": {"rootless": True}}  # fmt: skip
    return {"host": host, "version": {"Version": version},
            "store": {"graphRoot": "/storage", "graphDriverName": "overlay"}}  # fmt: skip


def test_rootless_podman_without_limits_is_refused(tmp_path: Path) -> None:
    """On cgroups v1 it ignores memory and processes, and says so in its description."""
    program = tmp_path / "podman"
    info = _podman_info("4.3.1", [], "v1")
    program.write_text(f"#!/bin/sh\necho '{json.dumps(info)}'\n")
    program.chmod(0o755)
    with pytest.raises(Unavailable, match=r"cannot limit memory and pids here \(cgroups\)"):
        find_engine(str(program))
    info = _podman_info("4.3.1", ["cpu", "memory", "pids"], "v2")
    program.write_text(f"#!/bin/sh\necho '{json.dumps(info)}'\n")
    named = find_engine(str(program)).named
    assert (named.cgroups, named.limits_cpus) == ("v2", True)


def test_podman_describes_itself_once(tmp_path: Path) -> None:
    """A command finds its engine for the base image and for the trials; each answer is slow."""
    program, log = tmp_path / "podman", tmp_path / "log"
    for version in ("4.3.1", "5.0.0"):  # an upgrade is noticed
        info = _podman_info(version, ["memory", "pids"], "v2")
        program.write_text(f"#!/bin/sh\necho $1 >> {log}\necho '{json.dumps(info)}'\n")
        program.chmod(0o755)
        assert [find_engine(str(program)).named.version for _ in range(2)] == [version] * 2
    assert log.read_text().split() == ["info", "info"]
