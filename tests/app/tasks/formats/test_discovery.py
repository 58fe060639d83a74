"""Task folders of both layouts: what is read, what is kept, and all issues at once."""

import os
from pathlib import Path

import pytest

from agon.app.containers import AgentTrial, Image
from agon.app.examples import example_tasks
from agon.app.files import InvalidPackage
from agon.app.tasks.formats.discovery import read_task, read_tasks
from agon.app.tasks.formats.variables import VariableNames, with_variables
from agon.app.tasks.outputs import outputs_of
from agon.app.tasks.preparation import of_task
from agon.app.tasks.task import TaskLimits
from agon.errors import NotFound, Unreadable
from app.tasks.folders import TOML, YAML, harbor, terminal_bench, write


def issue_texts(folder: Path) -> list[str]:
    """Return what is wrong with a folder, a line each."""
    with pytest.raises(InvalidPackage) as error:
        read_task(folder)
    return [str(issue) for issue in error.value.issues]


def test_a_task_of_harbor_is_read_with_its_limits(tmp_path: Path) -> None:
    """Names and units are those of the current layout."""
    task = read_task(harbor(tmp_path / "hello"))
    assert (task.name, task.flavour) == ("hello", "harbor")
    assert task.instruction == "Write hello into /app/hello.txt.\n"
    assert task.settings.bounds == TaskLimits(
        agent_s=30, verifier_s=20, build_s=100, cpus=1, memory_mb=64, storage_mb=16
    )
    assert task.settings.about.tags == ("shell",)
    assert task.files.solution == tmp_path.resolve() / "hello/solution/solve.sh"
    assert task.files.cheat == tmp_path.resolve() / "hello/tests/cheat.sh"
    assert (task.settings.outputs, task.settings.separate) == ((), False)


def test_what_a_task_does_not_say_has_the_pages_defaults(tmp_path: Path) -> None:
    """300 s to verify, 600 s to work, 600 s to build (challenge, Running tasks)."""
    bounds = read_task(harbor(tmp_path / "hello", toml="")).settings.bounds
    assert (bounds.verifier_s, bounds.agent_s, bounds.build_s) == (300, 600, 600)


@pytest.mark.parametrize(
    ("size", "mebibytes"),
    [("4G", 4096), ("512M", 512), ("1.5g", 1536), ("2GiB", 2048), ("65536K", 64), (" 1 GB ", 1024)],
)
def test_the_older_layouts_sizes_are_read(tmp_path: Path, size: str, mebibytes: int) -> None:
    """``memory = "4G"`` came before ``memory_mb``."""
    toml = f'version = "1.0"\n[environment]\nmemory = "{size}"\nstorage = "{size}"\n'
    bounds = read_task(harbor(tmp_path / "hello", toml=toml)).settings.bounds
    assert (bounds.memory_mb, bounds.storage_mb) == (mebibytes, mebibytes)


def test_unknown_keys_are_kept_and_ignored(tmp_path: Path) -> None:
    """Other people's keys are not ours to lose."""
    toml = TOML.replace("[agent]", 'canary = "x"\n[agent]\nreasoning = "high"', 1)
    toml += "skills_dir = '/skills'\n[solution]\nenv = {A = '1'}\n"
    extra = read_task(harbor(tmp_path / "hello", toml=toml)).settings.extra
    assert extra == {
        "schema_version": "1.1",
        "metadata": {"canary": "x"},
        "agent": {"reasoning": "high"},
        "environment": {"skills_dir": "/skills"},
    }


