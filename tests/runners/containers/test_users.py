"""A task's users: the agent's, the tests', and what an image keeps from the first."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agon.app.containers import AgentTrial, Containers, Image, ImageSpec
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.preparation import in_workdir
from agon.app.tasks.task import Task
from agon.app.tasks.trials import TrialResult, TrialRunner
from agon.runners.agents.builtin import OracleAgent
from app.tasks.folders import harbor
from runners.containers.course import Course

DOCKERFILE = """\
FROM localhost/agon-base:1
RUN echo 'ada:x:1000:1000::/home/ada:/bin/sh' >> /etc/passwd && mkdir -p /home/ada/p /srv/keys \\
    && echo own > /home/ada/p/own && chown -R 1000:1000 /home/ada && chmod 700 /home/ada/p \\
    && echo 42 > /srv/keys/answer && chmod 700 /srv && echo 42 > /root/answer \\
    && echo 42 > /app/hidden && chmod 600 /app/hidden
WORKDIR /app
"""
SOLUTION = """\
#!/bin/sh
id -u > /app/who; echo "$HOME" > /app/home
cat /srv/keys/answer /root/answer /app/hidden > /app/read 2>/dev/null
echo more >> /home/ada/p/own
mkdir -p -m 700 /app/private && echo secret > /app/private/file && chmod 600 /app/private/file
echo log > /logs/agent/agent.txt; echo made > /logs/artifacts/made
echo 1 > /logs/verifier/reward.txt
exit 0
"""
TESTS = """\
#!/bin/sh
echo "tests $(id -u) agent $(cat /app/who) home $(cat /app/home) read [$(cat /app/read)]"
echo "private $(cat /app/private/file) collected $(cat /app/collected)"
echo "by ada $(cat /logs/artifacts/user)"
echo "own $(tr '\\n' ' ' < /home/ada/p/own) logs $(cat /logs/agent/agent.txt /logs/artifacts/made)"
ls /logs/verifier
"""
SETTINGS = """\
[agent]
user = "ada"
timeout_sec = 30
[verifier]
user = "nobody"
reward_source = "exit_code"
[[verifier.collect]]
command = "cat /app/private/file > /app/collected; id -u >> /app/collected"
[[verifier.collect]]
command = "id -u >> /tmp/of-ada && cat /tmp/of-ada > /logs/artifacts/user"
user = "ada"
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """A task whose agent is another user than the image's."""
    folder = harbor(tmp_path_factory.mktemp("users") / "users", toml=SETTINGS)
    for name, text in {
        "environment/Dockerfile": DOCKERFILE, "solution/solve.sh": SOLUTION, "tests/test.sh": TESTS,
    }.items():  # fmt: skip
        (folder / name).write_text(text)
    return read_task(folder)


@pytest.fixture(scope="module")
def built(containers: Containers, task: Task) -> Image:
    """Its image."""
    return in_workdir(task, containers.build(ImageSpec(context=task.files.context)))


def run(task: Task, containers: Containers, image: Image, trial: AgentTrial) -> TrialResult:
    """Run its oracle."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return TrialRunner(
        agent=OracleAgent(), containers=containers, image=image, now=lambda: now
    ).run(task, trial)


def test_agent_and_tests_have_their_users_and_the_agent_reads_nothing_of_root(
    task: Task, built: Image, containers: Containers, course: Course
) -> None:
    """A task hides its answers from its agent by rights; what the agent leaves is handed over.

    The agent writes a reward as well: nothing of ``/logs/verifier`` reaches the tests.
    """
    trial = course.trial()
    result = run(task, containers, built, trial)
    assert result.result == "passed", result.reason
    printed = (trial.folder / "verifier/stdout.txt").read_text().splitlines()
    assert printed == [
        "tests 65534 agent 1000 home /home/ada read []",
        "private secret collected secret",
        "0",
        "by ada 1000",
        "own own more  logs log",
        "made",
    ]


@pytest.mark.exhaustive
def test_a_user_that_the_image_does_not_have_is_said(
    built: Image, containers: Containers, course: Course, tmp_path: Path
) -> None:
    """No trial runs as another user than the task says."""
    folder = harbor(tmp_path / "other", toml='[agent]\nuser = "bea"\n[verifier]\nuser = "eve"\n')
    trial = course.trial()
    result = run(read_task(folder), containers, built, trial)
    assert (result.result, "eve" in result.reason) == ("unscored", True)
    first, *_ = (trial.folder / "agent/stderr.txt").read_text().splitlines()
    assert first == "the image has no user bea"
