"""Every key of the task format is read, refused or harmless; what runs around an agent runs."""

import shlex
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agon.app.containers import AgentTrial, Image
from agon.app.files import InvalidPackage
from agon.app.tasks.formats.discovery import read_task
from agon.app.tasks.formats.keys import KEYS, row_of
from agon.app.tasks.overrides import Overrides, with_overrides
from agon.app.tasks.preparation import NOT_READY, in_workdir, outputs, with_preparation
from agon.app.tasks.task import Task
from agon.app.tasks.trials import TrialRunner
from agon.runners.agents.builtin import NopAgent
from app.tasks.folders import harbor
from fakes.containers import FakeContainers

PUBLISHED = Path(__file__).with_name("harbor_keys.txt")
"""The keys of the published model; ``tools/harbor-keys`` writes them again for a new version."""

IMAGE = Image(
    reference="i", content="c", user="", writable=("/app",), cached=True, seconds=0.0
)  # fmt: skip


def task_with(folder: Path, settings: str) -> Task:
    """Read a task with further settings."""
    return read_task(harbor(folder / "task", toml=settings))


def test_every_key_of_the_published_format_is_classified() -> None:
    """A key of a new version fails here until somebody decides what it means."""
    version, *keys = PUBLISHED.read_text().split("\n")
    assert version.startswith("# harbor-0.26")
    published = [key.removesuffix(".*") for key in keys if key]
    assert len(published) > 100
    assert [key for key in published if row_of(key).handling == "unknown"] == []


def test_no_row_is_without_a_reason_and_none_is_twice() -> None:
    """A refusal without a remedy helps nobody."""
    assert all(key.why for key in KEYS)
    assert len({key.path for key in KEYS}) == len(KEYS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('[agent]\nuser = "no body"', "agent.user is 'no body'; give a name or a number"),
        ("[verifier]\nuser = 1.5", "verifier.user is 1.5; give a name or a number"),
        (
            'artifacts = [{ source = "/app/x", service = 1 }]',
            "artifacts.service is 1; give the name",
        ),
        (
            'artifacts = [{ source = "/app", exclude = "*.pyc" }]',
            "artifacts.exclude is '*.pyc'; li",
        ),
        (
            'artifacts = [{ source = "/a", service = "b" }, { source = "/a/c", service = "d" }]',
            "artifacts is {'source': '/a/c', 'service': 'd'}; leave it out: /a is taken from b",
        ),
        ('artifacts = ["/logs/verifier"]', "artifacts is '/logs/verifier'; leave out what belongs"),
        (
            'artifacts = [{ source = "/logs/artifacts/x", service = "b" }]',
            "artifacts is {'source': '/logs/artifacts/x', 'service': 'b'}; leave out what belongs",
        ),
        ('[agent]\nallowed_hosts = ["a.example"]', "agent.allowed_hosts is ['a.example']; write"),
        (
            '[environment]\nnetwork_mode = "public"\nallowed_hosts = ["a.example"]',
            "environment.allowed_hosts is ['a.example']; write network_mode",
        ),
        ('[verifier]\nallowed_hosts = ["a.example"]', "verifier.allowed_hosts is"),
        (
            '[verifier.environment]\nallowed_hosts = ["a.example"]',
            "verifier.environment.allowed_hosts is",
        ),
        (
            '[[steps]]\nname = "a"\n[steps.verifier]\nallowed_hosts = ["a.example"]',
            "steps.verifier.allowed_hosts is",
        ),
        ("[agent]\nuser = true", "agent.user is True; give a name or a number"),
        ('[[verifier.collect]]\ncommand = "x"\nuser = "-u"', "verifier.collect.user is '-u'"),
        ("[verifier.environment]\nmemory_mb = 1", "verifier.environment.memory_mb is 1"),
        ("[verifier.environment.tpu]\ntype = 'v4'", "verifier.environment.tpu.type is 'v4'"),
        (
            '[[steps]]\nname = "../x"',
            "steps.name is '../x'; give each step the name of its own folder",
        ),
        ('[[steps]]\nname = "a"\nartifacts = ["x"]', "steps.artifacts is 'x'; list absolute"),
        (
            (
                'artifacts = [{ source = "/x", service = "db" }]\n[[steps]]\nname = "a"\n'
                'artifacts = [{ source = "/x/y", service = "web" }]'
            ),
            "steps.artifacts is '/x/y'; leave it out: the task takes /x from db as well",
        ),
        ('[[steps]]\nname = "a"\nmin_reward = "1"', "steps.min_reward is '1'; give a number"),
        ('[[steps]]\nname = "a"\n[steps.agent]\nuser = "b c"', "steps.agent.user is 'b c'; give"),
        ('[[steps]]\nname = "a"\n[steps.agent]\ntools = "b"', "steps.agent.tools is 'b'; leave"),
        ('[environment.tpu]\ntype = "v4"\ntopology = "2x2"', "environment.tpu.type is 'v4'"),
        ('[environment.healthcheck]\ncommand = " "', "environment.healthcheck.command is ' '"),
        ('[environment]\nworkdir = "srv/../work"', "environment.workdir is"),
        ("[[verifier.collect]]\ntimeout_sec = 3", "verifier.collect is"),
    ],
)
def test_what_changes_a_task_and_is_not_supported_is_refused_by_name(
    tmp_path: Path, settings: str, message: str
) -> None:
    """A task must not be scored as another one."""
    with pytest.raises(InvalidPackage) as refused:
        task_with(tmp_path, settings)
    assert message in str(refused.value)