def test_a_misspelt_key_is_noted(tmp_path: Path) -> None:
    """It is ignored as any unknown key is, but its author meant something by it."""
    toml = "[agent]\ntimeout_secs = 5\n[environment]\nmemory_mib = 64\n"
    notes = read_task(harbor(tmp_path / "hello", toml=toml)).settings.notes
    assert [note.rpartition("; ")[2] for note in notes] == [
        "did you mean timeout_sec?", "did you mean memory_mb?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("toml", "named", "remedy"),
    [
        ("[agent]\ntimeout_sec = -3", "agent.timeout_sec is -3", "0.1 to 86400"),
        ("[agent]\ntimeout_sec = true", "agent.timeout_sec is True", "a number"),
        ("[agent]\ntimeout_sec = nan", "agent.timeout_sec is nan", "a number"),
        ('[verifier]\ntimeout_sec = "60"', "verifier.timeout_sec is '60'", "a number"),
        ("[environment]\nbuild_timeout_sec = inf", "environment.build_timeout_sec is inf", "86400"),
        ("[environment]\ncpus = 0", "environment.cpus is 0", "0.01 to 1024"),
        ("[environment]\nmemory_mb = 1.5", "environment.memory_mb is 1.5", "16"),
        ("[environment]\nmemory_mb = 64.5", "environment.memory_mb is 64.5", "a whole number"),
        ('[environment]\nmemory = "4Q"', "environment.memory is '4Q'", '"4G"'),
        ("[environment]\nmemory = 4", "environment.memory is 4", '"4G"'),
        ('[environment]\nmemory = "1K"', "environment.memory is '1K'", "from 16M"),
        ('[environment]\nmemory_mb = 64\nmemory = "1G"', "environment.memory is '1G'", "same as"),
        ('[environment]\nstorage = "-1G"', "environment.storage is '-1G'", '"512M"'),
        ("[environment]\ngpus = 1", "environment.gpus is 1", "no GPU"),
        ('[environment]\nos = "windows"', "environment.os is 'windows'", "use linux"),
        ("environment = 3", "environment is 3", "a table [environment]"),
        ('[metadata]\ntags = "a"', "metadata.tags is 'a'", "a list of texts"),
        ("[metadata]\ntags = [1]", "metadata.tags is [1]", "a list of texts"),
        ("[metadata]\ndifficulty = 3", "metadata.difficulty is 3", "give text"),
        ('[verifier]\nreward_source = "luck"', "verifier.reward_source is 'luck'", "exit_code"),
        ('[verifier]\nenvironment_mode = "own"', "verifier.environment_mode is 'own'", "separate"),
        (
            '[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\ncpus = 1',
            "verifier.environment_mode is 'shared'",
            "leave out [verifier.environment]",
        ),
        ("[agent]\nallowed_hosts = []", "agent.allowed_hosts is []", 'network_mode = "allowlist"'),
        ("[verifier]\nallowed_hosts = []", "verifier.allowed_hosts is []", "network_mode"),
        (
            '[environment]\nallowed_hosts = ["a.test"]',
            "environment.allowed_hosts is ['a.test']",
            "network_mode",
        ),
        ("[verifier.environment]\ndocker_image = 1", "verifier.environment.docker_image", "text"),
        ("[environment.env]\nKEY = 'a\tb'", "environment.env.KEY is", "in one line"),
        ("[environment.env]\nKEY = 1", "environment.env.KEY is 1", "give text"),
        ('[environment.env]\n"a b" = "x"', "environment.env.a b is 'x'", "letters, digits"),
        ('artifacts = ["out.txt"]', "artifacts is 'out.txt'", "absolute paths"),
        ('artifacts = ["/app/../etc"]', "artifacts is", "absolute paths"),
        ('artifacts = ["/a b"]', "artifacts is", "absolute paths"),
        ('artifacts = ["/logs/verifier"]', "artifacts is", "leave out"),
        ('artifacts = ["/tests"]', "artifacts is", "leave out"),
        ("artifacts = [3]", "artifacts is 3", "absolute paths"),
    ],
)
def test_every_bad_value_is_reported_with_file_key_value_and_remedy(
    tmp_path: Path, toml: str, named: str, remedy: str
) -> None:
    """Who wrote the task finds the place and what would be right."""
    (issue,) = issue_texts(harbor(tmp_path / "hello", toml=toml))
    assert issue.startswith(f"hello/task.toml: {named}")
    assert remedy in issue.partition("; ")[2]


