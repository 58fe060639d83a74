"""Find task folders and read them; all errors of all folders are reported at once."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from agon.app.containers import RewardSource
from agon.app.files import FileIssue, InvalidPackage, collect_issues
from agon.app.tasks.files import files_under, mentions, read_text, sha256_of
from agon.app.tasks.formats.compose import Compose
from agon.app.tasks.formats.file_checks import (
    check_tests,
    check_workdir,
    is_inside,
    location,
    notes_of_images,
    refuse_compose,
    require,
    require_copied_tests,
)
from agon.app.tasks.formats.harbor import SETTINGS, read_settings
from agon.app.tasks.formats.terminal_bench import (
    SCRIPT,
    TerminalBenchSettings,
    compose_of,
    read_terminal_bench_settings,
)
from agon.app.tasks.formats.terminal_bench import SETTINGS as OLD_SETTINGS
from agon.app.tasks.outputs import named_files
from agon.app.tasks.step_trials import solution_of_step, tests_of_step
from agon.app.tasks.task import Files, Task, TaskSettings
from agon.errors import NotFound, Unreadable

INSTRUCTION = "instruction.md"
CHEAT = "cheat.sh"
MAX_INSTRUCTION = 100_000
"""Maximum size of an instruction in bytes: a command's argument is limited to 128 KiB."""

_MARKS = (
    SETTINGS,
    OLD_SETTINGS,
    INSTRUCTION,
    SCRIPT,
    "environment/Dockerfile",
    "tests/test.sh",
)
_NAME = re.compile(r"[^\W_][\w ()+.@~-]{0,99}(?<! )")
_COMPOSE = "environment/docker-compose.yaml"
_COMPOSE_OF_TESTS = "tests/docker-compose.yaml"
_REWARD_WORDS = (b"reward.txt", b"reward.json", b"rewardkit")


def read_tasks(
    sources: Iterable[Path], *, reward_source: RewardSource | None = None
) -> tuple[Task, ...]:
    """Return tasks, sorted by name; each source is a task's folder or a folder of such folders.

    Args:
        sources: the folders.
        reward_source: what counts as a pass, for all tasks; None: what each task says, else
            ``both`` where the tests write a reward file (as Harbor's do, whose tests exit with 0
            even when they fail), else ``exit_code``, as the source document says.

    Raises:
        NotFound: a source is missing.
        InvalidPackage: with every error of every folder.
        Unreadable: there is no task at all.

    Source: challenge, Running tasks; document 001, Test Execution.
    """
    tasks, unreadable = read_readable_tasks(sources, reward_source=reward_source)
    if unreadable:
        raise InvalidPackage(*(issue for issues in unreadable.values() for issue in issues))
    return tasks


def read_readable_tasks(
    sources: Iterable[Path], *, reward_source: RewardSource | None = None
) -> tuple[tuple[Task, ...], dict[str, tuple[FileIssue, ...]]]:
    """Return the tasks that can be read, and the errors of the other folders by name.

    Args:
        sources: as for :func:`read_tasks`.
        reward_source: as for :func:`read_tasks`.

    Raises:
        NotFound: a source is missing.
        InvalidPackage: no task can be read; with every error of every folder.
        Unreadable: there is no task at all.
    """
    tasks: dict[str, Task] = {}
    unreadable: dict[str, tuple[FileIssue, ...]] = {}
    for folder in [folder for source in sources for folder in _task_folders(source)]:
        issues: list[FileIssue] = []
        if folder.name in tasks:
            what = f"has the name of {tasks[folder.name].folder}"
            raise InvalidPackage(FileIssue(str(folder), what, "rename one of the two"))
        with collect_issues(issues):
            tasks[folder.name] = read_task(folder)
        if issues:
            unreadable[folder.name] = tuple(issues)
    if unreadable and not tasks:
        raise InvalidPackage(*(issue for issues in unreadable.values() for issue in issues))
    if not tasks:
        raise Unreadable(
            "there is no task to run: a task is a folder with task.toml, instruction.md, "
            "environment/Dockerfile and tests/test.sh"
        )
    ordered = tuple(tasks[name] for name in sorted(tasks))
    if reward_source is not None:
        ordered = tuple(replace(task, reward_source=reward_source) for task in ordered)
    return ordered, unreadable


def read_task(folder: Path) -> Task:
    """Read one task's folder of either layout.

    Raises:
        InvalidPackage: with all its errors.
    """
    folder = folder.resolve()
    issues: list[FileIssue] = []
    if not _NAME.fullmatch(folder.name):
        remedy = "use up to 100 letters, digits, blanks and _ . - + @ ~ ( )"
        issues.append(FileIssue(str(folder), "has a name that cannot name a trial", remedy))
    for path, entry in files_under(folder):
        if not (entry.is_symlink() or entry.is_file() or entry.is_dir()):
            where = location(folder, path)
            issues.append(FileIssue(where, "is a device, pipe or socket", "put a regular file"))
    old = (folder / OLD_SETTINGS).is_file() and not (folder / SETTINGS).is_file()
    return _old_task(folder, issues) if old else _task(folder, issues)