def test_files_in_the_agents_logs_are_artifacts_as_the_whole_folders_are(tmp_path: Path) -> None:
    """Public tasks list the trajectory, and files that they collect in ``/logs/artifacts``."""
    listed = '["/logs/agent/trajectory.json", "/logs/artifacts/state", "/app/x"]'
    task = task_with(tmp_path, f"artifacts = {listed}")
    assert task.settings.outputs == ("/app/x",)  # the logs are handed over in any case


def test_users_are_read_as_names_or_numbers(tmp_path: Path) -> None:
    """Both forms are in the format; the tests' user goes to the container of the tests alone."""
    task = task_with(
        tmp_path,
        '[agent]\nuser = "ada"\n[verifier]\nuser = 1000\n'
        '[[verifier.collect]]\ncommand = "true"\nuser = "root"',
    )
    settings = task.settings
    assert (settings.agent_user, settings.verifier_user) == ("ada", "1000")
    assert settings.collected[0].user == "root"
    containers = FakeContainers()
    TrialRunner(
        agent=NopAgent(), containers=containers, image=IMAGE, now=lambda: datetime.now(UTC)
    ).run(task, AgentTrial(run="r", name="n", folder=tmp_path))
    assert containers.test_users == ["1000"]


def test_an_agent_without_a_user_runs_as_it_is(tmp_path: Path) -> None:
    """A task that asks for nothing gets no further process."""
    task = task_with(tmp_path, "")
    assert with_preparation(task, IMAGE, ("true",)) == ("true",)


def test_defaults_of_refused_keys_are_no_refusal(tmp_path: Path) -> None:
    """The service main is the agent's container, and an empty list asks for nothing."""
    task = task_with(
        tmp_path,
        'artifacts = [{ source = "/app/x", service = "main", exclude = [] }]\n'
        '[[verifier.collect]]\ncommand = "true"\nservice = "main"\n[metadata]\nuser = "x"',
    )
    assert task.settings.outputs == ("/app/x",)


def test_servers_that_no_agent_is_told_of_are_noted(tmp_path: Path) -> None:
    """Whoever runs the task must know what its agent does not get."""
    servers = '[[environment.mcp_servers]]\nname = "t"\nurl = "http://mcp:8000/mcp"'
    assert task_with(tmp_path, servers).settings.notes == (
        "task/task.toml: environment.mcp_servers: no built-in agent is told of it",
    )


def test_the_working_folder_is_that_of_agent_and_tests_and_handed_over(tmp_path: Path) -> None:
    """Else the tests look where nothing is."""
    task = task_with(tmp_path, '[environment]\nworkdir = "/srv/work/"')
    assert in_workdir(task, IMAGE).workdir == "/srv/work"
    assert outputs(task, IMAGE) == ("/app", "/srv/work")