@pytest.mark.parametrize(
    ("missing", "issue"),
    [
        ("task.toml", "hello/task.toml: is missing; add it"),
        ("instruction.md", "hello/instruction.md: is missing; add it"),
        ("environment/Dockerfile", "hello/environment/Dockerfile: is missing; add it"),
        ("tests/test.sh", "hello/tests/test.sh: is missing; add it"),
    ],
)
def test_every_missing_part_is_reported(tmp_path: Path, missing: str, issue: str) -> None:
    """A task without one of them cannot be run."""
    assert issue_texts(harbor(tmp_path / "hello", leave_out=missing)) == [issue]


def test_solution_and_cheat_may_be_missing(tmp_path: Path) -> None:
    """Who runs a task need not know its answer."""
    harbor(tmp_path / "hello", leave_out="solution/solve.sh")
    (tmp_path / "hello/tests/cheat.sh").unlink()
    files = read_task(tmp_path / "hello").files
    assert (files.solution, files.cheat) == (None, None)


def test_an_image_of_tests_that_lacks_the_tests_is_refused(tmp_path: Path) -> None:
    """Harbor uploads none to a separate verifier's own image, and ends without a reward."""
    apart = TOML.replace("[verifier]", '[verifier]\nenvironment_mode = "separate"')
    folder = harbor(tmp_path / "t", toml=apart)
    write(folder, {"tests/Dockerfile": "FROM x\nRUN make\n"})
    with pytest.raises(InvalidPackage, match="tests/Dockerfile: copies no tests; write COPY"):
        read_task(folder)
    for line in ("COPY . /tests", "ADD --chmod=755 . /tests", "RUN make /tests/test.sh"):
        write(folder, {"tests/Dockerfile": f"FROM x\n{line}\n"})
        assert read_task(folder).files.verifier


@pytest.mark.parametrize(
    "toml",
    [
        "[environment]\nallowed_hosts = []",
        '[agent]\nnetwork_mode = "public"\nallowed_hosts = []',
        '[verifier]\nnetwork_mode = "allowlist"\nallowed_hosts = []',
    ],
)
def test_an_empty_list_of_hosts_needs_a_mode_beside_it(tmp_path: Path, toml: str) -> None:
    """As in the format, whose environments always have a mode, and whose phases state one."""
    assert read_task(harbor(tmp_path / "hello", toml=toml)).settings.allowed_hosts == ()


def test_shared_tests_run_in_the_agents_image(tmp_path: Path) -> None:
    """As in the format, which builds tests/Dockerfile for separate tests alone; a note says so."""
    folder = harbor(tmp_path / "t")
    write(folder, {"tests/Dockerfile": "FROM x\nCOPY . /tests\n"})
    for mode, is_built in (("", False), ("shared", False), ("separate", True)):
        line = f'[verifier]\nenvironment_mode = "{mode}"' if mode else "[verifier]"
        write(folder, {"task.toml": TOML.replace("[verifier]", line)})
        task = read_task(folder)
        assert task.files.verifier is is_built
        notes = [note[:45] for note in task.settings.notes]
        assert notes == ([] if is_built else ["t/tests/Dockerfile is not built, as the tests"])


def test_files_of_the_image_that_the_tests_hide_are_noted(tmp_path: Path) -> None:
    """The format puts tests beside them; here /tests is the task's folder alone, read-only."""
    folder = harbor(tmp_path / "t")
    for line, noted in (
        ("COPY data /tests/data", True),
        ('ADD ["data", "/tests/"]', True),
        ("COPY --chown=1 a b /tests", True),
        ("COPY tests /app/tests", False),
    ):
        write(folder, {"environment/Dockerfile": f"FROM x\n{line}\nRUN true\n"})
        notes = read_task(folder).settings.notes
        assert any("puts files into /tests" in note for note in notes) is noted, line


