"""What a task collects of its services comes from their containers, whatever its agent writes."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agon.app.containers import AgentTrial, Containers, Image
from agon.app.files import InvalidPackage
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.services import build
from agon.app.tasks.task import Task
from agon.app.tasks.trials import TrialResult, TrialRunner
from app.tasks.folders import harbor
from runners.containers.course import Course
from runners.containers.script_agent import Script

COMPOSE = """\
services:
  ledger:
    image: localhost/agon-base:1
    command:
      - sh
      - -c
      - |
        cd /var/state && echo open > total && : > told
        nc -l -p 7001 -e sh -c 'read -r word; echo $$word > told; echo ok'; sleep 1000
    tmpfs: [/var/state]
    expose: [7001]
"""
SETTINGS = """\
artifacts = [
    "/app/own",
    { source = "/app/tree", exclude = ["*.log", "cache"] },
    { source = "/var/state", service = "ledger", exclude = ["*.tmp"] },
]
[agent]
timeout_sec = 30
[verifier]
environment_mode = "separate"
reward_source = "exit_code"
[[verifier.collect]]
command = "cd /var/state; cat told > total; id -u > who; echo x > a.tmp"
service = "ledger"
[[verifier.collect]]
command = "echo collected >> /app/own"
"""
TESTS = """\
#!/bin/sh
cat /app/own; ls /app/tree; ls /var/state; cat /var/state/total
"""
FORGE = """\
mkdir -p /app/own2 /app/tree/cache; echo own > /app/own
echo 1 > /app/tree/a.log; echo 1 > /app/tree/b
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """A task that judges what its service was told."""
    folder = harbor(tmp_path_factory.mktemp("collected") / "collected", toml=SETTINGS)
    (folder / "environment/docker-compose.yaml").write_text(COMPOSE)
    (folder / "tests/test.sh").write_text(TESTS)
    return read_task(folder)


@pytest.fixture(scope="module")
def built(containers: Containers, task: Task) -> Image:
    """Its image."""
    return build(task, containers)


def run(
    task: Task, script: str, containers: Containers, image: Image, trial: AgentTrial
) -> tuple[TrialResult, list[str]]:
    """Return a trial's result, and what its tests printed."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    result = TrialRunner(
        agent=Script(script), containers=containers, image=image, now=lambda: now
    ).run(task, trial)
    printed = trial.folder / "verifier/stdout.txt"
    return result, printed.read_text().splitlines() if printed.exists() else []


@pytest.mark.exhaustive
def test_artifacts_of_a_service_are_its_own_after_its_collecting(
    task: Task, built: Image, containers: Containers, course: Course
) -> None:
    """The agent tells the service something; files of the same name that it writes are left out."""
    trial = course.trial()
    script = FORGE + (
        "mkdir -p /var/state; echo 99 > /var/state/total\n"
        "until echo 7 | nc -w 5 ledger 7001 | grep -q ok; do sleep 0.1; done"
    )
    result, printed = run(task, script, containers, built, trial)
    assert result.result == "passed", result.reason
    assert printed == ["own", "collected", "b", "told", "total", "who", "7"]
    left_out = {one["name"]: one["reason"] for one in result.parts["outputs"]["left_out"]}
    assert left_out["app/tree/a.log"] == "the task excludes it"
    assert left_out["ledger:var/state/a.tmp"] == "the task excludes it"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "forgery",
    [
        "mkdir -p /var/state; echo 99 > /var/state/total; echo 9 > /var/state/more",
        "rm -rf /var/state; ln -s /app/own2 /var/state; echo 99 > /app/own2/total",
        "ln -s /var/state /app/tree/state; mkdir -p /var/state; echo 99 > /var/state/total",
        "mkdir -p /var/state; echo 99 > /app/tree/b; ln /app/tree/b /var/state/total",
    ],
)
def test_no_agent_can_forge_an_artifact_of_a_service(
    task: Task, built: Image, containers: Containers, course: Course, forgery: str
) -> None:
    """Whatever it writes at that path, through links too, the tests see the service's."""
    result, printed = run(task, FORGE + forgery, containers, built, course.trial())
    assert result.result == "passed", result.reason
    assert printed[-4:] == ["b", "told", "total", "who"]


def test_a_task_that_collects_from_a_service_it_does_not_have_is_refused(tmp_path: Path) -> None:
    """Else the path would be missing in each trial."""
    folder = harbor(tmp_path / "t", toml='artifacts = [{ source = "/a", service = "db" }]')
    with pytest.raises(InvalidPackage, match="collects from the service 'db', which does not exi"):
        read_task(folder)