def writes_reward(tests: Path) -> bool:
    """Return whether the tests in a folder mention a reward file."""
    return tests.is_dir() and mentions(tests, _REWARD_WORDS)


def _task_folders(source: Path) -> list[Path]:
    if not source.exists():
        raise NotFound(f"{source}: no such folder")
    if not source.is_dir():
        raise Unreadable(
            f"{source} is not a folder; give a task's folder, or one that contains several"
        )
    if _is_task_folder(source):
        return [source.resolve()]
    inner = [path for path in source.iterdir() if path.is_dir() and not path.name.startswith(".")]
    return sorted(path for path in inner if _is_task_folder(path))


def _is_task_folder(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in _MARKS)


def _task(folder: Path, issues: list[FileIssue]) -> Task:
    """Read a folder in Harbor's layout."""
    settings = TaskSettings()
    with collect_issues(issues):
        settings = read_settings(folder, issues)
    instruction = ""
    if settings.steps:
        return _task_of_steps(folder, settings, issues)
    with collect_issues(issues):
        where = location(folder, INSTRUCTION)
        instruction = read_text(folder / INSTRUCTION, where=where)
        _check_instruction(instruction, where=where)
    tests = folder / "tests"
    settings, compose = _with_services(folder, settings, issues)
    context = _built_from(folder, settings, compose, issues)
    environment = _environment_files(folder, issues) if context is None else None
    require(folder, "tests/test.sh", issues)
    refuse_compose(folder, _COMPOSE_OF_TESTS, issues)
    if settings.separate and not settings.verifier_image:
        require_copied_tests(folder, "tests/Dockerfile", issues)
    has_own_image = settings.separate and (tests / "Dockerfile").is_file()
    settings = replace(
        settings,
        notes=(*settings.notes, *notes_of_images(folder, settings, has_own_image=has_own_image)),
    )
    if issues:
        raise InvalidPackage(*issues)
    return Task(
        name=folder.name,
        folder=folder,
        flavour="harbor",
        instruction=instruction,
        files=Files(
            context=context,
            dockerfile=compose.dockerfile,
            image=settings.image if context is None else "",
            environment=environment,
            tests=tests,
            verifier=has_own_image,
            verifier_image=settings.verifier_image,
            solution=_optional(folder / "solution" / "solve.sh"),
            cheat=_optional(tests / CHEAT),
            services=compose.services,
            main=compose.main,
        ),
        settings=settings,
        reward_source=settings.reward_source or ("both" if writes_reward(tests) else "exit_code"),
        sha256=sha256_of(folder),
    )


def _with_services(
    folder: Path, settings: TaskSettings, issues: list[FileIssue]
) -> tuple[TaskSettings, Compose]:
    """Return the services of a task, and its settings with the variables that they bring."""
    compose = Compose()
    with collect_issues(issues):
        if (folder / _COMPOSE).exists():
            compose = compose_of(folder, _COMPOSE, "main", issues, overlay=True)
            settings = _with_environment(settings, compose.environment, compose.templates)
            settings = replace(settings, workdir=settings.workdir or compose.workdir)
    known = {service.name for service in compose.services}
    for name in sorted(settings.services_collected - known):
        remedy = f"describe it in {_COMPOSE}"
        what = f"collects from the service {name!r}, which does not exist"
        issues.append(FileIssue(location(folder, SETTINGS), what, remedy))
    return settings, compose