def test_an_image_may_stand_in_for_a_dockerfile(tmp_path: Path) -> None:
    """Harbor's ``docker_image``; nothing is pulled, so it must be there when it is run."""
    toml = '[environment]\ndocker_image = "localhost/agon-base:1"\n'
    folder = harbor(tmp_path / "hello", toml=toml, leave_out="environment/Dockerfile")
    files = read_task(folder).files
    assert (files.context, files.image) == (None, "localhost/agon-base:1")


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("instruction.md", b"\xff\xfe", "is not UTF-8 at byte 0"),
        ("instruction.md", b" \n", "asks for nothing"),
        ("instruction.md", b"a\0b", "contains a NUL byte"),
        ("instruction.md", b"x" * 100_001, "has more than 100,000 bytes"),
        ("task.toml", b"a = ", "is not TOML"),
        ("task.toml", b"\xff", "is not UTF-8 at byte 0"),
        ("tests/test.sh", b"", "is empty"),
        ("environment/Dockerfile", b"\n", "is empty"),
        ("environment/docker-compose.yaml", b"services: {}", "services is []"),
        ("tests/docker-compose.yaml", b"services: {}", "describes several containers"),
    ],
)
def test_every_unusable_file_is_reported(
    tmp_path: Path, name: str, content: bytes, what: str
) -> None:
    """Each with the file and the fact."""
    folder = harbor(tmp_path / "hello")
    (folder / name).write_bytes(content)
    (issue,) = issue_texts(folder)
    assert issue.startswith(f"hello/{name}: {what}")


def test_links_and_special_files_are_not_followed(tmp_path: Path) -> None:
    """A task says what stands in it, and a pipe would never end."""
    folder = harbor(tmp_path / "hello", leave_out="instruction.md")
    (folder / "instruction.md").symlink_to("/etc/passwd")
    os.mkfifo(folder / "tests" / "pipe")
    assert issue_texts(folder) == [
        "hello/tests/pipe: is a device, pipe or socket; put a regular file",
        "hello/instruction.md: is a symbolic link, which is not followed; replace it by the file",
    ]


@pytest.mark.parametrize("file", ["task.toml", "instruction.md", "tests/test.sh"])
def test_a_folder_in_the_place_of_a_file_is_an_issue_of_its_task(tmp_path: Path, file: str) -> None:
    """It names the path, and the other tasks are read."""
    harbor(tmp_path / "one")
    folder = harbor(tmp_path / "two", leave_out=file)
    (folder / file).mkdir()
    with pytest.raises(InvalidPackage) as error:
        read_tasks([tmp_path])
    assert all("/two" in issue.where or "two/" in issue.where for issue in error.value.issues)
    assert any(issue.where.endswith(file) for issue in error.value.issues)


def test_all_faults_of_all_folders_are_reported_at_once(tmp_path: Path) -> None:
    """One look is enough to repair everything."""
    harbor(tmp_path / "one", toml="[agent]\ntimeout_sec = 0\n", leave_out="tests/test.sh")
    harbor(tmp_path / "two", leave_out="instruction.md")
    harbor(tmp_path / "bad,name")
    with pytest.raises(InvalidPackage) as error:
        read_tasks([tmp_path])
    assert [issue.where.rpartition("/")[2] for issue in error.value.issues] == [
        "bad,name", "task.toml", "test.sh", "instruction.md",
    ]  # fmt: skip


def test_a_folder_of_tasks_gives_them_by_name(tmp_path: Path) -> None:
    """Order does not depend on the disk; what is no task is left alone."""
    for name in ("zeta", "alpha"):
        harbor(tmp_path / name)
    write(tmp_path, {"README.md": "about", ".git/config": "", "docs/page.md": ""})
    assert [task.name for task in read_tasks([tmp_path])] == ["alpha", "zeta"]
    assert [task.name for task in read_tasks([tmp_path / "zeta"])] == ["zeta"]


def test_two_tasks_of_one_name_are_refused(tmp_path: Path) -> None:
    """Results are kept by name."""
    harbor(tmp_path / "a" / "hello")
    harbor(tmp_path / "b" / "hello")
    with pytest.raises(InvalidPackage, match="rename one of the two"):
        read_tasks([tmp_path / "a", tmp_path / "b"])


def test_no_task_at_all_is_an_error(tmp_path: Path) -> None:
    """A pass rate of nothing is no pass rate (challenge, Running tasks)."""
    with pytest.raises(Unreadable, match="there is no task to run"):
        read_tasks([tmp_path])
    with pytest.raises(NotFound):
        read_tasks([tmp_path / "nowhere"])
    (tmp_path / "file").write_text("")
    with pytest.raises(Unreadable, match="is not a folder"):
        read_tasks([tmp_path / "file"])