def run_here(command: tuple[str, ...], folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a prepared command in a folder of this machine."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_entrypoint_and_health_check_run_before_the_agent_and_collecting_after_it(
    tmp_path: Path,
) -> None:
    """The order of the reference; the exit code is the agent's, and its words arrive unchanged."""
    entry = tmp_path / "entry.sh"
    entry.write_text('#!/bin/sh\necho entry >> log\nexec "$@"\n')
    entry.chmod(0o755)
    task = task_with(
        tmp_path / "t",
        '[environment.healthcheck]\ncommand = "echo healthy >> log"\n'
        "[[verifier.collect]]\ncommand = \"echo 'collected' >> log\"",
    )
    image = Image(
        reference="i", content="c", user="", writable=(), cached=True, seconds=0.0,
        entrypoint=(str(entry),),
    )  # fmt: skip
    words = "say \"$HOME\" and 'x'"
    command = with_preparation(
        task, image, ("sh", "-c", f"printf '%s\\n' {shlex.quote(words)} >> log; exit 7")
    )
    assert run_here(command, tmp_path).returncode == 7
    assert (tmp_path / "log").read_text().splitlines() == ["entry", "healthy", words, "collected"]


def test_an_entrypoint_that_ends_is_not_waited_for(tmp_path: Path) -> None:
    """It may do its work and end; the agent runs then."""
    image = Image(
        reference="i", content="c", user="", writable=(), cached=True, seconds=0.0,
        entrypoint=("sh", "-c", "echo done > entered"),
    )  # fmt: skip
    task = task_with(tmp_path / "t", "")
    assert (
        run_here(with_preparation(task, image, ("sh", "-c", "cat entered")), tmp_path).stdout
        == "done\n"
    )
    assert with_preparation(task, IMAGE, ("true",)) == ("true",)


def test_a_health_check_that_never_passes_names_itself(tmp_path: Path) -> None:
    """The agent does not begin in an environment that is not ready."""
    check = '[environment.healthcheck]\ncommand = "false"\ninterval_sec = 1\nretries = 1'
    ended = run_here(
        with_preparation(task_with(tmp_path, check), IMAGE, ("echo", "agent")), tmp_path
    )
    assert (ended.returncode, ended.stdout) == (NOT_READY, "")
    assert "the task's health check did not exit with 0 within 1 s" in ended.stderr


def test_the_container_of_the_tests_has_its_own_limits_variables_and_folder(
    tmp_path: Path,
) -> None:
    """What it does not say is as in the agent's; the limits of a run hold for both."""
    task = task_with(
        tmp_path,
        "[environment]\ncpus = 2\nmemory_mb = 64\nstorage_mb = 32\nenv = { A = 'a', B = 'b' }\n"
        "[verifier]\ntimeout_sec = 9\nenv = { C = 'tests' }\n"
        "[verifier.environment]\nmemory = '1G'\nworkdir = '/srv/judge'\nskills_dir = '/s'\n"
        "healthcheck = { command = 'false' }\n"
        "env = { B = 'judge', C = 'judge' }",
    )
    containers = FakeContainers()
    now = datetime(2026, 11, 28, tzinfo=UTC)
    trial = AgentTrial(run="r", name="t", folder=tmp_path)
    TrialRunner(agent=NopAgent(), containers=containers, image=IMAGE, now=lambda: now).run(
        task, trial
    )
    limits, image = containers.limits[-1], containers.tested_images[0]
    assert (limits.cpus, limits.memory_mib, limits.storage_mib) == (2, 1024, 32)
    assert (limits.timeout_s, image.workdir) == (9, "/srv/judge")
    assert containers.environments[-1] == {"A": "a", "B": "judge", "C": "tests"}
    assert task.settings.bounds.memory_mb == 64
    smaller = with_overrides(task, Overrides(memory_mb=128)).settings
    assert (smaller.bounds.memory_mb, smaller.verifier_bounds.memory_mb) == (128, 128)