def _task_of_steps(folder: Path, settings: TaskSettings, issues: list[FileIssue]) -> Task:
    """Read a task with ``[[steps]]``: each step is a task with the environment of the whole."""
    where = location(folder, SETTINGS)
    settings, compose = _with_services(folder, settings, issues)
    context = _built_from(folder, settings, compose, issues)
    environment = _environment_files(folder, issues) if context is None else None
    if settings.keep_servers:
        remedy = "leave one out, or split the steps into tasks of their own"
        issues.append(FileIssue(where, "has steps and servers that go on", remedy))
    texts = []
    refuse_compose(folder, _COMPOSE_OF_TESTS, issues)
    for step in settings.steps:
        path = f"steps/{step.name}"
        texts.append("")
        with collect_issues(issues):
            named = location(folder, f"{path}/{INSTRUCTION}")
            texts[-1] = read_text(folder / path / INSTRUCTION, where=named)
            _check_instruction(texts[-1], where=named)
        if (folder / path / "environment").exists():
            what = "belongs to one step, and the environment is that of all"
            named = location(folder, f"{path}/environment")
            issues.append(FileIssue(named, what, "leave it out"))
        if is_inside(folder, path, issues) and is_inside(folder, f"{path}/tests", issues):
            check_workdir(folder, f"{path}/workdir", issues)
            check_tests(folder, step, settings, issues)
    if issues:
        raise InvalidPackage(*issues)
    in_words = (path for text in texts for path in named_files(text))
    of_steps = (path for step in settings.steps for path in step.outputs)
    outputs = tuple(dict.fromkeys((*settings.outputs, *of_steps, *in_words)))
    of_services = (place for step in settings.steps for place in step.service_outputs)
    places = [place for step in settings.steps for place in tests_of_step(folder, step)]
    has_solutions = all(solution_of_step(folder, step) for step in settings.steps)
    return Task(
        name=folder.name,
        folder=folder,
        flavour="harbor",
        instruction="\n\n".join(texts),
        files=Files(
            context=context,
            dockerfile=compose.dockerfile,
            image=settings.image if context is None else "",
            environment=environment,
            tests=folder / "steps",
            shared_tests=_folder(folder / "tests"),
            solution=solution_of_step(folder, settings.steps[0]) if has_solutions else None,
            services=compose.services,
            main=compose.main,
        ),
        settings=replace(
            settings, outputs=outputs, service_outputs=tuple(dict.fromkeys(of_services))
        ),
        reward_source=settings.reward_source
        or ("both" if any(map(writes_reward, places)) else "exit_code"),
        sha256=sha256_of(folder),
    )


def _built_from(
    folder: Path, settings: TaskSettings, compose: Compose, issues: list[FileIssue]
) -> Path | None:
    """Return the folder that the agent's image is built from; None: its image is named."""
    if compose.context is not None:
        return compose.context
    if settings.image and not (folder / "environment" / "Dockerfile").exists():
        return None
    require(folder, "environment/Dockerfile", issues)
    return folder / "environment"


def _environment_files(folder: Path, issues: list[FileIssue]) -> Path | None:
    """Return the folder whose files go into a named image, which no compose file describes."""
    place = folder / "environment"
    if not place.is_dir() or (folder / _COMPOSE).exists() or not any(place.iterdir()):
        return None
    check_workdir(folder, "environment", issues)
    return place


def _folder(path: Path) -> Path | None:
    return path if path.is_dir() and not path.is_symlink() else None


def _old_task(folder: Path, issues: list[FileIssue]) -> Task:
    """Read a folder of Terminal-Bench 1."""
    old = TerminalBenchSettings()
    with collect_issues(issues):
        old = read_terminal_bench_settings(folder, issues)
        _check_instruction(old.instruction, where=location(folder, OLD_SETTINGS))
    require(folder, SCRIPT, issues)
    context = (folder / old.context).resolve()
    if not context.is_relative_to(folder):
        where = location(folder, "docker-compose.yaml")
        issues.append(FileIssue(where, "builds from outside the task", "build from inside"))
    else:
        require(folder, str((context / "Dockerfile").relative_to(folder)), issues)
    if issues:
        raise InvalidPackage(*issues)
    return Task(
        name=folder.name,
        folder=folder,
        flavour="terminal-bench-1",
        instruction=old.instruction,
        files=Files(
            context=context,
            tests=folder / "tests",
            script=folder / SCRIPT,
            solution=_optional(folder / "solution.sh"),
            cheat=_optional(folder / "tests" / CHEAT),
            services=old.compose.services,
            main=old.compose.main,
        ),
        settings=old.settings,
        reward_source="exit_code",
        sha256=sha256_of(folder),
    )


def _with_environment(
    settings: TaskSettings, variables: Mapping[str, str], templates: frozenset[str]
) -> TaskSettings:
    """Return settings with further variables, which do not replace the task's own."""
    return replace(
        settings,
        agent_env={**variables, **settings.agent_env},
        verifier_env={**variables, **settings.verifier_env},
        templates=settings.templates | templates,
    )


def _check_instruction(text: str, *, where: str) -> None:
    if not text.strip():
        raise InvalidPackage(FileIssue(where, "asks for nothing", "say what the agent must do"))
    if len(text.encode()) > MAX_INSTRUCTION:
        remedy = "shorten it, or put the long part into a file of the environment"
        raise InvalidPackage(FileIssue(where, f"has more than {MAX_INSTRUCTION:,} bytes", remedy))


def _optional(path: Path) -> Path | None:
    return path if path.is_file() and not path.is_symlink() else None