def test_tests_that_write_a_reward_run_as_both(tmp_path: Path) -> None:
    """Harbor's templates exit with 0 even when tests fail."""
    reward = "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n"
    plain = read_task(harbor(tmp_path / "plain"))
    harbors = read_task(harbor(tmp_path / "harbors", test=reward))
    said = read_task(harbor(tmp_path / "said", toml='[verifier]\nreward_source = "exit_code"\n',
                            test=reward))  # fmt: skip
    sources = [task.reward_source for task in (plain, harbors, said)]
    assert sources == ["exit_code", "both", "exit_code"]
    assert {task.reward_source for task in read_tasks([tmp_path], reward_source="reward_file")} == {
        "reward_file"
    }


def test_artifacts_are_outputs(tmp_path: Path) -> None:
    """A separate verifier gets only what is declared; a shared one the image's folders, too."""
    lines = 'artifacts = ["/app/a.txt", {source = "/srv/b", destination = "b"}]\n'
    shared = read_task(harbor(tmp_path / "shared", toml=lines))
    separate = read_task(
        harbor(tmp_path / "separate", toml=lines + '[verifier]\nenvironment_mode = "separate"\n')
    )
    image = Image(
        reference="", content="", user="", writable=(), cached=True, seconds=0.0,
        workdir="/work", outputs=("/work", "/root"),
    )  # fmt: skip
    assert outputs_of(shared, image) == ("/work", "/root", "/app/a.txt", "/srv/b")
    assert outputs_of(separate, image) == ("/app/a.txt", "/srv/b")


def test_variables_take_their_default_and_nothing_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret in the host's environment is none of a task's business."""
    monkeypatch.setenv("MODE", "host")
    toml = "[environment.env]\nMODE = '${MODE:-slow}'\n[verifier.env]\nDEEP = '1'\n"
    read = read_task(harbor(tmp_path / "hello", toml=toml))
    (task,) = with_variables((read,), VariableNames(), environment=os.environ)
    settings = task.settings
    assert settings.agent_env == {"MODE": "slow"}
    assert settings.verifier_env == {"MODE": "slow", "DEEP": "1"}


def test_the_hash_distinguishes_tasks_by_content_alone(tmp_path: Path) -> None:
    """A changed task is another task; a copy is the same."""
    one, copy = read_task(harbor(tmp_path / "a/t")), read_task(harbor(tmp_path / "b/t"))
    assert one.sha256 == copy.sha256
    (tmp_path / "b/t/tests/test.sh").chmod(0o644)
    assert read_task(tmp_path / "b/t").sha256 != one.sha256
    changed = read_task(harbor(tmp_path / "b/t", solve="true\n"))
    assert changed.sha256 != one.sha256


def test_a_task_of_terminal_bench_1_is_read(tmp_path: Path) -> None:
    """Its own names, its own defaults, the whole folder as context."""
    task = read_task(terminal_bench(tmp_path / "hello"))
    assert (task.flavour, task.reward_source) == ("terminal-bench-1", "exit_code")
    assert task.instruction == "Write hello into /app/hello.txt.\nNothing else."
    bounds = task.settings.bounds
    assert (bounds.agent_s, bounds.verifier_s) == (90.5, 45)
    assert task.settings.about.tags == ("shell", "files")
    assert task.settings.verifier_env == {"TEST_DIR": "/tests"}
    assert task.settings.extra == {"author_name": "Ada", "parser_name": "pytest"}
    assert task.files.context == tmp_path.resolve() / "hello"
    assert task.files.script == tmp_path.resolve() / "hello/run-tests.sh"


def test_terminal_bench_1_has_its_own_default_times(tmp_path: Path) -> None:
    """360 s to work and 60 s to test, as that benchmark had it."""
    bounds = read_task(terminal_bench(tmp_path / "t", yaml="instruction: x\n")).settings.bounds
    assert (bounds.agent_s, bounds.verifier_s) == (360, 60)


def test_the_oldest_tasks_describe_themselves_in_a_list(tmp_path: Path) -> None:
    """``descriptions`` came before ``instruction``."""
    yaml = "descriptions:\n  - key: hard\n    description: y\n  - key: base\n    description: x\n"
    assert read_task(terminal_bench(tmp_path / "t", yaml=yaml)).instruction == "x"


@pytest.mark.parametrize(
    ("compose", "context"),
    [
        ("services:\n  client:\n    build: .\n", "."),
        ("services:\n  client:\n    build:\n      context: env\n", "env"),
        ("services:\n  client:\n    build: ./env\n    command: [sleep, infinity]\n", "env"),
    ],
)
def test_the_compose_file_says_where_to_build(tmp_path: Path, compose: str, context: str) -> None:
    """One service is what a trial can have."""
    folder = terminal_bench(tmp_path / "t", compose=compose)
    write(folder, {"env/Dockerfile": "FROM x\n"})
    assert read_task(folder).files.context == (folder / context).resolve()


@pytest.mark.parametrize(
    ("yaml", "what"),
    [
        ("instruction: [", "is not YAML"),
        ("- a\n", "is not a mapping"),
        ("a: &x [1]\nb: *x\ninstruction: x\n", "uses an alias"),
        ("difficulty: easy\n", "asks for nothing"),
        ("instruction: x\nmax_agent_timeout_sec: soon\n", "max_agent_timeout_sec is 'soon'"),
        ("instruction: x\nrun_tests_in_same_shell: true\n", "run_tests_in_same_shell is True"),
        ("instruction: !!python/object/apply:os.system [ls]\n", "is not YAML"),
    ],
)
def test_every_bad_task_yaml_is_reported(tmp_path: Path, yaml: str, what: str) -> None:
    """As of the other layout."""
    (issue,) = issue_texts(terminal_bench(tmp_path / "t", yaml=yaml))
    assert issue.startswith(f"t/task.yaml: {what}")


@pytest.mark.parametrize(
    ("compose", "what"),
    [
        ("services:\n  app: {build: .}\n  db: {image: x}\n", "call the agent's service client"),
        ("services:\n  client:\n    build: ../other\n", "builds from outside"),
        ("services:\n  client:\n    build: {dockerfile: Other}\n", "call it Dockerfile"),
        ("services: 3\n", "write a table"),
        ("a: [\n", "is not YAML"),
    ],
)
def test_every_bad_compose_file_is_reported(tmp_path: Path, compose: str, what: str) -> None:
    """With the file, the key and the remedy."""
    issues = issue_texts(terminal_bench(tmp_path / "t", yaml=YAML, compose=compose))
    assert any("docker-compose.yaml" in issue and what in issue for issue in issues)


def test_the_example_tasks_are_sound() -> None:
    """At least eight, each with oracle and cheat, of all difficulties."""
    tasks = read_tasks([example_tasks()])
    assert len(tasks) >= 8
    assert all(task.files.solution and task.files.cheat for task in tasks)
    assert {task.settings.about.difficulty for task in tasks} == {"easy", "medium", "hard"}
    assert {task.reward_source for task in tasks} == {"exit_code", "both"}
    assert [note for task in tasks for note in task.settings.notes] == []


def test_files_of_the_environment_go_into_the_working_folder_of_a_named_image(
    tmp_path: Path,
) -> None:
    """As in the format, where neither a Dockerfile nor a compose file says what they are for."""
    named = '[environment]\ndocker_image = "localhost/agon-base:1"\n'
    folder = harbor(tmp_path / "t", leave_out="environment/Dockerfile", toml=named)
    assert read_task(folder).files.environment is None
    write(folder, {"environment/data/in": "1"})
    task = read_task(folder)
    assert task.files.environment == folder.resolve() / "environment"
    image = Image(reference="i", content="c", user="", writable=(), cached=True, seconds=0.0)
    trial = of_task(task, AgentTrial(run="r", name="n", folder=tmp_path), image)
    assert [(one.source, one.target) for one in trial.laid] == [(task.files.environment, "/app")]
    write(folder, {"environment/Dockerfile": "FROM x\n"})
    assert read_task(folder).files.environment is None
